"""JSON Schemas (draft 7) of parameters and results, generated from their types.

They describe the JSON: amounts are numbers, although the client decodes them as decimals, and results omit members
instead of using null.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final

from msgspec import NODEFAULT, Struct, inspect

from tickover.api.limits import MAX_EMAIL
from tickover.api.timestamps import from_micros
from tickover.server.domain.clock_params import AmendTestClockParams
from tickover.server.domain.email_addresses import EmailAddress
from tickover.server.domain.ledger_params import BalanceExpectation, Expectation, TotalExpectation
from tickover.server.domain.logins import SendLoginCodeEmailParams
from tickover.server.domain.params import Params
from tickover.server.openrpc.prose import FIELDS, TYPES

Schema = dict[str, Any]

_PUBLISHED_NAMES: Final = {
    "CreateTestClockParams": "ScheduleEntry",
    "AdvanceTestClockParams": "AdvanceEntry",
    "GetTestClockParams": "GetEntry",
    "ListTestClocksParams": "ListEntry",
    "DeleteTestClockParams": "DeleteEntry",
    "ForkTestClockParams": "ForkEntry",
    "UpdateTestClockParams": "UpdateEntry",
    "AmendTestClockParams": "AmendEntry",
    "AddParams": "AddEntry",
    "AddedContributionParams": "AddedContributionEntry",
    "SendLoginCodeEmailParams": "SendEntry",
    "LoginByEmailVerificationParams": "VerificationEntry",
    "LoginByEmailLinkParams": "LinkEntry",
    "LogoutParams": "LogoutEntry",
    "GetTestClockBalancesParams": "BalancesEntry",
    "ListTestClockEventsParams": "EventsEntry",
    "CheckTestClockParams": "CheckEntry",
    "Expectation": "ExpectationEntry",
    "BalanceExpectation": "BalanceExpectationEntry",
    "GoalReachedExpectation": "GoalReachedExpectationEntry",
    "TotalExpectation": "TotalExpectationEntry",
    "PostedExpectation": "PostedExpectationEntry",
    "ExpandScenarioParams": "ExpandEntry",
    "ExportTestClockParams": "ExportEntry",
    "GetCurrentUserParams": "CurrentUserEntry",
    "CreateAccessTokenParams": "CreateAccessTokenEntry",
    "ListAccessTokensParams": "ListAccessTokensEntry",
    "RevokeAccessTokenParams": "RevokeAccessTokenEntry",
    "TransactionParams": "TransactionEntry",
    "ContributionParams": "ContributionEntry",
    "GoalParams": "GoalEntry",
}
"""Schema names that differ from the class names. Generated clients depend on them."""

_WITHOUT_NULL_CHARACTER: Final = r"^[^\u0000]*$"
_CUSTOM_TYPES: Final[dict[type, Schema]] = {EmailAddress: {"type": "string", "format": "email", "maxLength": MAX_EMAIL}}


def schemas_of(kinds: Iterable[type[Struct]]) -> dict[str, Schema]:
    """Return the schemas of these types and of all types inside them, by name."""
    found = {info.cls: info for top in inspect.multi_type_info(kinds) for info in _structs_in(top)}
    return {published_name(kind): _object(info) for kind, info in found.items()}


def published_name(kind: type[Struct]) -> str:
    """Return the name of the type's schema in the OpenRPC document."""
    return _PUBLISHED_NAMES.get(kind.__name__, kind.__name__)


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _structs_in(info: inspect.Type) -> Iterator[inspect.StructType]:
    match info:
        case inspect.StructType():
            yield info
            for field in info.fields:
                yield from _structs_in(field.type)
        case inspect.ListType():
            yield from _structs_in(info.item_type)
        case inspect.UnionType():
            for choice in info.types:
                yield from _structs_in(choice)


def _object(info: inspect.StructType) -> Schema:
    name = published_name(info.cls)
    is_params = issubclass(info.cls, Params)
    schema: Schema = {
        "title": name,
        "description": TYPES.get(name) or info.cls.__doc__,
        "type": "object",
        "properties": {field.encode_name: _property(name, field, is_params) for field in info.fields},
    }
    if required := [field.encode_name for field in info.fields if not _is_optional(info, field)]:
        schema["required"] = required
    if info.forbid_unknown_fields:
        schema["additionalProperties"] = False
    return schema | _combinations(info.cls)


def _combinations(kind: type[Struct]) -> Schema:
    """Return the rules about several members of a type."""
    if kind is SendLoginCodeEmailParams:
        return {"anyOf": list(_valid_type_pairs())}
    if kind is Expectation:
        return {"minProperties": 1, "maxProperties": 1}
    if kind in (BalanceExpectation, TotalExpectation):
        return {"anyOf": [{"required": ["atLeast"]}, {"required": ["atMost"]}]}
    if kind is AmendTestClockParams:
        lists = [_with_items(name) for name in ("transactions", "goals", "contributions")]
        return {"anyOf": [{"required": ["add"], "properties": {"add": {"anyOf": lists}}}, _with_items("cancel")]}
    return {}


