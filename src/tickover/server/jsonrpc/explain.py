"""Why parameters were refused: every fault at once, found by walking the types that refused them.

The types stay the only statement of the rules: they read a good request fast and stop at the first fault; this reads a
bad one again, slowly, and names all of them.
"""

import json
import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any

from msgspec import NODEFAULT, UNSET, UnsetType, inspect

from tickover.api.errors import Fault, truncate
from tickover.api.limits import MAX_FAULTS
from tickover.api.timestamps import Instant
from tickover.server.domain.params import Params, read_text

_LONGEST_NAME_HINTED = 40
_HINTS = 100
_UNKNOWN_NAMES = 100


def explain(kind: type[Params], written: bytes) -> tuple[list[Fault], Any]:
    """The faults of parameters in JSON, and the parameters as far as they could be read, None where not."""
    value = json.loads(written, parse_int=_read_int)
    walk = _Walk()
    return walk.faults, walk.visit(_type_info(kind), value, "")


_type_info = cache(inspect.type_info)


def _read_int(digits: str) -> int | float:
    """Whole numbers beyond 64 bits as floats: no field takes them, and reading millions of digits takes minutes."""
    return int(digits) if len(digits) <= 18 else float(digits)


class _Walk:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._hints_left = _HINTS

    def visit(self, info: inspect.Type, value: Any, path: str) -> Any:
        """Note what is wrong with the value; give it back as read, or None."""
        expected, pattern, secret = "", "", False
        if isinstance(info, inspect.Metadata):
            schema = info.extra_json_schema or {}
            expected, pattern = schema.get("description", ""), schema.get("pattern", "")
            secret = (info.extra or {}).get("secret", False)
            info = info.type
        match info:
            case inspect.StructType():
                return self._visit_struct(info, value, path)
            case inspect.ListType():
                return self._visit_list(info, value, path)
            case inspect.DateTimeType():
                return self._visit_text_of_ours(Instant, value, path)
            case inspect.CustomType():
                return self._visit_text_of_ours(info.cls, value, path)
        wrong = _wrong_with(info, value, expected, pattern)
        if wrong is None:
            return value
        rule, message = wrong
        self._note(path, rule, message, UNSET if secret else _shown(value))
        return None

    def _visit_struct(self, info: inspect.StructType, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            named = "; parameters go by name, not by position" if path == "" and isinstance(value, list) else ""
            self._note(path or "params", "type", f"must be an object{named}", _shown(value))
            return None
        prefix = f"{path}." if path else ""
        fields = {field.encode_name: field for field in info.fields}
        # Unlike all else that can be wrong, unknown names have no bound of their own.
        for name in islice((name for name in value if name not in fields), _UNKNOWN_NAMES):
            self._note(prefix + truncate(name), "unknown", f"is not a known parameter{self._hint(name, fields)}")
        read = {field.name: self._visit_field(field, value, prefix) for field in info.fields}
        return info.cls(**read)

    def _visit_field(self, field: inspect.Field, value: Mapping[str, Any], prefix: str) -> Any:
        path = prefix + field.encode_name
        if field.encode_name not in value:
            if field.required:
                self._note(path, "required", "is required")
                return None
            if field.default_factory is not NODEFAULT:
                return field.default_factory()
            # An UNSET default is not told by msgspec as a default.
            return UNSET if field.default is NODEFAULT else field.default
        if value[field.encode_name] is None and not field.required:
            self._note(path, "null", "must not be null; leave it out", None)
            return None
        return self.visit(field.type, value[field.encode_name], path)

    def _visit_list(self, info: inspect.ListType, value: Any, path: str) -> Any:
        if not isinstance(value, list):
            self._note(path, "type", "must be an array", _shown(value))
            return None
        if info.max_length is not None and len(value) > info.max_length:
            self._note(path, "count", f"must have at most {info.max_length} entries", len(value))
        return [
            self.visit(info.item_type, item, f"{path}[{index}]") for index, item in enumerate(value[: info.max_length])
        ]

    def _visit_text_of_ours(self, kind: type, value: Any, path: str) -> Any:
        try:
            return read_text(kind, value)
        except ValueError as error:
            rule = "format" if isinstance(value, str) else "type"
            self._note(path, rule, str(error), _shown(value))
            return None

    def _hint(self, name: str, known: Mapping[str, Any]) -> str:
        if len(name) > _LONGEST_NAME_HINTED or self._hints_left == 0:
            return ""
        self._hints_left -= 1
        nearest = get_close_matches(name, known, n=1)
        if nearest:
            return f"; did you mean {nearest[0]}?"
        return f"; known are {', '.join(known)}" if known else "; there are none"

    def _note(
        self, path: str, rule: str, message: str, got: str | int | float | bool | None | UnsetType = UNSET
    ) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(path, rule, message, got))


def _wrong_with(info: inspect.Type, value: Any, expected: str, pattern: str) -> tuple[str, str] | None:
    """The rule that a plain value breaks, and a message; None when it breaks none."""
    match info:
        case inspect.StrType():
            return _wrong_with_text(info, value, expected, pattern or info.pattern or "")
        case inspect.LiteralType():
            one_of = " or ".join(str(allowed) for allowed in info.values)
            return None if value in info.values and isinstance(value, str) else ("oneOf", f"must be {one_of}")
        case inspect.IntType():
            return _wrong_with_number(info, value) if _is_whole(value) else ("type", "must be a whole number")
    assert isinstance(info, inspect.UnionType), f"no rule is written for {info}"
    # A number: its two halves, whole and broken, carry the same bounds.
    return _wrong_with_number(next(half for half in info.types if isinstance(half, inspect.FloatType)), value)


def _is_whole(value: Any) -> bool:
    """As in JSON itself, where 20 and 20.0 are one number; one beyond all doubles, read as infinity, is whole too."""
    if isinstance(value, float):
        return math.isinf(value) or value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong_with_text(info: inspect.StrType, value: Any, expected: str, pattern: str) -> tuple[str, str] | None:
    of_one_length = info.min_length is not None and info.min_length == info.max_length
    if not isinstance(value, str):
        return "type", f"must be a string{f' of {expected}' if of_one_length else ''}"
    if "\0" in value or not re.search(pattern, value) or (of_one_length and len(value) != info.min_length):
        return "format", f"must be {expected}"
    if info.min_length is not None and len(value) < info.min_length:
        return "minLength", f"must have at least {_characters(info.min_length)}"
    if info.max_length is not None and len(value) > info.max_length:
        return "maxLength", f"must have at most {_characters(info.max_length)}"
    return None


def _wrong_with_number(info: inspect.IntType | inspect.FloatType, value: Any) -> tuple[str, str] | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "type", "must be a number"
    if info.gt is not None and not value > info.gt:
        return "positive", f"must be greater than {info.gt:g}"
    if info.ge is not None and not value >= info.ge:
        return "min", f"must be at least {info.ge:g}"
    if info.le is not None and not value <= info.le:
        return "max", f"must be at most {info.le:.0f}"
    return None


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count} characters"


def _shown(value: Any) -> str | int | float | bool | None | UnsetType:
    """The value as an error may show it: short, and nothing for what has no short form."""
    if isinstance(value, str):
        return truncate(value)
    if isinstance(value, dict | list) or (isinstance(value, float) and not math.isfinite(value)):
        return UNSET
    return value  # type: ignore[no-any-return]
