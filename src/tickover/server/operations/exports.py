"""The operation that exports a clock as account statements. It only reads."""

from msgspec import UNSET, Raw

from tickover.api.errors import Fault, invalid_params
from tickover.server.domain.clocks import encode_start
from tickover.server.domain.exports import ExportEntry
from tickover.server.domain.schedule_json import view
from tickover.server.isolated_calls import ExportRequest
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.operations.callers import Caller
from tickover.server.operations.clocks import ClockOperations


class ExportOperations:
    def __init__(self, clocks: ClockOperations, process: IsolatedProcess) -> None:
        self._clocks = clocks
        self._process = process

    async def export_test_clock(self, params: ExportEntry, caller: Caller) -> bytes:
        # A call that waits for its turn holds no clock in memory.
        async with self._process.turn(caller.token.user):
            clock, schedule = await self._clocks.find(params.id, caller)
            snapshot = Raw(view(clock.frozen_time, schedule, encode_start(clock)))
            request = ExportRequest(snapshot, params.format, params.pending, params.opening_balances)
            found = await self._process.run(request)
        if found.result is UNSET:
            raise invalid_params("exportTestClock", [Fault("format", "export", found.message, params.format)])
        return bytes(found.result)
