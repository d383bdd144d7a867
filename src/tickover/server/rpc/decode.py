"""Decodes parameters: a fast path for valid ones, and `explain` for the rest.

The types state the rules, and the decoder checks most of them in one pass. `needs_full_check` and `passes_fast_checks`
check the others. If the fast path fails, `explain` decides whether the parameters are valid.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, TypeVar

from msgspec import DecodeError, json

from tickover.api.errors import Fault, invalid_params
from tickover.api.explain import explain
from tickover.api.fields import Params
from tickover.api.limits import MAX_FAULTS
from tickover.api.timestamps import USUAL_AFTER_YEAR, Instant
from tickover.server.sign_in.email_addresses import EmailAddress, parse_plain

_Params = TypeVar("_Params", bound=Params)


def decode_params(kind: type[_Params], encoded: bytes, now: Instant, more_faults: Sequence[Fault] = ()) -> _Params:
    """Decode parameters. Raise a Rejection with all faults and `more_faults`, if there are any."""
    faults, params = decode(kind, encoded, now)
    if params is None or faults or more_faults:
        raise invalid_params([*faults, *more_faults][:MAX_FAULTS])
    return params


def decode(kind: type[_Params], encoded: bytes, now: Instant) -> tuple[list[Fault], _Params | None]:
    """Return the faults, and the parameters. Parameters with faults have None in place of invalid fields."""
    fast = try_fast_decode(kind, encoded, now)
    if fast is not None:
        return [], fast
    faults, params = explain(kind, encoded)
    if params is not None:
        faults.extend(params.faults(now))
    return faults, params


def try_fast_decode(kind: type[_Params], encoded: bytes, now: Instant) -> _Params | None:
    """Return the parameters, or None if they are unusual. Unusual parameters can be valid."""
    if needs_full_check(encoded):
        return None
    try:
        params = _decoder(kind).decode(encoded)
    except DecodeError:
        return None
    return params if params.passes_fast_checks(now) else None


@cache
def _decoder(kind: type[_Params]) -> json.Decoder[_Params]:
    return json.Decoder(kind, dec_hook=_decode_plain_address)


def _decode_plain_address(kind: type, value: object) -> EmailAddress:
    """Decode an email address in its plain form. Others take a thousand times as long, so `explain` decodes them."""
    assert kind is EmailAddress, kind
    return parse_plain(value)


# A string that starts with a year and a dash, and doesn't continue like most timestamps. The pattern starts with the
# dash, because dashes are rarer in JSON than quotes and digits.
_UNUSUAL_TIMESTAMP: Final = re.compile(rf'-(?<="[0-9]{{4}}-)(?!{USUAL_AFTER_YEAR}")'.encode())
# U+0000, or a digit or a dash, which could be at the start of a timestamp. Encoders escape neither of these two.
_UNUSUAL_ESCAPE: Final = re.compile(rb"\\u00(?:00|2[dD]|3[0-9])")


def needs_full_check(encoded: bytes) -> bool:
    """Return whether the decoder might accept invalid JSON values, or decode valid ones differently.

    It accepts U+0000 in strings. Its timestamps are in some ways looser and in others stricter than RFC 3339.
    """
    if b"\\" in encoded and _UNUSUAL_ESCAPE.search(encoded):
        return True
    return _UNUSUAL_TIMESTAMP.search(encoded) is not None
