"""The page about the client says what is: its examples run and print what they show, its tables are complete."""

import inspect
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.program import Program
from tests.transcripts import ROOT
from tickover.client import Clock, Tickover

PAGE = (ROOT / "docs" / "client.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def shown_by(example: str) -> list[str]:
    """What stands behind each print, in order."""
    return [re.sub(r".*\)  # ", "", line) for line in example.splitlines() if re.match(r" *print\(", line)]


def test_every_example_runs_and_prints_what_it_shows(tmp_path: Path) -> None:
    # The page's server listens on port 8000. Here that port may be taken, so the examples are told of another one.
    namespace: dict[str, object] = {}
    with Program(tmp_path) as program:
        for example in EXAMPLES:
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(example.replace("http://127.0.0.1:8000", program.url), namespace)
            lines = printed.getvalue().splitlines()
            for line, shown in zip(lines, shown_by(example), strict=True):
                assert re.fullmatch(".*".join(map(re.escape, shown.split("…"))), line), f"{line} is not {shown}"
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("kind", [Tickover, Clock])
def test_the_table_of_verbs_has_every_verb_with_its_parameters(kind: type) -> None:
    verbs = [value for name, value in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")]
    table = PAGE.partition(f"| Verb of `{kind.__name__}` |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(.+?)`", table, re.MULTILINE)) == sorted(map(written, verbs))


def written(verb: object) -> str:
    parameters = list(inspect.signature(verb).parameters.values())[1:]  # type: ignore[arg-type]
    names = [parameter.name for parameter in parameters]
    keywords = [parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters]
    if True in keywords:
        names.insert(keywords.index(True), "*")
    return f"{verb.__name__}({', '.join(names)})"  # type: ignore[attr-defined]


def test_the_table_of_repetitions_has_every_verb_that_asks() -> None:
    table = PAGE.partition("| Call | When it got no answer |")[2].partition("\n\n")[0]
    told = [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    verbs = {name for kind in (Tickover, Clock) for name, _ in inspect.getmembers(kind, inspect.isfunction)}
    assert sorted(told) == sorted(name for name in verbs if not name.startswith("_") and name != "close")
