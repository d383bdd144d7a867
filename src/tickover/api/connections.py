"""Connections of a clock to programs that speak the protocol of a bank, on the wire."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api import timestamps
from tickover.api.errors import Fault
from tickover.api.fields import ClockId, Params, Result, Text, Timestamp, doc
from tickover.api.limits import MAX_BANK_FAULTS, MAX_INSTITUTION
from tickover.api.timestamps import Instant

BankProtocol = Literal["SIMPLEFIN", "PLAID"]
BankFaultKind = Literal["LOGIN_REQUIRED", "RATE_LIMITED", "INSTITUTION_DOWN", "INTERNAL_ERROR"]
_Protocol = Annotated[BankProtocol, doc("The protocol of the program that connects.")]
_ConnectionId = Annotated[str, doc("Opaque; starts with `conn_`.")]


class BankFault(Params, frozen=True):
    """A failure that the bank simulates from `from` until `until`, in the clock's time."""

    kind: Annotated[BankFaultKind, doc("The failure. The bank reports it as its protocol does.")]
    from_: Annotated[Instant, doc("The first instant at which calls fail.")] = field(name="from")
    until: Annotated[Instant | UnsetType, doc("The first instant at which calls succeed again. Default: never.")] = (
        UNSET
    )

    def holds(self, at: Instant) -> bool:
        return self.from_ <= at and (self.until is UNSET or at < self.until)


class ConnectEntry(Params, frozen=True):
    """The parameters of connectTestClock."""

    id: ClockId
    protocol: _Protocol
    institution: Annotated[
        Text, Meta(min_length=1, max_length=MAX_INSTITUTION), doc("The name of the bank that the program shows.")
    ] = "Tickover Bank"
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


class ListConnectionsEntry(Params, frozen=True):
    """The parameters of listTestClockConnections."""

    id: ClockId


class DisconnectEntry(Params, frozen=True):
    """The parameters of disconnectTestClock."""

    id: ClockId
    connection_id: Annotated[Text, doc("The ID of a connection of this clock.")]


class Connection(Result, frozen=True):
    """A connection, without its secret."""

    id: _ConnectionId
    protocol: _Protocol
    institution: Annotated[str, doc("The name of the bank.")]
    created_at: Annotated[Timestamp, doc("The real time at which the connection was created.")]
    faults: Annotated[
        Sequence[BankFault] | UnsetType, doc("The failures of the request, if it had any. Times are in UTC.")
    ] = UNSET


class Connected(Result, frozen=True):
    """The new connection, and the secret to give to the program."""

    connection: Connection
    setup_token: Annotated[
        str | UnsetType, doc("For SimpleFIN: the token that the program claims, once. Only this response has it.")
    ] = UNSET
    public_token: Annotated[
        str | UnsetType, doc("For Plaid: the token that the program exchanges, once. Only this response has it.")
    ] = UNSET

    def __repr__(self) -> str:
        """Omit the secret, because reprs end up in logs."""
        return f"{type(self).__name__}(connection={self.connection!r})"


class Connections(Result, frozen=True):
    """The connections of a clock."""

    connections: Annotated[Sequence[Connection], doc("Oldest first.")]
