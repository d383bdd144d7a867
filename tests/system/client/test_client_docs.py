"""The examples in docs/client.md run and print what they show, and its tables are complete."""

import inspect
import io
import re
from contextlib import redirect_stdout

import pytest

from tests.support.program import Program
from tests.support.transcripts import ROOT
from tickover.client import Clock, Tickover

PAGE = (ROOT / "docs" / "client.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def expected_output(example: str) -> list[str]:
    """Return the comment after each print call, in order."""
    return [re.sub(r".*\)  # ", "", line) for line in example.splitlines() if re.match(r" *print\(", line)]


def test_examples_print_what_they_show(program: Program) -> None:
    # Port 8000 may be taken here, so the examples use the port of the test server.
    namespace: dict[str, object] = {}
    for example in EXAMPLES:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(example.replace("http://127.0.0.1:8000", program.url), namespace)
        lines = printed.getvalue().splitlines()
        for line, expected in zip(lines, expected_output(example), strict=True):
            assert re.fullmatch(".*".join(map(re.escape, expected.split("…"))), line), f"{line} is not {expected}"
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("cls", [Tickover, Clock])
def test_method_tables_list_every_method_with_its_parameters(cls: type) -> None:
    methods = [value for name, value in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")]
    table = PAGE.partition(f"| Method of `{cls.__name__}` |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(.+?)`", table, re.MULTILINE)) == sorted(map(signature, methods))


def signature(method: object) -> str:
    parameters = list(inspect.signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    names = [parameter.name for parameter in parameters]
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if True in keywords:
        names.insert(keywords.index(True), "*")
    return f"{method.__name__}({', '.join(names)})"  # type: ignore[attr-defined]


def test_retry_table_lists_every_method_that_calls_the_server() -> None:
    table = PAGE.partition("| Method | If the server doesn't respond |")[2].partition("\n\n")[0]
    listed = [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    methods = {name for cls in (Tickover, Clock) for name, _ in inspect.getmembers(cls, inspect.isfunction)}
    assert sorted(listed) == sorted(name for name in methods if not name.startswith("_") and name != "close")
