"""Every line of the server's log is in the table of docs/operating.md, with its fields."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.transcripts import ROOT
from tests.unit.test_docs import quoted, rows

LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
SERVER = ROOT / "src" / "tickover" / "server"


def calls(path: Path) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))


def is_log_call(call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in LEVELS:
        return False
    name = function.value.attr if isinstance(function.value, ast.Attribute) else getattr(function.value, "id", "")
    return name in ("log", "_log")


def logged_events() -> dict[str, set[str]]:
    """Return every event in the code, with its fields. The event of a background task is made of its name."""
    events: dict[str, set[str]] = {}
    for path in SERVER.rglob("*.py"):
        for call in calls(path):
            fields = {keyword.arg for keyword in call.keywords if keyword.arg}
            if is_log_call(call) and isinstance(call.args[0], ast.Constant):
                events.setdefault(str(call.args[0].value), set()).update(fields)
            elif is_log_call(call):
                assert ast.unparse(call.args[0]) == "f'{name} failed'", "document how this event is made"
            elif isinstance(call.func, ast.Name) and call.func.id == "repeat":
                events[f"{ast.literal_eval(call.args[1])} failed"] = {"reason"}
    return events


def test_every_log_line_is_documented() -> None:
    table = rows((ROOT / "docs" / "operating.md").read_text("utf-8"), "Event | When | Fields")
    documented = {event.removesuffix(" …"): set(quoted(fields)) for cell, _, fields in table for event in quoted(cell)}
    logged = logged_events()
    assert len(logged) > 20
    for event, fields in logged.items():
        names = [name for name in documented if event == name or (event.startswith(name) and name.endswith("."))]
        assert len(names) == 1, f"the table lacks {event!r}"
        # The access log has a table of its own.
        assert event == "request" or fields <= documented.pop(names[0]), f"the table lacks a field of {event!r}"
    assert documented.keys() == {"request"}
