"""Connections of a clock to programs that speak the protocol of a bank, on the wire."""

from base64 import b64decode
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, UnsetType, field

from tickover.api.fields import Params, Result, Timestamp, doc
from tickover.api.timestamps import Instant

BankProtocol = Literal["SIMPLEFIN", "PLAID"]
BankFaultKind = Literal["LOGIN_REQUIRED", "RATE_LIMITED", "INSTITUTION_DOWN", "INTERNAL_ERROR"]
Protocol = Annotated[BankProtocol, doc("The protocol of the program that connects.")]
_ConnectionId = Annotated[str, doc("Opaque; starts with `conn_`.")]


class BankFault(Params, frozen=True):
    """A failure that the bank simulates from `from` until `until`, in the clock's time."""

    kind: Annotated[BankFaultKind, doc("The failure. The bank reports it as its protocol does.")]
    from_: Annotated[Instant, doc("The first instant at which calls fail.")] = field(name="from")
    until: Annotated[Instant | UnsetType, doc("When calls succeed again. Default: never.")] = UNSET

    def holds(self, at: Instant) -> bool:
        return self.from_ <= at and (self.until is UNSET or at < self.until)


class Connection(Result, frozen=True):
    """A connection, without its secret."""

    id: _ConnectionId
    protocol: Protocol
    institution: Annotated[str, doc("The name of the bank.")]
    created_at: Annotated[Timestamp, doc("The real time at which the connection was created.")]
    faults: Annotated[Sequence[BankFault] | UnsetType, doc("The failures of the request. Times are in UTC.")] = UNSET
    claimed: Annotated[bool, doc("True once a program has exchanged the token; omitted before.")] = False


class Connected(Result, frozen=True):
    """The new connection, and the secret to give to the program."""

    connection: Connection
    setup_token: Annotated[
        str | UnsetType, doc("For SimpleFIN: the token that the program claims, once. Only this response has it.")
    ] = UNSET
    public_token: Annotated[
        str | UnsetType, doc("For Plaid: the token that the program exchanges, once. Only this response has it.")
    ] = UNSET

    @property
    def simplefin_url(self) -> str:
        """Where the setup token leads: the server's public URL, which may differ from the address of a client."""
        claim_url = b64decode(self.setup_token or "").decode()
        return claim_url.partition("/claim/")[0]

    def __repr__(self) -> str:
        """Omit the secret, because reprs end up in logs."""
        return f"{type(self).__name__}(connection={self.connection!r})"


class Connections(Result, frozen=True):
    """The connections of a clock."""

    connections: Annotated[Sequence[Connection], doc("Oldest first.")]
