"""The operation on scenarios. It stores nothing."""

from msgspec import UNSET

from tickover.api.errors import Fault, invalid_params, unauthenticated
from tickover.server.domain.scenarios import ExpandEntry
from tickover.server.isolated_calls import ExpandRequest
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.operations.callers import Caller
from tickover.server.storage.store import Store


class ScenarioOperations:
    def __init__(self, store: Store, process: IsolatedProcess) -> None:
        self._store = store
        self._process = process

    async def expand_scenario(self, params: ExpandEntry, caller: Caller) -> bytes:
        if await self._store.find_token(caller.token.digest, caller.now) is None:
            raise unauthenticated()
        start = None if params.start is UNSET else params.start
        first_of_month = caller.now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        async with self._process.turn(caller.token.user):
            found = await self._process.run(ExpandRequest(params.text, start, first_of_month))
        if found.result is UNSET:
            line = UNSET if found.line is None else found.line
            fault = Fault("text", "scenario", found.message.removesuffix("."), line=line)
            raise invalid_params("expandScenario", [fault])
        return bytes(found.result)
