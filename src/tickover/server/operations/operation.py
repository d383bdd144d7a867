"""The types of the table of operations."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.api.fields import Params
from tickover.server.domain import response_sizes
from tickover.server.domain.tokens import Mint, Permission
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.mail.mailer import Mailer
from tickover.server.operations.access_tokens import AccessTokenOperations
from tickover.server.operations.amendments import AmendOperations
from tickover.server.operations.callers import Caller, Policy
from tickover.server.operations.clocks import ClockOperations
from tickover.server.operations.exports import ExportOperations
from tickover.server.operations.ledger import LedgerOperations
from tickover.server.operations.logins import LoginOperations
from tickover.server.operations.scenarios import ScenarioOperations
from tickover.server.operations.tokens import TokenOperations
from tickover.server.storage.store import Store

OperationHandler = Callable[[Any, Caller], Awaitable[bytes | Struct]]
"""Runs a call with valid parameters. The result is JSON, or a struct to encode as JSON."""

CallCost = Callable[[bytes], int]
"""Estimates the bytes that a call with these parameters reads, computes and writes, besides the parameters."""


class DiscoverParams(Params, frozen=True):
    """rpc.discover has no parameters."""


class Operations:
    """All operations on one store."""

    def __init__(
        self,
        store: Store,
        mailer: Mailer,
        mint: Mint,
        policy: Policy,
        isolated_process: IsolatedProcess,
        openrpc_json: bytes = b"{}",
    ) -> None:
        self.clocks = ClockOperations(store, mint, policy)
        self.amendments = AmendOperations(self.clocks)
        self.ledger = LedgerOperations(self.clocks)
        self.logins = LoginOperations(store, mailer, mint, policy)
        self.tokens = TokenOperations(store, logout_allows_resend=mailer.is_local)
        self.access_tokens = AccessTokenOperations(store, mint)
        self.scenarios = ScenarioOperations(store, isolated_process)
        self.exports = ExportOperations(self.clocks, isolated_process)
        self._openrpc_json = openrpc_json

    async def discover(self, params: DiscoverParams, caller: Caller) -> bytes:
        return self._openrpc_json


class Operation(Struct, frozen=True, kw_only=True):
    """A method: its types, its handler, and the reasons with which it can fail."""

    summary: str
    params: type[Params]
    result: type[Struct] | None
    """None for the OpenRPC document."""
    handler: Callable[[Operations], OperationHandler]
    needs_token: bool = False
    permission: Permission = Permission.WRITE
    """The permission that the token must have."""
    is_extension: bool = False
    is_idempotent: bool = False
    """Whether a client can send the call again without a key if the response is lost."""
    takes_idempotency_key: bool = False
    limited_per_client: bool = False
    """Whether the rate limit of the client's network counts the call. It counts invalid parameters too."""
    cost: Callable[[Operations], CallCost] = lambda _: lambda _: 0
    max_result: int = response_sizes.MAX_SMALL_RESULT
    """The maximum size of the result in JSON, in bytes."""
    reasons: Sequence[Reason] = ()
    """In addition to the reasons with which any call can fail."""
