"""The examples on the pages about the client run and print what they show."""

import io
import re
from contextlib import redirect_stdout
from itertools import count
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.repository import ROOT

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


@pytest.mark.parametrize("name", ["amend.md", "app-time.md", "webhooks.md"])
def test_examples_of_other_pages_print_what_they_show(program: Program, name: str) -> None:
    run_examples((ROOT / "docs" / name).read_text("utf-8"), program.url)


def test_examples_of_balances_print_what_they_show(program: Program) -> None:
    message = run_examples(BALANCES_PAGE, program.url)["message"]
    [documented] = examples(BALANCES_PAGE, "text")
    assert re.sub("clock_[-0-9a-f]+", "ID", message) == re.sub("clock_[-0-9a-f]+", "ID", documented).strip()
