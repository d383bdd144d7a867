"""The sync classes have the methods of the asyncio ones, and importing them is fast."""

import inspect
from typing import Any

import pytest

from tickover.client import AsyncClock, AsyncTickover, Clock, Tickover


def public_members(cls: type) -> dict[str, Any]:
    # Clocks of the asyncio client use its `send`. A sync clock runs an asyncio clock.
    return {name: value for name, value in inspect.getmembers(cls) if not name.startswith("_") and name != "send"}


@pytest.mark.parametrize(("sync", "asynchronous"), [(Tickover, AsyncTickover), (Clock, AsyncClock)])
def test_sync_methods_run_the_methods_of_the_same_name(sync: type, asynchronous: type) -> None:
    members = public_members(sync)
    assert list(members) == list(public_members(asynchronous))
    for name, coroutine in public_members(asynchronous).items():
        if inspect.iscoroutinefunction(coroutine) or inspect.isasyncgenfunction(coroutine):
            assert members[name].__wrapped__ is coroutine
            assert inspect.isgeneratorfunction(members[name]) == inspect.isasyncgenfunction(coroutine)
        else:
            assert isinstance(coroutine, property) or members[name] is coroutine, "both inherit what sends no request"


def test_both_constructors_have_the_same_parameters() -> None:
    assert inspect.signature(Tickover) == inspect.signature(AsyncTickover)
