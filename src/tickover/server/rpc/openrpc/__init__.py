"""The OpenRPC document, generated from the types of parameters and results and the table of operations.

OpenRPC requires that the errors of a method have different codes, so reasons with the same code share an error. Members
that OpenRPC doesn't define start with `x-`. OpenRPC implies `rpc.discover`, and its generators fail if it is listed.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from msgspec import json

from tickover import __version__
from tickover.api.errors import Fault, Reason
from tickover.api.limits import MAX_BATCH, MAX_IDEMPOTENCY_KEY
from tickover.server.operations import OPERATIONS
from tickover.server.operations.operation import Operation
from tickover.server.rpc.openrpc.schemas import Schema, reference, schemas_of
from tickover.server.rpc.reasons import REASONS
from tickover.server.sign_in.tokens import Permission

DESCRIBED_OPERATIONS: Final = {name: operation for name, operation in OPERATIONS.items() if name != "rpc.discover"}

# The first pattern in the name of an operation decides.
_METHOD_GROUPS: Final = {"Clocks": "TestClock|[Ss]cenario", "Sign-in": "[Ll]og(in|out)", "Account": ""}

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
_ABOUT: Final = (
    "Test clocks with simulated money, and sign-in by email. The protocol is JSON-RPC 2.0 over `POST /rpc` with "
    f"`Content-Type: application/json`. An array of up to {MAX_BATCH} calls is a batch. A call without `id` is "
    "a notification and has no response.\n\n"
    "Send parameters by name. Unknown names and null are invalid: omit parameters that you don't need. Strings must "
    "not contain U+0000 or lone surrogates; their lengths count Unicode code points. Timestamps are RFC 3339 with an "
    "offset. Responses use UTC. IDs, tokens and cursors are opaque.\n\n"
    "An error has a `code`, a `message` for people, and `data`. Programs should match on `data.reason`. In the OpenRPC "
    "document, `data` of an error is a JSON Schema. Later versions may add members to responses."
)

_BEARER: Final = "Requires a token: send the header `Authorization: Bearer <token>`."
_PUBLIC: Final = "Requires no token."
_TAKES_KEY: Final = (
    f"You can retry the call safely with an `Idempotency-Key` header of 1 to {MAX_IDEMPOTENCY_KEY} characters. "
    "The same key with the same operation and parameters returns the same clock, as it is now, as long as the clock "
    "lives. The same key with another operation or other parameters is invalid. Batches can't have the header."
)
_TAGS: Final = {
    "extension": "An addition to the four core operations.",
    "token": _BEARER,
}


@lru_cache(maxsize=1)
def describe(public_url: str) -> bytes:
    """Return the document as JSON for a server with this public URL."""
    return json.encode(_document(public_url))


def _document(public_url: str) -> dict[str, Any]:
    recorded = _recorded(public_url)
    operations = DESCRIBED_OPERATIONS.values()
    results = [operation.result for operation in operations if operation.result]
    schemas = schemas_of([*(operation.params for operation in operations), *results, Fault])
    for operation in operations:
        params = schemas[operation.params.__name__]
        params["description"] = params["description"] or f"The parameters of {operation.name}."
    groups = {group for operation in operations for group in _groups(_reasons_of(operation))}
    return {
        "openrpc": "1.2.6",
        "info": {"title": "Tickover", "version": __version__, "description": _ABOUT},
        "servers": [{"name": "this server", "url": f"{public_url}/rpc"}],
        "methods": [
            _method(operation, schemas, recorded["results"].get(operation.name, {}), public_url)
            for operation in operations
        ],
        "components": {
            "schemas": schemas,
            "errors": {_error_name(group): _error(group) for group in sorted(groups)},
            "tags": {name: {"name": name, "description": text} for name, text in _TAGS.items()},
        },
        "x-reasons": {reason: _reason(reason, recorded["errors"]) for reason in Reason},
    }


def _recorded(public_url: str) -> Any:
    """Return the results of the examples, and an example of each error, with this server's public URL."""
    encoded = (files("tickover.server.rpc.openrpc") / "recorded.json").read_bytes()
    return json.decode(encoded.replace(_PUBLIC_URL_OF_EXAMPLES.encode(), json.encode(public_url)[1:-1]))


