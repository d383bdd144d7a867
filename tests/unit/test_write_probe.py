"""The probe write of `/readyz`: shared by its callers, cached for a second, with a time limit."""

import asyncio
from types import SimpleNamespace

import pytest

from tickover.api.errors import Rejection, unavailable
from tickover.server.storage import write_probe
from tickover.server.storage.store import DatabaseUnavailable
from tickover.server.storage.write_probe import WriteProbe


class ScriptedWrite:
    """Counts writes. A write fails, or waits, while it is told to."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self) -> None:
        self.count += 1
        await self.may_end.wait()
        if self.fails:
            raise unavailable("The database is not responding.")


async def test_success_counts_for_a_second_and_a_failure_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    clock = SimpleNamespace(time=lambda: now)
    shim = SimpleNamespace(get_running_loop=lambda: clock, create_task=asyncio.create_task, wait=asyncio.wait)
    monkeypatch.setattr(write_probe, "asyncio", shim)
    write = ScriptedWrite()
    probe = WriteProbe(write)
    for now, count in ((100.0, 1), (100.9, 1), (101.1, 2), (102.0, 2), (102.2, 3)):
        await probe.check()
        assert (now, write.count) == (now, count)
    now, write.fails = 110.0, True
    for count in (4, 5):
        with pytest.raises(Rejection):
            await probe.check()
        assert write.count == count
    write.fails = False
    await probe.check()


async def test_slow_write_is_shared_and_ends_in_time_for_its_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_probe, "_TIMEOUT_SECONDS", 0.01)
    write = ScriptedWrite()
    write.may_end.clear()
    probe = WriteProbe(write)
    async with asyncio.timeout(60):
        found = await asyncio.gather(*(probe.check() for _ in range(3)), return_exceptions=True)
        assert [failure.cause for failure in found if isinstance(failure, DatabaseUnavailable)] == ["timeout"] * 3
        assert write.count == 1
        write.may_end.set()
        await probe.close()
        assert write.count == 1
