from base64 import b64encode
from collections.abc import Iterator
from math import ceil
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api import ids
from tickover.api.connections import (
    BankProtocol,
    BankSettings,
    CallsPerDay,
    Connected,
    Connection,
    ConsentDays,
    Faults,
    Protocol,
    Quirks,
    Webhook,
    fault_faults,
    quirk_faults,
)
from tickover.api.errors import Fault, Reason, Rejection, invalid_params, truncate
from tickover.api.fields import Text, doc
from tickover.api.limits import DEFAULT_INSTITUTION, MAX_CONNECTIONS, MAX_INSTITUTION
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams, live_key, not_found
from tickover.server.sign_in import tokens
from tickover.server.storage.store import StoredConnection, StoredWebhook, TooManyConnections
from tickover.server.webhook_calls import MAX_URL, find_problem


class ConnectEntry(ClockParams, frozen=True):
    protocol: Protocol
    institution: Annotated[
        Text, Meta(min_length=1, max_length=MAX_INSTITUTION), doc("The name of the bank that the program shows.")
    ] = DEFAULT_INSTITUTION
    bank_faults: Faults | UnsetType = field(default=UNSET, name="faults")
    quirks: Quirks | UnsetType = UNSET
    consent_days: ConsentDays | UnsetType = UNSET
    calls_per_day: CallsPerDay | UnsetType = UNSET
    webhook: Annotated[
        Annotated[str, Meta(max_length=MAX_URL)] | UnsetType,
        doc("A URL that the bank calls when it shows something new, once the program has exchanged its token."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        yield from webhook_faults(self.webhook, self.protocol)
        yield from fault_faults(self.bank_faults)
        yield from quirk_faults(self.quirks, self.protocol)


class ConnectionParams(ClockParams, frozen=True):
    """The parameters of an operation on a connection."""

    connection_id: Annotated[Text, doc("The ID of a connection of this clock.")]

    @property
    def key(self) -> bytes:
        """The key in the ID, or one that no connection has."""
        return ids.read("conn", self.connection_id) or bytes(16)


def unknown_connection() -> Rejection:
    return invalid_params([Fault("connectionId", "existing", "must be the ID of a connection of this clock")])


def to_result(stored: StoredConnection) -> Connection:
    id, settings = ids.write("conn", stored.key), stored.settings
    return Connection(
        id,
        stored.protocol,
        stored.institution,
        stored.created_at,
        settings.bank_faults,
        stored.is_claimed,
        settings.quirks,
        settings.consent_days,
        settings.calls_per_day,
        UNSET if stored.webhook is None else _webhook_result(stored.webhook),
    )


def _webhook_result(stored: StoredWebhook) -> Webhook:
    status = UNSET if stored.last_status is None else stored.last_status
    return Webhook(stored.url, stored.is_owed, status, stored.last_at or UNSET)


def webhook_faults(url: str | UnsetType | None, protocol: BankProtocol | None) -> Iterator[Fault]:
    if url and protocol == "SIMPLEFIN":
        yield Fault("webhook", "combination", "must not be there for SIMPLEFIN, which has no webhooks")


def read_webhook(url: str | UnsetType | None, services: Services) -> StoredWebhook | None:
    """Return the webhook of a request. Raise INVALID_PARAMS if the server may not call it."""
    if url is UNSET or url is None:
        return None
    problem = find_problem(url, services.settings.webhook_hosts)
    if problem:
        raise invalid_params([Fault("webhook", "format", problem, truncate(url))])
    return StoredWebhook(url)


@Operation(
    "connectTestClock",
    Connected,
    needs=Permission.WRITE,
    reasons=(Reason.RATE_LIMITED,),
    examples={
        "With Plaid": {"id": EXAMPLE_CLOCK, "protocol": "PLAID"},
        "With SimpleFIN, and a day on which the bank is down": {
            "id": EXAMPLE_CLOCK,
            "protocol": "SIMPLEFIN",
            "institution": "First Bank",
            "faults": [{"kind": "INSTITUTION_DOWN", "from": "2027-02-01T00:00:00Z", "until": "2027-02-02T00:00:00Z"}],
        },
        "With Plaid, and a bank that tells late and rewrites names": {
            "id": EXAMPLE_CLOCK,
            "protocol": "PLAID",
            "quirks": ["TELLS_LATE", "REWRITES_NAMES"],
        },
    },
)
async def connect_test_clock(params: ConnectEntry, caller: Caller, services: Services) -> Connected:
    """Let a program that speaks SimpleFIN or Plaid read a clock.

    The program sees a bank whose time is the clock's `frozenTime`: the accounts and balances, and the transactions up
    to that instant. Give it the `setupToken` or the `publicToken`, which works once. A connection only reads, and ends
    with the clock. A clock can have {MAX_CONNECTIONS} connections.
    """
    clock_key = live_key(params.id, caller.now)
    secret = services.mint.new_secret()
    if params.protocol == "PLAID":
        secret = f"public-sandbox-{secret}"
    settings = BankSettings(params.bank_faults, params.quirks, params.consent_days, params.calls_per_day)
    new = StoredConnection(
        services.mint.new_key(caller.now),
        params.protocol,
        params.institution,
        caller.now,
        settings,
        webhook=read_webhook(params.webhook, services),
    )
    await create_connection(new, secret, clock_key, caller, services)
    if params.protocol == "PLAID":
        return Connected(to_result(new), public_token=secret)
    claim_url = f"{services.settings.bank_url}/simplefin/claim/{secret}"
    return Connected(to_result(new), setup_token=b64encode(claim_url.encode()).decode())


async def create_connection(
    new: StoredConnection, secret: str, clock_key: bytes, caller: Caller, services: Services
) -> None:
    """Store a connection with its setup secret. Raise a Rejection if that is impossible."""
    outcome = await services.store.create_connection(
        new, tokens.digest(secret), clock_key, caller.token, MAX_CONNECTIONS
    )
    if outcome is None:
        raise not_found()
    if isinstance(outcome, TooManyConnections):
        message = f"The clock has {MAX_CONNECTIONS} connections, which is the limit. Disconnect one first."
        wait = ceil((ids.expires_at(clock_key) - caller.now).total_seconds())
        raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
