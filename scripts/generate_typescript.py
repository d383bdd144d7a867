"""Generates clients/typescript/src/generated.ts from the OpenRPC document. Run by `make types`."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tickover.client.http_pool import MAX_RESPONSE_BYTES
from tickover.server.operations import OPERATIONS
from tickover.server.rpc.openrpc import describe
from tickover.testing import SETTINGS

TARGET: Final = Path(__file__).parent.parent / "clients" / "typescript" / "src" / "generated.ts"
_HEADER: Final = """\
// Generated from the OpenRPC document by `make types`. Don't edit this file.

/** An instant in RFC 3339, such as 2027-01-31T09:00:00Z. The client sends a Date as such a string. */
export type InstantInput = string | Date;

/** Options of one call. */
export interface CallOptions {
  /** For operations that take one. Without it, the client creates a new key for each call. */
  idempotencyKey?: string;
  /** Cancels the call. */
  signal?: AbortSignal;
}
"""
_CLASS: Final = """\
/** A method for each operation. */
export abstract class OperationMethods {
  /** Calls an operation by its name. */
  abstract call<M extends Method>(
    method: M,
    params: Operations[M]["params"],
    options?: CallOptions,
  ): Promise<Operations[M]["result"]>;
"""
_SCALARS: Final = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}

Schema = Mapping[str, Any]


def generate() -> str:
    """Return the TypeScript code."""
    document = json.loads(describe("http://127.0.0.1:8000"))
    return "\n".join([_HEADER, *_sections(document)])


def _sections(document: Schema) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    inputs = set(_reachable([method["x-params"] for method in document["methods"]], schemas))
    for name, schema in schemas.items():
        yield _interface(name, schema, is_input=name in inputs)
    yield from _reasons(document["x-reasons"])
    yield from _operations(document["methods"])
    yield _CLASS + "".join(_method(method, schemas) for method in document["methods"]) + "}\n"
    yield "/** More than a server ever sends. */"
    yield f"export const MAX_RESPONSE_BYTES = {MAX_RESPONSE_BYTES};\n"
    yield "/** Settings of a private server for tests: nothing is limited, and emails are stored instead of sent. */"
    yield f"export const TEST_SETTINGS: Readonly<Record<string, string>> = {json.dumps(SETTINGS, indent=2)};\n"


def _reachable(value: Any, schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Yield the names of all schemas that a value refers to, directly or not."""
    if isinstance(value, list):
        for member in value:
            yield from _reachable(member, schemas)
    elif isinstance(value, dict):
        if "$ref" in value:
            yield _name_of(value)
            yield from _reachable(schemas[_name_of(value)], schemas)
        yield from _reachable(list(value.values()), schemas)


def _interface(name: str, schema: Schema, *, is_input: bool) -> str:
    members = "".join(_members(schema, is_input=is_input))
    # An empty interface would accept any value.
    body = f"export interface {name} {{\n{members}}}" if members else f"export type {name} = Record<string, never>;"
    return f"{_comment(schema)}{body}\n"


def _members(schema: Schema, indent: str = "  ", *, is_input: bool) -> Iterator[str]:
    for name, member in schema["properties"].items():
        mark = "" if name in schema.get("required", ()) else "?"
        yield f"{_comment(member, indent)}{indent}{name}{mark}: {_type(member, is_input=is_input)};\n"


def _type(schema: Schema, *, is_input: bool) -> str:
    match schema:
        case {"$ref": _}:
            kind = _name_of(schema)
        case {"enum": values}:
            kind = " | ".join(map(json.dumps, values))
        case {"anyOf": choices}:
            kind = " | ".join(_type(choice, is_input=is_input) for choice in choices)
        case {"type": "array", "items": item}:
            kind = f"Array<{_type(item, is_input=is_input)}>"
        case {"type": "object", "additionalProperties": value}:
            kind = f"Record<string, {_type(value, is_input=is_input)}>"
        case {"format": "date-time"} if is_input:
            kind = "InstantInput"
        case _:
            kind = _SCALARS[schema["type"]]
    return kind


def _reasons(reasons: Mapping[str, Schema]) -> Iterator[str]:
    yield "/** The details of an error, by reason. */\nexport interface ReasonDetails {"
    for name, about in reasons.items():
        data = about["data"]
        others = {**data, "properties": {key: member for key, member in data["properties"].items() if key != "reason"}}
        members = "".join(_members(others, "    ", is_input=False))
        body = f"{{\n{members}  }}" if members else "Record<string, never>"
        yield f"{_comment(about, '  ')}  {name}: {body};"
    yield "}\n\n/** Why the server rejected a call. */\nexport type Reason = keyof ReasonDetails;\n"


def _operations(methods: list[Schema]) -> Iterator[str]:
    yield "/** The parameters and the result of each operation. */\nexport interface Operations {"
    for method in methods:
        params, result = _name_of(method["x-params"]), _name_of(method["result"]["schema"])
        yield f"  {method['name']}: {{ params: {params}; result: {result} }};"
    yield "}\n\nexport type Method = keyof Operations;\n"
    yield "/** How the client calls each operation. */"
    yield "export const CALL_RULES: Readonly<"
    yield "  Record<Method, { needsToken: boolean; isIdempotent: boolean; takesIdempotencyKey: boolean }>"
    yield "> = {"
    for method in methods:
        rules = {
            "needsToken": method["x-needs-token"],
            "isIdempotent": method["x-idempotent"],
            "takesIdempotencyKey": method["x-takes-idempotency-key"],
        }
        members = ", ".join(f"{name}: {json.dumps(value)}" for name, value in rules.items())
        yield f"  {method['name']}: {{ {members} }},"
    yield "};\n"


def _method(method: Schema, schemas: Mapping[str, Schema]) -> str:
    name, params = method["name"], _name_of(method["x-params"])
    default = "" if schemas[params].get("required") else " = {}"
    result = _name_of(method["result"]["schema"])
    text = {"description": f"{method['summary']}. {OPERATIONS[name].description}"}
    return (
        f"\n{_comment(text, '  ')}  {name}(params: {params}{default}, options?: CallOptions): Promise<{result}> {{\n"
        f'    return this.call("{name}", params, options);\n  }}\n'
    )


def _name_of(reference: Schema) -> str:
    name: str = reference["$ref"].rpartition("/")[2]
    return name


def _comment(schema: Schema, indent: str = "") -> str:
    text = schema.get("description", "").replace("*/", "*\\/")
    return f"{indent}/** {text} */\n" if text else ""


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(generate(), "utf-8")
    print(f"Wrote {TARGET}.")