def _method(
    operation: Operation, schemas: dict[str, Schema], results: dict[str, Any], public_url: str
) -> dict[str, Any]:
    assert operation.result, "only rpc.discover has no type"
    name, params, result = operation.name, operation.params.__name__, operation.result.__name__
    reasons = _reasons_of(operation)
    needs_token = operation.needs is not None
    about = [operation.description, _BEARER if needs_token else _PUBLIC]
    return {
        "name": name,
        "summary": operation.summary,
        "description": " ".join([*about, _TAKES_KEY] if operation.takes_idempotency_key else about),
        "tags": [
            {"$ref": f"#/components/tags/{tag}"}
            for tag, applies in (("extension", not operation.is_core), ("token", needs_token))
            if applies
        ],
        "paramStructure": "by-name",
        "params": [
            _parameter(field, schema, schemas, is_required=field in schemas[params].get("required", ()))
            for field, schema in schemas[params]["properties"].items()
        ],
        "result": {"name": result, "description": schemas[result]["description"], "schema": reference(result)},
        "errors": [{"$ref": f"#/components/errors/{_error_name(group)}"} for group in _groups(reasons)],
        # A test records the results, and notices if one is missing.
        "examples": [
            _example(title, given, results[title]) for title, given in operation.examples.items() if title in results
        ],
        "externalDocs": {"description": "Reference page", "url": f"{public_url}/docs#{name}"},
        "x-params": reference(params),
        "x-group": next(group for group, pattern in _METHOD_GROUPS.items() if re.search(pattern, name)),
        "x-extension": not operation.is_core,
        "x-needs-token": needs_token,
        "x-idempotent": operation.is_idempotent,
        "x-takes-idempotency-key": operation.takes_idempotency_key,
        "x-reasons": reasons,
    }


def _parameter(name: str, schema: Schema, schemas: dict[str, Schema], *, is_required: bool) -> dict[str, Any]:
    # A reference has no description of its own.
    described = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return {"name": name, "description": described["description"], "required": is_required, "schema": schema}


def _reasons_of(operation: Operation) -> list[Reason]:
    reasons = {*_EVERY_CALL, *operation.all_reasons}
    if operation.needs is not None:
        reasons.add(Reason.UNAUTHENTICATED)
        # Every token has the permission to read.
        reasons |= {Reason.FORBIDDEN} if operation.needs > Permission.READ else set()
    return [reason for reason in Reason if reason in reasons]


def _groups(reasons: Iterable[Reason]) -> list[tuple[Reason, ...]]:
    """Group reasons by code."""
    groups: dict[int, tuple[Reason, ...]] = {}
    for reason in reasons:
        code = REASONS[reason].code
        groups[code] = (*groups.get(code, ()), reason)
    return list(groups.values())


def _error_name(group: tuple[Reason, ...]) -> str:
    return "_OR_".join(group)


def _error(group: tuple[Reason, ...]) -> dict[str, Any]:
    message = " ".join(REASONS[reason].description for reason in group)
    return {"code": REASONS[group[0]].code, "message": message, "data": _data(group)}


def _data(group: tuple[Reason, ...]) -> Schema:
    """Return the schema of `data`. Reasons with the same code must have the same other members."""
    others = REASONS[group[0]].data
    assert all(REASONS[reason].data == others for reason in group), f"{group} have different data"
    about = "The name that programs should match on."
    members = {"reason": {"description": about, "type": "string", "enum": list(group)}, **others}
    return {"type": "object", "properties": members, "required": list(members)}


def _reason(reason: Reason, examples: dict[str, Any]) -> dict[str, Any]:
    meaning = REASONS[reason]
    return {
        "code": meaning.code,
        "httpStatus": meaning.http_status,
        "description": meaning.description,
        "data": _data((reason,)),
        **({"example": examples[reason]} if reason in examples else {}),
    }


def _example(title: str, given: Mapping[str, Any], result: Any) -> dict[str, Any]:
    params = [{"name": name, "value": value} for name, value in given.items()]
    return {"name": title, "params": params, "result": {"name": "result", "value": result}}
