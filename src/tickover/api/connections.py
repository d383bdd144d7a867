"""Connections of a clock to programs that speak the protocol of a bank, on the wire."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api import timestamps
from tickover.api.errors import Fault
from tickover.api.fields import Params, Result, Timestamp, doc
from tickover.api.limits import MAX_BANK_FAULTS, MAX_CALLS_PER_DAY, MAX_CONSENT_DAYS
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


Quirk = Literal[
    "SAME_ID",
    "UNLINKED",
    "HOLDS_AS_BOOKED",
    "HOLDS_STAY",
    "REWRITES_NAMES",
    "TELLS_LATE",
    "NEW_IDS",
    "NEW_IDS_ON_RELINK",
    "DOUBLES",
    "NO_IDS",
    "SHORT_HISTORY",
]
ALL_QUIRKS: Final[Sequence[Quirk]] = get_args(Quirk)
CONTRADICTIONS: Final[Mapping[Quirk, frozenset[Quirk]]] = {
    "SAME_ID": frozenset({"UNLINKED", "HOLDS_AS_BOOKED", "HOLDS_STAY"})
}
"""A quirk, and those that can't be there together with it."""

QUIRK_SETS: Final[Mapping[str, Sequence[Quirk]]] = {
    "holds": ("UNLINKED", "HOLDS_AS_BOOKED", "HOLDS_STAY"),
    "ids": ("NEW_IDS", "NEW_IDS_ON_RELINK"),
    "duplicates": ("REWRITES_NAMES", "DOUBLES"),
    "late": ("TELLS_LATE", "SHORT_HISTORY"),
    "worst": (
        "UNLINKED", "HOLDS_AS_BOOKED", "HOLDS_STAY", "REWRITES_NAMES", "TELLS_LATE", "NEW_IDS", "NEW_IDS_ON_RELINK",
        "DOUBLES", "SHORT_HISTORY",
    ),
}  # fmt: skip
"""Quirks that often come together, by the name of the set. Only clients know the names."""


def to_quirks(given: Sequence[str] | str) -> list[str]:
    """Return the quirks of this list, which may have names of sets, or of one such name."""
    names = [given] if isinstance(given, str) else given
    found = [quirk for name in names for quirk in QUIRK_SETS.get(name, [name.upper().replace("-", "_")])]
    return list(dict.fromkeys(found))


Faults = Annotated[
    Annotated[Sequence[BankFault], Meta(max_length=MAX_BANK_FAULTS)],
    doc("Failures of the bank. If several hold at an instant, the first in the list counts."),
]
Quirks = Annotated[
    Annotated[Sequence[Quirk], Meta(max_length=len(ALL_QUIRKS))],
    doc("Habits of real banks that apps stumble over, each at most once. None changes a balance."),
]
ConsentDays = Annotated[
    Annotated[int, Meta(ge=1, le=MAX_CONSENT_DAYS)],
    doc("How many simulated days after the claim of the connection the consent ends. Then the bank requires a login."),
]
CallsPerDay = Annotated[
    Annotated[int, Meta(ge=1, le=MAX_CALLS_PER_DAY)],
    doc("How many calls for data the bank answers within 24 simulated hours."),
]


class BankSettings(Params, frozen=True):
    """How the bank of a connection behaves."""

    bank_faults: Faults | UnsetType = field(default=UNSET, name="faults")
    quirks: Quirks | UnsetType = UNSET
    consent_days: ConsentDays | UnsetType = UNSET
    calls_per_day: CallsPerDay | UnsetType = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        yield from fault_faults(self.bank_faults)
        yield from quirk_faults(self.quirks)


def fault_faults(faults: Sequence[BankFault] | UnsetType | None) -> Iterator[Fault]:
    for index, fault in enumerate(faults or ()):
        if fault is None or fault.from_ is None or not fault.until:
            continue
        if fault.until <= fault.from_:
            message = f"must be after from ({timestamps.write(fault.from_)})"
            yield Fault(f"faults[{index}].until", "range", message, timestamps.write(fault.until))


def quirk_faults(quirks: Sequence[Quirk] | UnsetType | None, protocol: BankProtocol | None = None) -> Iterator[Fault]:
    """Return the faults of quirks that are there twice, or that contradict earlier ones or the protocol."""
    earlier: set[Quirk] = set()
    for index, quirk in enumerate(quirks or ()):
        path, others = f"quirks[{index}]", {other for other in earlier if _contradict(quirk, other)}
        if quirk in earlier:
            yield Fault(path, "unique", "is in the list twice", quirk)
        elif others:
            yield Fault(path, "combination", f"must not be there together with {', '.join(sorted(others))}", quirk)
        elif quirk == "NO_IDS" and protocol == "PLAID":
            yield Fault(path, "combination", "must not be there for PLAID, whose transactions always have IDs", quirk)
        earlier.add(quirk)


def _contradict(one: Quirk, other: Quirk) -> bool:
    return other in CONTRADICTIONS.get(one, ()) or one in CONTRADICTIONS.get(other, ())


class Webhook(Result, frozen=True):
    """Where the bank announces what is new."""

    url: Annotated[str, doc("The URL of the request.")]
    owed: Annotated[bool, doc("Whether the bank may show something that it has not announced.")]
    last_status: Annotated[int | UnsetType, doc("The HTTP status of the last response; omitted without one.")] = UNSET
    last_at: Annotated[Timestamp | UnsetType, doc("The real time of the last call.")] = UNSET


class Connection(Result, frozen=True):
    """A connection, without its secret."""

    id: _ConnectionId
    protocol: Protocol
    institution: Annotated[str, doc("The name of the bank.")]
    created_at: Annotated[Timestamp, doc("The real time at which the connection was created.")]
    faults: Annotated[Sequence[BankFault] | UnsetType, doc("The failures of the request. Times are in UTC.")] = UNSET
    claimed: Annotated[bool, doc("True once a program has exchanged the token; omitted before.")] = False
    quirks: Annotated[Sequence[Quirk] | UnsetType, doc("The quirks of the request.")] = UNSET
    consent_days: Annotated[int | UnsetType, doc("The `consentDays` of the request.")] = UNSET
    calls_per_day: Annotated[int | UnsetType, doc("The `callsPerDay` of the request.")] = UNSET
    webhook: Annotated[Webhook | UnsetType, doc("The webhook, and how its last call ended.")] = UNSET


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


class OneConnection(Result, frozen=True):
    """A connection of a clock."""

    connection: Connection


class ConnectionCall(Result, frozen=True):
    """A call that an app made with a connection."""

    at: Annotated[Timestamp, doc("The real time of the call.")]
    clock_time: Annotated[Timestamp, doc("The clock's time.")]
    path: Annotated[str, doc("The path after that of the protocol, such as `/transactions/sync`.")]
    outcome: Annotated[str, doc("`200`, or Plaid's error code, or the HTTP status of SimpleFIN.")]
    milliseconds: Annotated[float, doc("How long the call took.")]
    rows: Annotated[int | UnsetType, doc("How many transactions the response has, if it has a list of them.")] = UNSET


class ConnectionCalls(Result, frozen=True):
    """The last calls of an app."""

    calls: Annotated[Sequence[ConnectionCall], doc("Newest first.")]


class Connections(Result, frozen=True):
    """The connections of a clock."""

    connections: Annotated[Sequence[Connection], doc("Oldest first.")]