def _with_items(name: str) -> Schema:
    """Require a list that isn't empty."""
    return {"required": [name], "properties": {name: {"minItems": 1}}}


def _is_optional(info: inspect.StructType, field: inspect.Field) -> bool:
    """Return whether the member is optional. Some results contain members with default values."""
    return not field.required and (issubclass(info.cls, Params) or info.cls.__struct_config__.omit_defaults)


def _property(name: str, field: inspect.Field, is_params: bool) -> Schema:
    schema = _schema(field.type)
    if field.default is None:
        schema = next(choice for choice in schema["anyOf"] if choice != {"type": "null"})
    if "$ref" in schema:
        # JSON Schema ignores members next to $ref.
        return schema
    if is_params:
        _exclude_null_character(schema)
        if field.default is not NODEFAULT:
            schema["default"] = field.default
        if field.default_factory is not NODEFAULT:
            schema["default"] = field.default_factory()
    description = FIELDS.get(f"{name}.{field.encode_name}") or FIELDS[field.encode_name]
    return {"description": description, **_without_description(schema)}


def _exclude_null_character(schema: Schema) -> None:
    """Exclude U+0000 from all text of a parameter."""
    if schema.get("type") == "string" and not {"format", "pattern", "enum"} & schema.keys():
        schema["pattern"] = _WITHOUT_NULL_CHARACTER
    for part in schema.get("anyOf", ()):
        _exclude_null_character(part)
    if "items" in schema:
        _exclude_null_character(schema["items"])
    if "additionalProperties" in schema:
        _exclude_null_character(schema["additionalProperties"])


def _schema(info: inspect.Type) -> Schema:
    match info:
        case inspect.Metadata():
            return {**_schema(info.type), **(info.extra_json_schema or {})}
        case inspect.StructType():
            return reference(published_name(info.cls))
        case inspect.ListType():
            bounds = {"minItems": info.min_length, "maxItems": info.max_length}
            return _without_none({"type": "array", "items": _schema(info.item_type), **bounds})
        case inspect.DictType():
            return _without_none(
                {
                    "type": "object",
                    "propertyNames": _without_description(_schema(info.key_type)),
                    "additionalProperties": _without_description(_schema(info.value_type)),
                    "maxProperties": info.max_length,
                }
            )
        case inspect.UnionType():
            return _union([_schema(choice) for choice in info.types])
    return _scalar_schema(info)


def _scalar_schema(info: inspect.Type) -> Schema:
    match info:
        case inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case inspect.CustomType():
            return dict(_CUSTOM_TYPES[info.cls])
        case inspect.StrType():
            bounds = {"minLength": info.min_length, "maxLength": info.max_length, "pattern": info.pattern}
            return _without_none({"type": "string", **bounds})
        case inspect.IntType() | inspect.FloatType():
            kind = "integer" if isinstance(info, inspect.IntType) else "number"
            return _without_none({"type": kind, "exclusiveMinimum": info.gt, "minimum": info.ge, "maximum": info.le})
    return dict(_PLAIN[type(info)])


_PLAIN: Final[dict[type[inspect.Type], Schema]] = {
    inspect.BoolType: {"type": "boolean"},
    inspect.DateTimeType: {"type": "string", "format": "date-time"},
    inspect.DateType: {"type": "string", "format": "date"},
    inspect.DecimalType: {"type": "number"},
    inspect.NoneType: {"type": "null"},
}


def _union(choices: list[Schema]) -> Schema:
    """Return a schema for any of the choices. An integer is redundant next to a number with the same bounds."""
    needed = [
        choice for choice in choices if choice.get("type") != "integer" or {**choice, "type": "number"} not in choices
    ]
    return needed[0] if len(needed) == 1 else {"anyOf": needed}


def _without_description(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "description"}


def _without_none(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if value is not None}


def _valid_type_pairs() -> Iterator[Schema]:
    """Yield the valid combinations of loginCodeType and emailType."""
    kinds = {field.encode_name: field.type for field in inspect.type_info(SendLoginCodeEmailParams).fields}  # type: ignore[attr-defined]
    for code_type, email_type in product(kinds["loginCodeType"].values, kinds["emailType"].values):
        if not list(SendLoginCodeEmailParams(EmailAddress(), code_type, email_type).faults(from_micros(0))):
            yield {"properties": {"loginCodeType": {"const": code_type}, "emailType": {"const": email_type}}}
