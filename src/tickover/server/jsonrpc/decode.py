"""Parameters from JSON: read fast if they are as nearly all are, and otherwise slowly, with every fault explained.

The types state the rules, and the decoder holds parameters against nearly all of them in one pass. What it cannot
check, or not fast, is looked for in all texts at once; where that leaves a doubt, `explain` decides.
"""

import re
from functools import cache
from typing import Final, TypeVar

from msgspec import DecodeError, json

from tickover.api.errors import Fault
from tickover.api.timestamps import USUAL_AFTER_YEAR, Instant
from tickover.server.domain.email_addresses import EmailAddress, parse_plain
from tickover.server.domain.params import Params
from tickover.server.jsonrpc.explain import explain

_Params = TypeVar("_Params", bound=Params)


def read(kind: type[_Params], written: bytes, now: Instant) -> tuple[list[Fault], _Params | None]:
    """The faults of parameters, and the parameters; where there are faults, None in the place of what has one."""
    read_fast = try_fast_decode(kind, written, now)
    if read_fast is not None:
        return [], read_fast
    faults, params = explain(kind, written)
    if params is not None:
        faults.extend(params.faults(now))
    return faults, params


def try_fast_decode(kind: type[_Params], written: bytes, now: Instant) -> _Params | None:
    """The parameters, unless anything about them is unusual; they may be right then all the same."""
    if _needs_full_check(written):
        return None
    try:
        params = _decoder(kind).decode(written)
    except DecodeError:
        return None
    return params if params.passes_fast_checks(now) else None


@cache
def _decoder(kind: type[_Params]) -> json.Decoder[_Params]:
    return json.Decoder(kind, dec_hook=_read_plain)


def _read_plain(kind: type, value: object) -> EmailAddress:
    """Read the one type of ours that the decoder does not know, in its plain form alone.

    Any other address takes the library a thousand times as long, and is left to `explain`, which reads it once.
    """
    assert kind is EmailAddress, kind
    return parse_plain(value)


# A text that begins like a moment, and does not go on as nearly all do. It is found by the dash, which is rarer than
# quotes and digits are.
_UNUSUAL_MOMENT: Final = re.compile(rf'-(?<="[0-9]{{4}}-)(?!{USUAL_AFTER_YEAR}")'.encode())
# The same where one of its first digits, or the dash, is escaped.
_ESCAPED_MOMENT: Final = re.compile(rb'"(?:\\u003|[0-9]{1,4}\\u00[23])')


def _needs_full_check(written: bytes) -> bool:
    """Whether the decoder may take in JSON what we would not, or read it otherwise.

    It takes U+0000 in any text, and reads moments more loosely than RFC 3339 in some ways and less so in others.
    """
    if b"\\" in written and (b"u0000" in written or _ESCAPED_MOMENT.search(written)):
        return True
    return _UNUSUAL_MOMENT.search(written) is not None
