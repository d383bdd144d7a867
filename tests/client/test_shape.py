"""Both kinds of client have the same verbs, and importing them costs little."""

import inspect
import subprocess
import sys
from typing import Any

import pytest

import tickover.client
from tests.transcripts import ROOT
from tickover.client import AsyncClock, AsyncTickover, Clock, Tickover

PAIRS = [(Tickover, AsyncTickover), (Clock, AsyncClock)]


def public(kind: type) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(kind) if not name.startswith("_")}


def parameters(value: Any) -> list[tuple[str, Any, Any]]:
    """Names, defaults and types of its parameters, where one kind of client is as good as the other."""
    if not callable(value):
        return []
    return [
        (parameter.name, parameter.default, f"{parameter.kind} {parameter.annotation}".replace("Async", ""))
        for parameter in inspect.signature(value).parameters.values()
    ]


@pytest.mark.parametrize(("blocking", "awaiting"), PAIRS)
def test_both_kinds_have_the_same_verbs(blocking: type, awaiting: type) -> None:
    ours, theirs = public(blocking), public(awaiting)
    assert list(ours) == list(theirs)
    assert {name: parameters(value) for name, value in ours.items()} == {
        name: parameters(value) for name, value in theirs.items()
    }


def test_both_kinds_are_made_in_the_same_way() -> None:
    assert parameters(Tickover) == parameters(AsyncTickover)


@pytest.mark.parametrize(("blocking", "awaiting"), PAIRS)
def test_both_kinds_say_the_same_of_them(blocking: type, awaiting: type) -> None:
    said = {name: value.__doc__ for name, value in public(blocking).items()}
    assert said == {name: value.__doc__ for name, value in public(awaiting).items()}


@pytest.mark.parametrize(("blocking", "awaiting"), PAIRS)
def test_what_blocks_here_is_awaited_there(blocking: type, awaiting: type) -> None:
    verbs = {name: value for name, value in public(blocking).items() if callable(value)}
    assert verbs
    for name, verb in verbs.items():
        other = public(awaiting)[name]
        if inspect.isgeneratorfunction(verb):
            assert inspect.isasyncgenfunction(other)
        else:
            assert inspect.iscoroutinefunction(other)


def test_the_names_are_there() -> None:
    promised = (
        "Tickover AsyncTickover Clock AsyncClock Happened Letter Rejection Reason Fault Unreachable BadAnswer"
        " NothingLeft income expense goal contribution Plan Span"
    )
    assert set(promised.split(" ")) <= set(tickover.client.__all__)
    assert [name for name in tickover.client.__all__ if not hasattr(tickover.client, name)] == []


def imported_by(statement: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    return set(ran.stdout.split())


def test_importing_the_client_does_not_import_what_is_slow() -> None:
    assert not {"httpx2", "asyncio", "ssl", "email"} & imported_by("import tickover.client")


def test_a_client_imports_nothing_of_the_server() -> None:
    shared = {"errors", "ids", "limits", "moments", "results"}
    parts = {"client", "core", "plans", "spans"}
    for name in imported_by("import tickover.client; tickover.client.Tickover(); tickover.client.AsyncTickover()"):
        if name.startswith("tickover."):
            assert name.split(".")[1] in parts
        if name.startswith("tickover.core."):
            assert name.split(".")[2] in shared
