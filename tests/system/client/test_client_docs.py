"""The examples on the pages about the client run and print what they show, and the tables are complete."""

import inspect
import io
import re
from contextlib import redirect_stdout
from itertools import count
from typing import Any

from tests.support.cases import each_case
from tests.support.program import Program
from tests.support.transcripts import ROOT
from tickover.client import Clock, Tickover

PAGE = (ROOT / "docs" / "client.md").read_text("utf-8")
_NUMBERS = count()
BALANCES_PAGE = (ROOT / "docs" / "balances.md").read_text("utf-8")


def examples(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def expected_output(example: str) -> list[str]:
    """Return the comment after each print call, in order."""
    return [re.sub(r".*\)  # ", "", line) for line in example.splitlines() if re.match(r" *print\(", line)]


def run_examples(page: str, url: str) -> dict[str, Any]:
    """Run the examples, compare their output, and return their variables."""
    # Port 8000 may be taken here, so the examples use the port of the test server.
    address = f"{next(_NUMBERS)}@example.test"
    namespace: dict[str, Any] = {}
    for example in examples(page, "python"):
        printed = io.StringIO()
        code = re.sub(r"\w+@example\.test", address, example.replace("http://127.0.0.1:8000", url))
        with redirect_stdout(printed):
            exec(code, namespace)
        lines = printed.getvalue().splitlines()
        for line, expected in zip(lines, expected_output(example), strict=True):
            assert re.fullmatch(".*".join(map(re.escape, expected.split("…"))), line), f"{line} is not {expected}"
    return namespace


def test_examples_of_the_client_print_what_they_show(program: Program) -> None:
    assert len(examples(PAGE, "python")) > 5
    run_examples(PAGE, program.url)


def test_examples_of_amendments_print_what_they_show(program: Program) -> None:
    run_examples((ROOT / "docs" / "amend.md").read_text("utf-8"), program.url)


def test_examples_of_balances_print_what_they_show(program: Program) -> None:
    message = run_examples(BALANCES_PAGE, program.url)["message"]
    [documented] = examples(BALANCES_PAGE, "text")
    assert re.sub("clock_[-0-9a-f]+", "ID", message) == re.sub("clock_[-0-9a-f]+", "ID", documented).strip()


@each_case("cls", [Tickover, Clock])
def test_method_tables_list_every_method_with_its_parameters(cls: type) -> None:
    methods = [value for name, value in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")]
    table = PAGE.partition(f"| Method of `{cls.__name__}` |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(.+?)`", table, re.MULTILINE)) == sorted(map(signature, methods))


def signature(method: object) -> str:
    parameters = list(inspect.signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    names = [str(parameter).partition(":")[0] if is_variadic(parameter) else parameter.name for parameter in parameters]
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if True in keywords and not any(map(is_variadic, parameters)):
        names.insert(keywords.index(True), "*")
    return f"{method.__name__}({', '.join(names)})"  # type: ignore[attr-defined]


def is_variadic(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.VAR_POSITIONAL


def test_retry_table_lists_every_method_that_calls_the_server() -> None:
    table = PAGE.partition("| Method | If the server doesn't respond |")[2].partition("\n\n")[0]
    listed = [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    methods = {name for cls in (Tickover, Clock) for name, _ in inspect.getmembers(cls, inspect.isfunction)}
    without_requests = {"close", "export"}
    assert sorted(listed) == sorted(name for name in methods - without_requests if not name.startswith("_"))
