"""The OpenRPC document and its schemas as validators."""

import json
import re
from datetime import datetime
from functools import cache
from typing import Any, Final

from jsonschema import Draft7Validator, FormatChecker  # type: ignore[import-untyped]

from tickover.server.rpc.openrpc import describe

__all__ = ["PUBLIC_URL", "Draft7Validator", "document", "method", "resolve", "validation_errors", "validator"]

PUBLIC_URL: Final = "https://tickover.example.test"

_FORMATS: Final = FormatChecker([])
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)


def _is_timestamp(text: object) -> bool:
    return not isinstance(text, str) or bool(_RFC_3339.fullmatch(text) and datetime.fromisoformat(text[:10]))


def _is_address(text: object) -> bool:
    """An approximation."""
    return not isinstance(text, str) or bool(re.fullmatch(r"[^\s@,]+@[^\s@,.]+(\.[^\s@,.]+)*", text))


_FORMATS.checks("date-time", raises=ValueError)(_is_timestamp)
_FORMATS.checks("email")(_is_address)


@cache
def document() -> Any:
    return json.loads(describe(PUBLIC_URL))


def method(name: str) -> Any:
    (found,) = [method for method in document()["methods"] if method["name"] == name]
    return found


def resolve(part: Any) -> Any:
    """Return the target of a reference within the document, or the part itself."""
    if "$ref" not in part:
        return part
    assert part["$ref"].startswith("#/"), "references must be local"
    assert len(part) == 1, "members beside a reference are ignored"
    found = document()
    for name in part["$ref"][2:].split("/"):
        found = found[name]
    return found


def validator(schema: Any, *, closed: bool = False) -> Draft7Validator:
    """Return a validator for a schema of the document. If closed, it rejects unknown members."""
    whole = {"allOf": [schema], "components": document()["components"]}
    return Draft7Validator(_closed(whole) if closed else whole, format_checker=_FORMATS)


def validation_errors(schema: Any, value: Any, *, closed: bool = False) -> list[str]:
    """Return the errors of a value."""
    return [f"{fault.json_path}: {fault.message}" for fault in validator(schema, closed=closed).iter_errors(value)]


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(member) for member in part]
    if not isinstance(part, dict):
        return part
    more = {"additionalProperties": False} if part.get("type") == "object" and "properties" in part else {}
    return {**{name: _closed(member) for name, member in part.items()}, **more}
