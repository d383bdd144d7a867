"""The schemas of Plaid's published OpenAPI document, which is not a part of this project.

The environment variable PLAID_OPENAPI_DIR names the folder with its file 2020-09-14.yml.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from ruamel.yaml import YAML

_FILE: Final = "2020-09-14.yml"
_REF: Final = "#/components/schemas/"


@cache
def _texts() -> dict[str, str]:
    """Return the text of each schema. Parsing the whole document would take half a minute."""
    folder = os.environ.get("PLAID_OPENAPI_DIR")
    if not folder:
        pytest.skip("PLAID_OPENAPI_DIR doesn't name the folder with Plaid's OpenAPI document")
    text = (Path(folder) / _FILE).read_text("utf-8")
    schemas = text[text.index("\n  schemas:\n") :]
    parts = re.split(r"^    ([A-Za-z0-9_]+):\n", schemas, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def validator(name: str) -> Draft202012Validator:
    """Return a validator for the schema of this name."""
    found: dict[str, Any] = {}
    wanted = [name]
    while wanted:
        each = wanted.pop()
        if each not in found:
            # A section after the last schema has less indentation.
            text = re.split(r"^ {0,5}\S", _texts()[each], flags=re.MULTILINE)[0]
            found[each] = _convert(YAML(typ="safe").load(text))
            wanted += re.findall(rf"{_REF}(\w+)", text)
    document = {"$ref": f"{_REF}{name}", "components": {"schemas": found}}
    return Draft202012Validator(document, format_checker=FormatChecker(["date"]))


def _convert(schema: Any) -> Any:
    """Return a schema of OpenAPI 3.0 as a JSON Schema."""
    if isinstance(schema, list):
        return [_convert(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {key: _convert(value) for key, value in schema.items() if key not in ("nullable", "exclusiveMinimum")}
    return {"anyOf": [converted, {"type": "null"}]} if schema.get("nullable") is True else converted


def check(name: str, response: Any) -> None:
    """Fail if the response doesn't match the schema of this name."""
    assert [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(response)] == []
