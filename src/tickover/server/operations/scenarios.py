"""The operation on scenarios. It stores nothing."""

from msgspec import UNSET

from tickover.api.errors import Fault, Reason, Rejection, invalid_params, unauthenticated
from tickover.api.limits import SCENARIO_BURST, SCENARIO_REFILL
from tickover.scenarios.expander import ExpandRequest
from tickover.server.domain.rate_limits import Buckets
from tickover.server.domain.scenarios import ExpandScenarioParams
from tickover.server.operations.callers import Caller
from tickover.server.scenario_process import ScenarioProcess
from tickover.server.storage.store import Store


class ScenarioOperations:
    def __init__(self, store: Store, process: ScenarioProcess) -> None:
        self._store = store
        self._process = process
        self._limiter = Buckets(SCENARIO_BURST, SCENARIO_REFILL)

    async def expand_scenario(self, params: ExpandScenarioParams, caller: Caller) -> bytes:
        if await self._store.find_token(caller.token.digest, caller.now) is None:
            raise unauthenticated()
        wait = self._limiter.take(caller.token.user.hex(), caller.now)
        if wait:
            message = f"You have expanded too many scenarios. Try again in {wait} s."
            raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
        start = None if params.start is UNSET else params.start
        first_of_month = caller.now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        request = ExpandRequest(params.text, start, first_of_month)
        response = await self._process.expand(request, caller.token.user)
        if response.result is UNSET:
            line = UNSET if response.line is None else response.line
            fault = Fault("text", "scenario", response.message.removesuffix("."), line=line)
            raise invalid_params("expandScenario", [fault])
        return bytes(response.result)
