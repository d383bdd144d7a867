"""Both clients have the same methods, and importing them is fast."""

import inspect
import subprocess
import sys
from typing import Any

import tickover.client
from tests.support.cases import each_case
from tests.support.transcripts import ROOT
from tickover.client import AsyncClock, AsyncTickover, Clock, Tickover

PAIRS = [(Tickover, AsyncTickover), (Clock, AsyncClock)]


def public_members(cls: type) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(cls) if not name.startswith("_")}


def parameters(value: Any) -> list[tuple[str, Any, Any]]:
    """Return names, defaults and types of the parameters. `AsyncClock` and `Clock` count as equal."""
    if not callable(value):
        return []
    return [
        (parameter.name, parameter.default, f"{parameter.kind} {parameter.annotation}".replace("Async", ""))
        for parameter in inspect.signature(value).parameters.values()
    ]


@each_case(("sync", "asynchronous"), PAIRS)
def test_both_clients_have_the_same_methods(sync: type, asynchronous: type) -> None:
    sync_members, async_members = public_members(sync), public_members(asynchronous)
    assert list(sync_members) == list(async_members)
    assert {name: parameters(value) for name, value in sync_members.items()} == {
        name: parameters(value) for name, value in async_members.items()
    }


def test_both_constructors_have_the_same_parameters() -> None:
    assert parameters(Tickover) == parameters(AsyncTickover)


@each_case(("sync", "asynchronous"), PAIRS)
def test_both_clients_have_the_same_docstrings(sync: type, asynchronous: type) -> None:
    docstrings = {name: value.__doc__ for name, value in public_members(sync).items()}
    assert docstrings == {name: value.__doc__ for name, value in public_members(asynchronous).items()}


@each_case(("sync", "asynchronous"), PAIRS)
def test_sync_methods_are_coroutines_in_the_async_client(sync: type, asynchronous: type) -> None:
    methods = {name: value for name, value in public_members(sync).items() if callable(value)}
    assert methods
    for name, method in methods.items():
        other = public_members(asynchronous)[name]
        if other is method:
            # Both inherit it, because it sends no request.
            continue
        if inspect.isgeneratorfunction(method):
            assert inspect.isasyncgenfunction(other)
        else:
            assert inspect.iscoroutinefunction(other)


def test_public_names_are_exported() -> None:
    expected = (
        "Tickover AsyncTickover Clock AsyncClock AdvanceResult Email Rejection Reason Fault Unreachable InvalidResponse"
        " NothingLeft income expense goal contribution Plan Duration Balance Balances CheckResult CurrentUser Event"
        " Expectation ExpectationFailed Violation goal_reached midnight never_above never_below posted total"
    )
    assert set(expected.split(" ")) <= set(tickover.client.__all__)
    assert [name for name in tickover.client.__all__ if not hasattr(tickover.client, name)] == []


def imported_by(statement: str) -> set[str]:
    process = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return set(process.stdout.split())


def test_importing_the_client_skips_slow_modules() -> None:
    assert not {"httpx2", "asyncio", "ssl", "email"} & imported_by("import tickover.client")


def test_the_client_imports_no_server_code() -> None:
    imported = imported_by("import tickover.client; tickover.client.Tickover(); tickover.client.AsyncTickover()")
    packages = {name.split(".")[1] for name in imported if name.startswith("tickover.")}
    assert packages == {"api", "client"}
