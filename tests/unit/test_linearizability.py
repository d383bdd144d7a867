"""The linearizability checker: against known verdicts, a brute-force search and public histories."""

import os
from collections.abc import Iterator
from itertools import permutations
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.soak.linearizability.checker import Step, Verdict, check
from lab.soak.linearizability.public_histories import RegisterModel, find_histories, verdict_of

_MAX_PUBLIC_BYTES = 6_550
"""The soak checks the others too. They take minutes on a slow machine."""

Action = tuple[str, str, str | None]


def read(begin: float, end: float, value: str) -> Step:
    return Step(begin, end, ("read", "nil", value), is_read=True)


def write(begin: float, end: float, value: str) -> Step:
    return Step(begin, end, ("write", value, "ok" if end < inf else None))


def compare_and_set(begin: float, end: float, values: str, result: str | None) -> Step:
    return Step(begin, end, ("cas", values, result))


LINEARIZABLE = {
    "no steps": [],
    "a read of the initial value": [read(0, 1, "nil")],
    "a read of a finished write": [write(0, 1, "a"), read(2, 3, "a")],
    "a read of a concurrent write": [write(0, 3, "a"), read(1, 2, "a")],
    "a read before a concurrent write": [write(0, 3, "a"), read(1, 2, "nil")],
    "concurrent writes in either order": [write(0, 3, "a"), write(1, 4, "b"), read(5, 6, "a")],
    "an unknown write that took effect late": [write(0, inf, "a"), read(1, 2, "nil"), read(3, 4, "a")],
    "an unknown write that had no effect": [write(0, inf, "a"), read(1, 2, "nil")],
    "an unknown read": [write(0, 1, "a"), read(2, inf, "b")],
    "a failed exchange before a write": [compare_and_set(0, 3, "[a b]", "fail"), write(1, 2, "a"), read(4, 5, "a")],
    "an unknown exchange between two writes": [
        write(0, 1, "a"), compare_and_set(2, inf, "[a b]", None), read(3, 4, "b"), write(5, 6, "a"), read(7, 8, "a"),
    ],
}  # fmt: skip

VIOLATIONS = {
    "a value that was never written": [read(0, 1, "a")],
    "a read that misses a finished write": [write(0, 1, "a"), read(2, 3, "nil")],
    "a write that is seen and then not": [write(0, 5, "a"), read(1, 2, "a"), read(3, 4, "nil")],
    "an unknown write that is seen and then not": [write(0, inf, "a"), read(1, 2, "a"), read(3, 4, "nil")],
    "an unknown write that takes effect twice": [
        write(0, inf, "a"), read(1, 2, "a"), write(3, 4, "b"), read(5, 6, "b"), read(7, 8, "a"),
    ],
    "an effect before the call": [read(0, 1, "a"), write(2, inf, "a")],
    "two readers that disagree about the order": [
        write(0, 9, "a"), write(0, 9, "b"), read(1, 2, "a"), read(3, 4, "b"), read(5, 6, "a"),
    ],
    "two exchanges of one value": [
        write(0, 1, "a"), compare_and_set(2, 5, "[a b]", "ok"), compare_and_set(3, 4, "[a c]", "ok"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", LINEARIZABLE)
def test_linearizable_history_is_accepted(name: str) -> None:
    assert check(RegisterModel(), LINEARIZABLE[name]) is Verdict.LINEARIZABLE


@pytest.mark.parametrize("name", VIOLATIONS)
def test_violation_is_found(name: str) -> None:
    assert check(RegisterModel(), VIOLATIONS[name]) is Verdict.VIOLATION


def test_too_large_search_is_undecided() -> None:
    concurrent = [write(0, 100, str(number)) for number in range(10)]
    assert check(RegisterModel(), [*concurrent, read(101, 102, "nil")], 100) is Verdict.UNDECIDED


_values = st.sampled_from("ab")
_actions = st.one_of(
    st.builds(lambda value: ("read", "nil", value), st.sampled_from(["nil", "a", "b"])),
    st.builds(lambda value: ("write", value, "ok"), _values),
    st.builds(lambda a, b, result: ("cas", f"[{a} {b}]", result), _values, _values, st.sampled_from(["ok", "fail"])),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Return up to five steps with arbitrary results. Some have no response."""
    actions = draw(st.lists(_actions, max_size=5))
    times = draw(st.permutations(range(2 * len(actions))))
    steps = []
    for number, (function, argument, result) in enumerate(actions):
        begin, end = sorted(times[2 * number : 2 * number + 2])
        is_unknown = draw(st.integers(0, 3)) == 0
        action = (function, argument, None if is_unknown and function == "cas" else result)
        steps.append(Step(begin, inf if is_unknown else end, action, function == "read"))
    return steps


def orders(steps: list[Step]) -> Iterator[tuple[Step, ...]]:
    """Return all orders of all finished steps and any of the others that respect real time."""
    for length in range(len(steps) + 1):
        for order in permutations(steps, length):
            is_complete = all(step in order for step in steps if step.end < inf)
            if is_complete and all(a.begin < b.end for at, a in enumerate(order) for b in order[at + 1 :]):
                yield order


def is_allowed(order: tuple[Step, ...]) -> bool:
    model = RegisterModel()
    states: Any = [model.initial]
    for step in order:
        states = [after for state in states for after in model.apply(state, step.action)]
    return bool(states)


@settings(max_examples=80)
@given(histories())
def test_verdict_equals_that_of_a_brute_force_search(steps: list[Step]) -> None:
    # Without equal steps, `in` finds the same step.
    unique = [step for step in dict.fromkeys(steps) if not (step.is_read and step.end == inf)]
    expected = any(is_allowed(order) for order in orders(unique))
    assert check(RegisterModel(), unique) is (Verdict.LINEARIZABLE if expected else Verdict.VIOLATION)


_lead = st.sampled_from([0.1, 1.2, 3.3])


@settings(max_examples=40)
@given(st.lists(st.tuples(_actions, _lead, _lead | st.just(inf)), max_size=20))
def test_sequential_execution_with_overlapping_calls_is_accepted(execution: list[tuple[Action, float, float]]) -> None:
    state, steps = RegisterModel.initial, []
    for time, ((function, argument, _), before, after) in enumerate(execution):
        result = "ok"
        if function == "read":
            result = state
        elif function == "write":
            state = argument
        else:
            expected, new = argument.strip("[]").split()
            result, state = ("ok", new) if state == expected else ("fail", state)
        steps.append(Step(time - before, time + after, (function, argument, result), function == "read"))
    assert check(RegisterModel(), steps) is Verdict.LINEARIZABLE


@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_verdicts_on_public_histories_are_correct() -> None:
    found = [
        history
        for history in find_histories(Path(os.environ["CORPORA_DIR"]) / "porcupine")
        if history.size < _MAX_PUBLIC_BYTES
    ]
    assert len(found) >= 50
    for history in found:
        verdict = Verdict.LINEARIZABLE if history.is_linearizable else Verdict.VIOLATION
        assert verdict_of(history) is verdict, history.name
