"""The OpenRPC document, generated from the types of parameters and results and the table of operations.

OpenRPC requires that the errors of a method have different codes, so reasons with the same code share an error. Members
that OpenRPC doesn't define start with `x-`. OpenRPC implies `rpc.discover`, and its generators fail if it is listed.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from msgspec import json

from tickover import __version__
from tickover.api.errors import Fault, Reason
from tickover.api.limits import MAX_CANCELLED, MAX_FAULTS
from tickover.server.domain.tokens import Permission
from tickover.server.jsonrpc.envelope import CODES
from tickover.server.openrpc.prose import ABOUT, BEARER, METHODS, PUBLIC, REASONS, TAGS, TAKES_KEY
from tickover.server.openrpc.schemas import Schema, name_of, reference, schemas_of
from tickover.server.operations import OPERATIONS, Operation

DESCRIBED_OPERATIONS: Final = {name: operation for name, operation in OPERATIONS.items() if name != "rpc.discover"}

# The first pattern in the name of an operation decides.
_METHOD_GROUPS: Final = {"Clocks": "TestClock|Scenario", "Sign-in": "[Ll]og(in|out)", "Account": ""}

_PUBLIC_URL_OF_EXAMPLES: Final = "https://tickover.example.test"

_EVERY_CALL: Final = frozenset(
    {
        Reason.PARSE_ERROR,
        Reason.INVALID_REQUEST,
        Reason.METHOD_NOT_ALLOWED,
        Reason.UNSUPPORTED_MEDIA_TYPE,
        Reason.BODY_TOO_LARGE,
        Reason.INVALID_PARAMS,
        Reason.UNAVAILABLE,
        Reason.INTERNAL,
    }
)
_INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
_SECONDS: Final[Schema] = {
    "retryAfterSeconds": {"description": "Retry the call after this many seconds.", "type": "integer", "minimum": 1}
}
_DATA: Final[dict[Reason, Schema]] = {
    # The members of `data` other than the reason.
    Reason.INVALID_PARAMS: {
        "errors": {
            "description": "All invalid fields. Their order may change.",
            "type": "array",
            "items": reference("Fault"),
            "maxItems": MAX_FAULTS,
        }
    },
    Reason.TIME_BEFORE_CURRENT: {
        "currentFrozenTime": {"description": "The clock's current simulated time.", **_INSTANT},
    },
    Reason.TIME_AFTER_MAX: {"maxTime": {"description": "The latest simulated time of the clock.", **_INSTANT}},
    Reason.ITEM_NOT_PENDING: {
        "itemIds": {
            "description": "The IDs of the items that have already happened.",
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MAX_CANCELLED,
        }
    },
    Reason.RESEND_TOO_SOON: _SECONDS,
    Reason.RATE_LIMITED: _SECONDS,
    Reason.UNAVAILABLE: _SECONDS,
    Reason.INTERNAL: {
        "requestId": {
            "description": "Report this ID with the bug. It is also in the header `X-Request-Id`.",
            "type": "string",
        }
    },
}


@lru_cache(maxsize=1)
def describe(public_url: str) -> bytes:
    """Return the document as JSON for a server with this public URL."""
    return json.encode(_document(public_url))


def _document(public_url: str) -> dict[str, Any]:
    examples = _examples(public_url)
    head = {
        "openrpc": "1.2.6",
        "info": {"title": "Tickover", "version": __version__, "description": ABOUT},
        "servers": [{"name": "this server", "url": f"{public_url}/rpc"}],
    }
    operations = DESCRIBED_OPERATIONS.values()
    params = [operation.params for operation in operations]
    results = [operation.result for operation in operations if operation.result]
    schemas = schemas_of([*params, *results, Fault])
    groups = {group for operation in operations for group in _groups(_all_reasons(operation))}
    return {
        **head,
        "methods": [
            _method(name, operation, schemas, examples["results"], public_url)
            for name, operation in DESCRIBED_OPERATIONS.items()
        ],
        "components": {
            "schemas": schemas,
            "errors": {_error_name(group): _error(group) for group in sorted(groups)},
            "tags": {name: {"name": name, "description": text} for name, text in TAGS.items()},
        },
        "x-reasons": {reason: _reason(reason, examples["errors"]) for reason in Reason},
    }


def _examples(public_url: str) -> Any:
    """Return the examples with this server's public URL."""
    encoded = (files("tickover.server.openrpc") / "examples.json").read_bytes()
    return json.decode(encoded.replace(_PUBLIC_URL_OF_EXAMPLES.encode(), json.encode(public_url)[1:-1]))


