"""JSON Schemas (draft 7) of parameters and results, generated from their types.

They describe the JSON: amounts are numbers, although the client decodes them as decimals, and results omit members
instead of using null.
"""

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any, Final, get_origin

from msgspec import NODEFAULT, Struct, inspect

from tickover.api.fields import Params
from tickover.api.limits import MAX_EMAIL

Schema = dict[str, Any]

_PLAIN: Final[dict[type[inspect.Type], Schema]] = {
    inspect.BoolType: {"type": "boolean"},
    # The only type of our own is an email address.
    inspect.CustomType: {"type": "string", "format": "email", "maxLength": MAX_EMAIL},
    inspect.DateTimeType: {"type": "string", "format": "date-time"},
    inspect.DateType: {"type": "string", "format": "date"},
    inspect.DecimalType: {"type": "number"},
    inspect.NoneType: {"type": "null"},
}


def schemas_of(kinds: Iterable[type[Struct]]) -> dict[str, Schema]:
    """Return the schemas of these types and of all types inside them, by name.

    The first use of a generic type counts: parameters have bounds, and results have the amounts of clients.
    """
    schemas = _Schemas()
    for info in inspect.multi_type_info(kinds):
        schemas.schema(info)
    return schemas.by_name


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


class _Schemas:
    def __init__(self) -> None:
        self.by_name: dict[str, Schema] = {}

    def schema(self, info: inspect.Type) -> Schema:
        match info:
            case inspect.Metadata():
                return {**self.schema(info.type), **(info.extra_json_schema or {})}
            case inspect.StructType():
                return self._reference(info)
            case inspect.UnionType():
                return _union([self._part(choice) for choice in info.types])
            case inspect.ListType():
                bounds = {"minItems": info.min_length, "maxItems": info.max_length}
                return _without_none({"type": "array", "items": self.schema(info.item_type), **bounds})
            case inspect.DictType():
                names, values = self._part(info.key_type), self._part(info.value_type)
                members = {"propertyNames": names, "additionalProperties": values, "maxProperties": info.max_length}
                return _without_none({"type": "object", **members})
        return _scalar(info)

    def _part(self, info: inspect.Type) -> Schema:
        """Return the schema of a part of a type. The whole has the description."""
        return {key: value for key, value in self.schema(info).items() if key != "description"}

    def _reference(self, info: inspect.StructType) -> Schema:
        # The class, without the arguments of a generic type.
        kind = get_origin(info.cls) or info.cls
        if kind.__name__ not in self.by_name:
            schema = self.by_name[kind.__name__] = {
                "title": kind.__name__,
                "description": cleandoc(kind.__doc__ or ""),
                "type": "object",
            }
            is_params = issubclass(kind, Params)
            schema["properties"] = {field.encode_name: self._property(field, is_params) for field in info.fields}
            # Some results contain members with default values.
            omits_defaults = kind.__struct_config__.omit_defaults
            if required := [field.encode_name for field in info.fields if field.required or not omits_defaults]:
                schema["required"] = required
            if info.forbid_unknown_fields:
                schema["additionalProperties"] = False
        return reference(kind.__name__)

    def _property(self, field: inspect.Field, is_params: bool) -> Schema:
        schema = self.schema(field.type)
        description = {"description": schema.pop("description")} if "description" in schema else {}
        if field.default is None:
            schema = next(choice for choice in schema["anyOf"] if choice != {"type": "null"})
        if "$ref" in schema:
            # JSON Schema ignores members next to $ref.
            return schema
        if is_params and field.default is not NODEFAULT:
            schema["default"] = field.default
        if is_params and field.default_factory is not NODEFAULT:
            schema["default"] = field.default_factory()
        return description | schema


def _scalar(info: inspect.Type) -> Schema:
    match info:
        case inspect.LiteralType():
            return {"type": "string", "enum": list(info.values)}
        case inspect.StrType():
            bounds = {"minLength": info.min_length, "maxLength": info.max_length, "pattern": info.pattern}
            return _without_none({"type": "string", **bounds})
        case inspect.IntType() | inspect.FloatType():
            kind = "integer" if isinstance(info, inspect.IntType) else "number"
            return _without_none({"type": kind, "exclusiveMinimum": info.gt, "minimum": info.ge, "maximum": info.le})
    return dict(_PLAIN[type(info)])


def _union(choices: list[Schema]) -> Schema:
    """Return a schema for any of the choices. An integer is redundant next to a number with the same bounds."""
    needed = [
        choice for choice in choices if choice.get("type") != "integer" or {**choice, "type": "number"} not in choices
    ]
    return needed[0] if len(needed) == 1 else {"anyOf": needed}


def _without_none(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if value is not None}
