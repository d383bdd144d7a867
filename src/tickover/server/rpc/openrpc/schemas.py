"""JSON Schemas (draft 7) of parameters and results, generated from their types.

They describe the JSON: amounts are numbers, although the client decodes them as decimals, and results omit members
instead of using null.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, get_origin

from msgspec import NODEFAULT, Struct, inspect

from tickover.api.fields import Params
from tickover.api.limits import MAX_EMAIL
from tickover.server.sign_in.email_addresses import EmailAddress

Schema = dict[str, Any]

_WITHOUT_NULL_CHARACTER: Final = r"^[^\u0000]*$"
_CUSTOM_TYPES: Final[dict[type, Schema]] = {EmailAddress: {"type": "string", "format": "email", "maxLength": MAX_EMAIL}}


def schemas_of(kinds: Iterable[type[Struct]]) -> dict[str, Schema]:
    """Return the schemas of these types and of all types inside them, by name.

    The first use of a generic type counts: parameters have bounds, and results have the amounts of clients.
    """
    found: dict[type[Struct], inspect.StructType] = {}
    for top in inspect.multi_type_info(kinds):
        for info in _structs_in(top):
            found.setdefault(_class_of(info), info)
    return {kind.__name__: _object(kind, info) for kind, info in found.items()}


def _class_of(info: inspect.StructType) -> type[Struct]:
    """Return the class, without the arguments of a generic type."""
    return get_origin(info.cls) or info.cls


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _structs_in(info: inspect.Type) -> Iterator[inspect.StructType]:
    match info:
        case inspect.Metadata():
            yield from _structs_in(info.type)
        case inspect.StructType():
            yield info
            for field in info.fields:
                yield from _structs_in(field.type)
        case inspect.ListType():
            yield from _structs_in(info.item_type)
        case inspect.UnionType():
            for choice in info.types:
                yield from _structs_in(choice)


def _object(kind: type[Struct], info: inspect.StructType) -> Schema:
    is_params = issubclass(kind, Params)
    schema: Schema = {
        "title": kind.__name__,
        "description": kind.__doc__,
        "type": "object",
        "properties": {field.encode_name: _property(field, is_params) for field in info.fields},
    }
    # Some results contain members with default values.
    omits_defaults = kind.__struct_config__.omit_defaults
    if required := [field.encode_name for field in info.fields if field.required or not omits_defaults]:
        schema["required"] = required
    if info.forbid_unknown_fields:
        schema["additionalProperties"] = False
    return schema | (kind.combinations if issubclass(kind, Params) else {})


def _property(field: inspect.Field, is_params: bool) -> Schema:
    schema = _schema(field.type)
    description = {"description": schema.pop("description")} if "description" in schema else {}
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
    return description | schema


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
            return reference(_class_of(info).__name__)
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
            return _union([_without_description(_schema(choice)) for choice in info.types])
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