def _method(
    name: str, operation: Operation, schemas: dict[str, Schema], examples: Iterable[Any], public_url: str
) -> dict[str, Any]:
    params = schemas[name_of(operation.params)]
    reasons = _all_reasons(operation)
    return {
        "name": name,
        "summary": operation.summary,
        "description": " ".join(_description(name, operation)),
        "tags": [{"$ref": f"#/components/tags/{tag}"} for tag in _tags(operation)],
        "paramStructure": "by-name",
        "params": [
            _parameter(field, schema, schemas, is_required=field in params.get("required", ()))
            for field, schema in params["properties"].items()
        ],
        "result": _result(operation, schemas),
        "errors": [{"$ref": f"#/components/errors/{_error_name(group)}"} for group in _groups(reasons)],
        "examples": [_example(example) for example in examples if example["method"] == name],
        "externalDocs": {"description": "Reference page", "url": f"{public_url}/docs#{name}"},
        "x-params": reference(name_of(operation.params)),
        "x-group": next(group for group, pattern in _METHOD_GROUPS.items() if re.search(pattern, name)),
        "x-extension": operation.is_extension,
        "x-needs-token": operation.needs_token,
        "x-idempotent": operation.is_idempotent,
        "x-takes-idempotency-key": operation.takes_idempotency_key,
        "x-reasons": reasons,
    }


def _description(name: str, operation: Operation) -> Iterator[str]:
    yield METHODS[name]
    yield BEARER if operation.needs_token else PUBLIC
    if operation.takes_idempotency_key:
        yield TAKES_KEY


def _tags(operation: Operation) -> Iterator[str]:
    if operation.is_extension:
        yield "extension"
    if operation.needs_token:
        yield "token"


def _parameter(name: str, schema: Schema, schemas: dict[str, Schema], *, is_required: bool) -> dict[str, Any]:
    # A reference has no description of its own.
    described = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return {"name": name, "description": described["description"], "required": is_required, "schema": schema}


def _result(operation: Operation, schemas: dict[str, Schema]) -> dict[str, Any]:
    assert operation.result, "only rpc.discover has no type"
    name = name_of(operation.result)
    return {"name": name, "description": schemas[name]["description"], "schema": reference(name)}


def _all_reasons(operation: Operation) -> list[Reason]:
    token = {Reason.UNAUTHENTICATED} if operation.needs_token else set()
    # Every token has the permission to read.
    permission = {Reason.FORBIDDEN} if operation.needs_token and operation.permission > Permission.READ else set()
    return [reason for reason in Reason if reason in {*_EVERY_CALL, *token, *permission, *operation.reasons}]


def _groups(reasons: Iterable[Reason]) -> list[tuple[Reason, ...]]:
    """Group reasons by code."""
    groups: dict[int, tuple[Reason, ...]] = {}
    for reason in reasons:
        code, _ = CODES[reason]
        groups[code] = (*groups.get(code, ()), reason)
    return list(groups.values())


def _error_name(group: tuple[Reason, ...]) -> str:
    return "_OR_".join(group)


def _error(group: tuple[Reason, ...]) -> dict[str, Any]:
    code, _ = CODES[group[0]]
    return {"code": code, "message": " ".join(REASONS[reason] for reason in group), "data": _data(group)}


def _data(group: tuple[Reason, ...]) -> Schema:
    """Return the schema of `data`. Reasons with the same code must have the same other members."""
    others = _DATA.get(group[0], {})
    assert all(_DATA.get(reason, {}) == others for reason in group), f"{group} have different data"
    about = "The name that programs should match on."
    members = {"reason": {"description": about, "type": "string", "enum": list(group)}, **others}
    return {"type": "object", "properties": members, "required": list(members)}


def _reason(reason: Reason, examples: dict[str, Any]) -> dict[str, Any]:
    code, status = CODES[reason]
    about = {"code": code, "httpStatus": status, "description": REASONS[reason], "data": _data((reason,))}
    return {**about, "example": examples[reason]} if reason in examples else about


def _example(example: dict[str, Any]) -> dict[str, Any]:
    params = [{"name": name, "value": value} for name, value in example["params"].items()]
    return {"name": example["name"], "params": params, "result": {"name": "result", "value": example["result"]}}
