"""The paths of the bank's protocols. Their calls enter by the gate, like those of JSON-RPC."""

import time
from functools import cached_property, partial
from typing import Final, Protocol

from tickover.api.connections import ConnectionCall
from tickover.api.errors import Rejection
from tickover.server.bank.bank_service import Bank, BankRequest
from tickover.server.gate import Gate
from tickover.server.http1.http_messages import Response
from tickover.server.operations.services import Services

CALLS: Final = (
    "plaid /item/public_token/exchange",
    "plaid /item/get",
    "plaid /item/remove",
    "plaid /accounts/get",
    "plaid /accounts/balance/get",
    "plaid /transactions/sync",
    "plaid /transactions/get",
    "plaid /transactions/refresh",
    "plaid /institutions/get_by_id",
    "plaid /sandbox/item/reset_login",
    "plaid /auth/get",
    "plaid /identity/get",
    "plaid /institutions/get",
    "plaid /institutions/search",
    "plaid /sandbox/public_token/create",
    "plaid /link/token/create",
    "plaid /link/token/get",
    "plaid /link/session/get",
    "plaid /link/session/accounts",
    "plaid /link/session/connect",
    "plaid /link",
    "plaid /unsupported",
    "plaid /sandbox/item/fire_webhook",
    "plaid /item/webhook/update",
    "plaid /webhook_verification_key/get",
    "simplefin /info",
    "simplefin /create",
    "simplefin /claim",
    "simplefin /accounts",
)
"""The names of calls, for metrics, logs and traces."""

_PREFIXES: Final = {call.partition(" ")[0] for call in CALLS}
_WRITES: Final = frozenset(
    {
        "plaid /item/public_token/exchange",
        "plaid /item/remove",
        "plaid /sandbox/item/reset_login",
        "plaid /sandbox/public_token/create",
        "plaid /link/token/create",
        "plaid /link/session/connect",
        "plaid /item/webhook/update",
        "simplefin /claim",
    }
)


class BankProtocol(Protocol):
    """A protocol, whose paths have a prefix."""

    def route(self, path: str) -> str | None: ...
    async def run(self, request: BankRequest) -> Response: ...
    def reject(self, request: BankRequest, error: Rejection) -> Response: ...
    def outcome(self, response: Response) -> str: ...


class BankRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self.bank = Bank(services)
        self._gate = gate

    @cached_property
    def _protocols(self) -> dict[str, BankProtocol]:
        from tickover.server.bank.plaid import Plaid
        from tickover.server.bank.simplefin import Simplefin

        return {"plaid": Plaid(self.bank), "simplefin": Simplefin(self.bank)}

    def has(self, path: str) -> bool:
        return path[1:].partition("/")[0] in _PREFIXES

    def route(self, path: str) -> str | None:
        """Return the path for logs, without text of the client, or None if nothing is there."""
        prefix, _, rest = path[1:].partition("/")
        found = self._protocols[prefix].route(f"/{rest}")
        return None if found is None else f"/{prefix}{found}"

    def reject(self, request: BankRequest, rejection: Rejection) -> Response:
        """Return the response to a request that can't begin."""
        return self._protocol_of(request).reject(request, rejection)

    async def handle(self, request: BankRequest) -> Response:
        protocol = self._protocol_of(request)
        route = protocol.route(request.path)
        name = "unknown" if route is None else f"{request.prefix} {route}"
        work = partial(protocol.run, request)
        begun = time.monotonic()
        found: Response | Rejection = await self._gate.call(name, work, writes=name in _WRITES)
        response = protocol.reject(request, found) if isinstance(found, Rejection) else found
        if (key := request.opened.connection_key) is not None:
            path, outcome, milliseconds = route or "", protocol.outcome(response), 1000 * (time.monotonic() - begun)
            at, rows = request.opened.clock_time, request.opened.rows
            made = ConnectionCall(request.now, at, path, outcome, round(milliseconds, 1), rows)
            self.bank.services.call_log.add(key, made)
        return response

    def _protocol_of(self, request: BankRequest) -> BankProtocol:
        return self._protocols[request.prefix]
