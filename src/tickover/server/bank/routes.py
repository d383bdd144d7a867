"""The paths of the bank's protocols, and what they do if a call is rejected or fails."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tickover.api.errors import Rejection
from tickover.server.bank.bank import Bank, BankError, BankRequest
from tickover.server.http1.messages import Response
from tickover.server.operations.services import Services
from tickover.server.rpc.dispatch import Dispatcher

if TYPE_CHECKING:
    from tickover.server.bank.plaid import Plaid
    from tickover.server.bank.simplefin import Simplefin

_PREFIXES: Final = {"/plaid", "/simplefin"}


class BankRoutes:
    def __init__(self, services: Services, rpc: Dispatcher) -> None:
        self._bank = Bank(services, rpc.admission)
        self._rpc = rpc

    @cached_property
    def _protocols(self) -> "dict[str, Plaid | Simplefin]":
        from tickover.server.bank.plaid import Plaid
        from tickover.server.bank.simplefin import Simplefin

        return {"/plaid": Plaid(self._bank), "/simplefin": Simplefin(self._bank)}

    def has(self, path: str) -> bool:
        return _split(path)[0] in _PREFIXES

    def route(self, path: str) -> str | None:
        """Return the path for logs, without text of the client, or None if nothing is there."""
        prefix, path = _split(path)
        found = self._protocols[prefix].route(path)
        return None if found is None else prefix + found

    def reject(self, request: BankRequest, rejection: Rejection) -> Response:
        """Count and reject a call that can't begin."""
        prefix, path = _split(request.path)
        self._rpc.note_rejection(prefix, rejection, 0, request.request_id)
        return self._protocols[prefix].reject(replace(request, path=path), rejection)

    async def handle(self, request: BankRequest) -> Response:
        prefix, path = _split(request.path)
        protocol, request = self._protocols[prefix], replace(request, path=path)
        began = asyncio.get_running_loop().time()
        try:
            self._rpc.check_running()
            return await protocol.run(request)
        except Exception as error:
            if isinstance(error, Rejection):
                self._rpc.note_rejection(prefix, error, began, request.request_id)
            elif not isinstance(error, BankError):
                self._rpc.report_bug(request.request_id)
            return protocol.reject(request, error)


def _split(path: str) -> tuple[str, str]:
    """Return the prefix of a protocol, and the path after it."""
    prefix, _, rest = path[1:].partition("/")
    return f"/{prefix}", f"/{rest}"
