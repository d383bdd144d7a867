"""The page /docs: the OpenRPC document as HTML. Only the filter of its contents, the forms and colours need a script.

The template has little logic, because the server compiles it at every start.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

_WIDTH: Final = 58
"""Characters in a line of the column with examples."""
_KINDS: Final = {
    "array": "array of objects",
    "date-time": "timestamp",
    "email": "email address",
    "integer": "whole number",
}
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode

Schema = Mapping[str, Any]
Values = dict[str, Any]
"""Values for the template, which escapes text other than Markup."""


def render(description: bytes, *, has_mailbox: bool) -> bytes:
    """Return the page as HTML. Its header links to the pages of the console."""
    pages = PackageLoader("tickover", "console")
    templates = Environment(loader=pages, autoescape=True, undefined=StrictUndefined, trim_blocks=True, optimized=False)
    templates.filters.update(breakable=_breakable, prose=_prose, response=_response)
    document = json.loads(description)
    reader = _Reader(document)
    methods = document["methods"]
    listing = next(method for method in methods if method["name"] == "listTestClocks")
    page = templates.get_template("docs.html").render(
        title=document["info"]["title"],
        version=document["info"]["version"],
        has_mailbox=has_mailbox,
        about=document["info"]["description"].split("\n\n"),
        call=reader.request(listing, listing["examples"][0]),
        groups=list(reader.groups(methods)),
        reasons=document["x-reasons"],
        fields=reader.fields,
        shared_reasons=set.intersection(*(set(method["x-reasons"]) for method in methods)),
    )
    return page.encode()


class _Reader:
    """Reads a document in order. A result that an earlier method has too becomes a link to that method."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.url: str = document["servers"][0]["url"]
        self._needs_token: str = document["components"]["tags"]["token"]["description"]
        self._schemas = document["components"]["schemas"]
        self._described: dict[str, str] = {}

    def groups(self, methods: Sequence[Mapping[str, Any]]) -> Iterator[Values]:
        """Yield the groups, in the order of their first methods."""
        for name in dict.fromkeys(method["x-group"] for method in methods):
            yield {"name": name, "methods": [self.method(method) for method in methods if method["x-group"] == name]}

    def method(self, method: Mapping[str, Any]) -> Values:
        name, result = method["name"], method["result"]
        first = self._described.setdefault(result["name"], name)
        link = Markup(' See <a href="#{}-result">{}</a>.').format(first, first) if first != name else ""
        return {
            **method,
            # The page says once how to send a token.
            "description": method["description"].replace(self._needs_token, ""),
            "params": list(self.fields(method["x-params"], "required")),
            "result_text": _prose(result["description"]) + link,
            "result": [] if link else list(self.fields(result["schema"])),
            # The form for a call shows the parameters of the first example.
            "example": _encode(_params(method["examples"][0]) if method["examples"] else {}),
            "examples": [{**example, "request": self.request(method, example)} for example in method["examples"]],
        }

    def request(self, method: Mapping[str, Any], example: Mapping[str, Any]) -> str:
        return _curl(self.url, method["name"], _params(example), needs_token=method["x-needs-token"])

    def fields(self, schema: Schema, required: str = "") -> Iterator[Values]:
        """Yield the members of an object, or of the objects in an array, each with its own. Mark the required ones."""
        found = self._resolve(schema.get("items", schema))
        for name, member in found.get("properties", {}).items():
            mark = required if name in found.get("required", ()) else "optional"
            text = self._resolve(member)["description"]
            rules = rules_of(member)
            yield {
                "name": _breakable(name),
                "kind": ", ".join(filter(None, [kind_of(member), mark])),
                "text": _prose(text),
                "rules": _prose(rules[:1].upper() + rules[1:]),
                "members": list(self.fields(member, required)),
            }

    def _resolve(self, schema: Schema) -> Schema:
        found: Schema = self._schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        return found


def _params(example: Mapping[str, Any]) -> dict[str, Any]:
    return {param["name"]: param["value"] for param in example["params"]}


def kind_of(schema: Schema) -> str:
    """Return the type of a schema in words."""
    if "anyOf" in schema:
        return _any_of([kind_of(choice) for choice in schema["anyOf"]])
    if schema.get("items", {}).get("type") == "string":
        return "array of strings"
    kind: str = schema.get("format") or schema.get("type", "object")
    return _KINDS.get(kind, kind)


def rules_of(schema: Schema) -> str:
    """Return the bounds of a schema in words. Descriptions state patterns and fixed lengths."""
    rules = [
        f"more than {schema['exclusiveMinimum']:,}" if "exclusiveMinimum" in schema else "",
        _any_of([f"`{value}`" for value in schema.get("enum", ())], only="always "),
        _range(schema.get("minLength"), schema.get("maxLength"), "character", "characters"),
        _range(schema.get("minimum"), schema.get("maximum")),
        _range(schema.get("minItems"), schema.get("maxItems"), "entry", "entries"),
        _range(None, schema.get("maxProperties"), "member", "members"),
        f"default: `{_encode(schema['default'])}`" if "default" in schema else "",
    ]
    return ", ".join(filter(None, rules))


def _range(minimum: int | None, maximum: int | None, one: str = "", many: str = "") -> str:
    if maximum is None:
        return "" if minimum is None else f"at least {minimum:,} {one if minimum == 1 else many}".strip()
    count = f"{maximum:,} {one if maximum == 1 else many}".strip()
    if minimum is None:
        return f"at most {count}"
    return "" if minimum == maximum else f"{minimum:,} to {count}"


def _any_of(choices: list[str], only: str = "") -> str:
    if len(choices) < 2:
        return "".join(only + choice for choice in choices)
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def _prose(text: str) -> Markup:
    """Convert text with words in backticks to HTML."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _breakable(name: str) -> Markup:
    """Allow line breaks between the words of a long name."""
    return Markup(re.sub("(?<=[a-z])(?=[A-Z])|(?<=_)", "<wbr>", str(escape(name))))  # noqa: S704 - escaped


def _curl(url: str, operation: str, params: Mapping[str, Any], *, needs_token: bool) -> str:
    body = pretty({"jsonrpc": "2.0", "id": 1, "method": operation, "params": params})
    headers = ["'Content-Type: application/json'", *(['"Authorization: Bearer $TOKEN"'] if needs_token else [])]
    return " \\\n  ".join([f"curl -sS {quote(url)}", *(f"-H {header}" for header in headers), f"-d {quote(body)}"])


def _response(value: Any, kind: str) -> str:
    return pretty({"jsonrpc": "2.0", kind: value, "id": 1})


def pretty(value: Any, width: int = _WIDTH, indent: str = "", lead: str = "") -> str:
    """Format JSON with line breaks only where a line would be too long."""
    line = lead + _encode(value)
    if len(indent) + len(line) <= width or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        members, brackets = [pretty(member, width, deeper) for member in value], "[]"
    else:
        members, brackets = [pretty(member, width, deeper, f'"{name}": ') for name, member in value.items()], "{}"
    inside = ",\n".join(deeper + member for member in members)
    return f"{lead}{brackets[0]}\n{inside}\n{indent}{brackets[1]}"
