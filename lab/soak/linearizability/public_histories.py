"""Public histories with known verdicts, on which the checker is tested: a register in etcd, and a key-value store."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from lab.soak.linearizability.checker import Step, Verdict, check

_REGISTER_LINE = re.compile(r"INFO +jepsen\.util - (\d+)\t:(invoke|ok|fail|info)\t:(read|write|cas)\t(.+)")
_STORE_LINE = re.compile(r'\{:process (\d+), :type :(invoke|ok), :f :(get|put|append), :key "(.*)", :value (.*)\}')


class PublicHistory(NamedTuple):
    name: str
    size: int
    """In bytes."""
    is_linearizable: bool
    partitions: list[tuple["RegisterModel | TextModel", list[Step]]]
    """By key."""


class RegisterModel:
    """A register with compare-and-set. Actions are (function, argument, result); an unknown result is None."""

    initial = "nil"

    def apply(self, state: str, action: tuple[str, str, str | None]) -> Iterable[str]:
        function, argument, result = action
        if function == "read":
            return [state] if state == result else []
        if function == "write":
            return [argument]
        expected, new = argument.strip("[]").split()
        if state == expected:
            return [] if result == "fail" else [new]
        return [] if result == "ok" else [state]


class TextModel:
    """The text of one key. Actions are (function, argument, result)."""

    initial = ""

    def apply(self, state: str, action: tuple[str, str, str | None]) -> Iterable[str]:
        function, argument, result = action
        if function == "get":
            return [state] if state == result else []
        return [argument if function == "put" else state + argument]


def find_histories(folder: Path) -> Iterator[PublicHistory]:
    """Read the histories that have a known verdict, small ones first."""
    verdicts = json.loads((folder / "EXPECTED.json").read_text())
    parsers = {"jepsen_register": ("jepsen", _read_register), "kv": ("kv", _read_texts)}
    files = [
        ((folder / "test_data" / parsers[kind][0] / name), verdict, parsers[kind][1])
        for kind, expected in verdicts.items()
        for name, verdict in expected.items()
    ]
    for file, verdict, parse in sorted(files, key=lambda found: found[0].stat().st_size):
        text = file.read_text()
        yield PublicHistory(file.name, len(text), verdict, parse(text))


def verdict_of(history: PublicHistory) -> Verdict:
    """Return the verdict of the checker."""
    for model, steps in history.partitions:
        verdict = check(model, steps)
        if verdict is not Verdict.LINEARIZABLE:
            return verdict
    return Verdict.LINEARIZABLE


def _read_register(text: str) -> list[tuple[Any, list[Step]]]:
    invoked: dict[str, tuple[int, str, str]] = {}
    steps = []
    for time, line in enumerate(text.splitlines()):
        matched = _REGISTER_LINE.fullmatch(line)
        if matched is None:
            continue
        process, event, function, value = matched.groups()
        if event == "invoke":
            invoked[process] = time, function, value
            continue
        begin, function, argument = invoked.pop(process)
        is_unknown = value == ":timed-out"
        result = None if is_unknown else value if function == "read" else event
        steps.append(Step(begin, inf if is_unknown else time, (function, argument, result), function == "read"))
    steps += [
        Step(begin, inf, (function, argument, None), function == "read")
        for begin, function, argument in invoked.values()
    ]
    return [(RegisterModel(), steps)]


def _read_texts(text: str) -> list[tuple[Any, list[Step]]]:
    invoked: dict[str, tuple[int, str]] = {}
    steps: dict[str, list[Step]] = defaultdict(list)
    for time, line in enumerate(text.splitlines()):
        matched = _STORE_LINE.fullmatch(line)
        assert matched is not None, line
        process, event, function, key, value = matched.groups()
        value = "" if value == "nil" else value.strip('"')
        if event == "invoke":
            invoked[process] = time, value
            continue
        begin, argument = invoked.pop(process)
        steps[key].append(Step(begin, time, (function, argument, value), function == "get"))
    return [(TextModel(), of_key) for of_key in steps.values()]
