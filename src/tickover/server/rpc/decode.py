"""Decodes parameters: a fast path for valid ones, and `explain` for the rest.

The types are the only statement of the rules. The decoder checks most of them in one pass, but stops at the first
fault. `needs_full_check` and `passes_fast_checks` check the others. If the fast path fails, `explain` walks the types,
decides whether the parameters are valid, and returns every fault.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, DecodeError, inspect

from tickover.api import timestamps
from tickover.api.errors import Fault, invalid_params, truncate
from tickover.api.fields import Params
from tickover.api.limits import MAX_FAULTS
from tickover.api.suggestions import MAX_LENGTH, suggest
from tickover.api.timestamps import USUAL_AFTER_YEAR, Instant
from tickover.server.sign_in.email_addresses import EmailAddress

_MAX_HINTS = 20
_MAX_UNKNOWN_NAMES = 100
_Params = TypeVar("_Params", bound=Params)


def decode_params(
    kind: type[_Params], encoded: bytes, now: Instant, more_faults: Callable[[_Params], Sequence[Fault]] | None = None
) -> _Params:
    """Decode parameters. Raise a Rejection with all faults and those of `more_faults`, if there are any."""
    faults, params = decode(kind, encoded, now)
    if params is not None and more_faults is not None:
        faults = [*faults, *more_faults(params)]
    if params is None or faults:
        raise invalid_params(faults[:MAX_FAULTS])
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
def _decoder(kind: type[_Params]) -> msgspec.json.Decoder[_Params]:
    return msgspec.json.Decoder(kind, dec_hook=_decode_plain_address)


def _decode_plain_address(kind: type, value: object) -> EmailAddress:
    """Decode an email address in its plain form. Others take a thousand times as long, so `explain` decodes them."""
    assert kind is EmailAddress, kind
    return EmailAddress.parse_plain(value)


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


def explain(kind: type[Params], encoded: bytes) -> tuple[list[Fault], Any]:
    """Return the faults of parameters, and the parameters with None in place of invalid fields."""
    value = json.loads(encoded, parse_int=_parse_int)
    walk = _Walk()
    return walk.faults, walk.visit(_type_info(kind), value, "")


_type_info = cache(inspect.type_info)


def _parse_int(digits: str) -> int | float:
    """Parse long integers as floats. They are invalid in every field, and parsing millions of digits takes minutes."""
    return int(digits) if len(digits) <= 18 else float(digits)


class _Walk:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._hints_left = _MAX_HINTS

    def visit(self, info: inspect.Type, value: Any, path: str) -> Any:
        """Record the faults of a value. Return the decoded value, or None if it is invalid."""
        bare, extra = _unwrap(info)
        violated: tuple[str, str] | None = None
        match bare:
            case inspect.StructType() as struct:
                return self._visit_struct(struct, value, path)
            case inspect.ListType() as array:
                return self._visit_list(array, value, path)
            case inspect.DictType() as mapping:
                return self._visit_dict(mapping, value, path)
            case inspect.DateTimeType() | inspect.CustomType() as custom:
                try:
                    value = getattr(custom, "cls", timestamps).parse(value)
                except ValueError as error:
                    violated = "format" if isinstance(value, str) else "type", str(error)
            case _:
                violated = _violated_rule(info, value)
        if violated is None:
            # What is stored is read as an integer again, and 20.0 would not be one.
            return int(value) if isinstance(bare, inspect.IntType) else value
        self._add_fault(path, *violated, UNSET if extra.get("secret") else value)
        return None

    def _visit_struct(self, info: inspect.StructType, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            hint = "; send parameters by name, not by position" if path == "" and isinstance(value, list) else ""
            self._add_fault(path or "params", "type", f"must be an object{hint}", value)
            return None
        prefix = f"{path}." if path else ""
        fields = {field.encode_name: field for field in info.fields}
        # The number of unknown names has no other limit.
        for name in islice((name for name in value if name not in fields), _MAX_UNKNOWN_NAMES):
            self._add_fault(prefix + truncate(name), "unknown", f"is not a known parameter{self._hint(name, fields)}")
        decoded: dict[str, Any] = {}
        for field in info.fields:
            member_path = prefix + field.encode_name
            if field.encode_name in value:
                decoded[field.name] = self._visit_member(field, value[field.encode_name], member_path)
            elif field.required:
                decoded[field.name] = None
                self._add_fault(member_path, "required", "is required")
        return info.cls(**decoded)

    def _visit_member(self, field: inspect.Field, value: Any, path: str) -> Any:
        kind, _ = _unwrap(field.type)
        if isinstance(kind, inspect.UnionType) and kind.includes_none:
            [kind] = [choice for choice in kind.types if not isinstance(choice, inspect.NoneType)]
            return None if value is None else self.visit(kind, value, path)
        if value is None and not field.required and not _unwrap(field.type)[1].get("required"):
            self._add_fault(path, "null", "must not be null; omit it", None)
            return None
        return self.visit(field.type, value, path)

    def _visit_list(self, info: inspect.ListType, value: Any, path: str) -> Any:
        if not isinstance(value, list):
            self._add_fault(path, "type", "must be an array", value)
            return None
        if info.max_length is not None and len(value) > info.max_length:
            self._add_fault(path, "count", f"must have at most {info.max_length} entries", len(value))
        if info.min_length is not None and len(value) < info.min_length:
            self._add_fault(path, "count", f"must have at least {info.min_length} entry", len(value))
        return [
            self.visit(info.item_type, item, f"{path}[{index}]") for index, item in enumerate(value[: info.max_length])
        ]

    def _visit_dict(self, info: inspect.DictType, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            self._add_fault(path, "type", "must be an object", value)
            return None
        if info.max_length is not None and len(value) > info.max_length:
            self._add_fault(path, "count", f"must have at most {info.max_length} members", len(value))
        decoded = {}
        for name, member in islice(value.items(), info.max_length):
            member_path = f"{path}.{truncate(name)}"
            violated = _violated_rule(info.key_type, name)
            if violated is not None:
                self._add_fault(member_path, "name", f"has an invalid name; a name {violated[1]}")
            decoded[name] = self.visit(info.value_type, member, member_path)
        return decoded

    def _hint(self, name: str, fields: Mapping[str, Any]) -> str:
        if name == "idempotencyKey":
            return "; send it as the HTTP header Idempotency-Key"
        if len(name) > MAX_LENGTH or self._hints_left == 0:
            return ""
        self._hints_left -= 1
        return suggest(name, fields, fallback=f"available: {', '.join(fields)}" if fields else "there are none")

    def _add_fault(self, path: str, rule: str, message: str, got: Any = UNSET) -> None:
        if isinstance(got, str):
            got = truncate(got)
        elif isinstance(got, dict | list) or (isinstance(got, float) and not math.isfinite(got)):
            got = UNSET
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(path, rule, message, got))


def _unwrap(info: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """Return the type without its annotations, and their extra members."""
    extra: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        extra |= info.extra or {}
        info = info.type
    return info, extra


def _violated_rule(info: inspect.Type, value: Any) -> tuple[str, str] | None:
    """Return the rule that the value violates and a message, or None if the value is valid."""
    info, extra = _unwrap(info)
    match info:
        case inspect.StrType():
            return _violated_text_rule(info, value, extra.get("expected", ""))
        case inspect.LiteralType():
            one_of = " or ".join(str(allowed) for allowed in info.values)
            return None if value in info.values and isinstance(value, str) else ("oneOf", f"must be {one_of}")
        case inspect.BoolType():
            return None if isinstance(value, bool) else ("type", "must be true or false")
        case inspect.IntType():
            return _violated_number_rule(info, value) if _is_integer(value) else ("type", "must be a whole number")
    assert isinstance(info, inspect.UnionType), f"no rule for {info}"
    # The union of an integer and a float with the same bounds.
    return _violated_number_rule(next(choice for choice in info.types if isinstance(choice, inspect.FloatType)), value)


def _is_integer(value: Any) -> bool:
    """Return whether a JSON number is an integer. 20.0 is one. So is infinity, which stands for very long integers."""
    if isinstance(value, float):
        return math.isinf(value) or value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _violated_text_rule(info: inspect.StrType, value: Any, expected: str) -> tuple[str, str] | None:
    has_fixed_length = info.min_length is not None and info.min_length == info.max_length
    if not isinstance(value, str):
        return "type", f"must be a string{f' of {expected}' if has_fixed_length else ''}"
    if (
        "\0" in value
        or not re.search(info.pattern or "", value)
        or (has_fixed_length and len(value) != info.min_length)
    ):
        return "format", f"must be {expected}"
    if info.min_length is not None and len(value) < info.min_length:
        return "minLength", f"must have at least {info.min_length} character"
    if info.max_length is not None and len(value) > info.max_length:
        return "maxLength", f"must have at most {info.max_length} characters"
    return None


def _violated_number_rule(info: inspect.IntType | inspect.FloatType, value: Any) -> tuple[str, str] | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "type", "must be a number"
    if info.gt is not None and not value > info.gt:
        return "positive", f"must be greater than {info.gt:g}"
    if info.ge is not None and not value >= info.ge:
        return "min", f"must be at least {info.ge:g}"
    if info.le is not None and not value <= info.le:
        return "max", f"must be at most {info.le:.0f}"
    return None
