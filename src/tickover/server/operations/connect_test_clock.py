from base64 import b64encode
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType, field, json

from tickover.api import ids, timestamps
from tickover.api.connections import BankFault, Connected, Connection, Protocol
from tickover.api.errors import Fault, Reason, Rejection
from tickover.api.fields import Text, doc
from tickover.api.limits import DEFAULT_INSTITUTION, MAX_BANK_FAULTS, MAX_CONNECTIONS, MAX_INSTITUTION
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams, live_key, not_found
from tickover.server.sign_in import tokens
from tickover.server.storage.store import StoredConnection, TooManyConnections


class ConnectEntry(ClockParams, frozen=True):
    protocol: Protocol
    institution: Annotated[
        Text, Meta(min_length=1, max_length=MAX_INSTITUTION), doc("The name of the bank that the program shows.")
    ] = DEFAULT_INSTITUTION
    bank_faults: Annotated[
        Annotated[Sequence[BankFault], Meta(max_length=MAX_BANK_FAULTS)] | UnsetType,
        doc("Failures of the bank. If several hold at an instant, the first in the list counts."),
    ] = field(default=UNSET, name="faults")

    def faults(self, now: Instant) -> Iterator[Fault]:
        for index, fault in enumerate(self.bank_faults or ()):
            if fault is None or fault.from_ is None or not fault.until:
                continue
            if fault.until <= fault.from_:
                message = f"must be after from ({timestamps.write(fault.from_)})"
                yield Fault(f"faults[{index}].until", "range", message, timestamps.write(fault.until))


decode_faults: Final = json.Decoder(Sequence[BankFault]).decode


def to_result(stored: StoredConnection) -> Connection:
    faults = UNSET if stored.faults is None else decode_faults(stored.faults)
    id = ids.write("conn", stored.key)
    return Connection(id, stored.protocol, stored.institution, stored.created_at, faults, stored.is_claimed)


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
    faults = None if params.bank_faults is UNSET else json.encode(params.bank_faults).decode()
    key = services.mint.new_key(caller.now)
    new = StoredConnection(key, params.protocol, params.institution, caller.now, faults)
    outcome = await services.store.create_connection(
        new, tokens.digest(secret), clock_key, caller.token, MAX_CONNECTIONS
    )
    if outcome is None:
        raise not_found()
    if isinstance(outcome, TooManyConnections):
        message = f"The clock has {MAX_CONNECTIONS} connections, which is the limit. Disconnect one first."
        wait = ceil((ids.expires_at(clock_key) - caller.now).total_seconds())
        raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
    if params.protocol == "PLAID":
        return Connected(to_result(new), public_token=secret)
    claim_url = f"{services.settings.public_url}/simplefin/claim/{secret}"
    return Connected(to_result(new), setup_token=b64encode(claim_url.encode()).decode())
