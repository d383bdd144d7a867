"""A recorded history: the calls of several clients on one account or a few email addresses."""

from math import inf
from typing import Any, Literal

from msgspec import Struct

Outcome = tuple[Any, ...] | None
"""("result", value) or ("error", reason, more). None is unknown."""

UNKNOWN: Outcome = None
"""There was no response. The call may take effect at any time after its start, or never."""
NOT_EXECUTED: Outcome = ("not executed",)
"""The server was unavailable, and promised that the call has no effect."""


Subject = Literal["clocks", "logins"]


class Call(Struct, frozen=True):
    """A call as its client saw it. Times are positions in the history, so all of them differ."""

    number: int
    client: int
    name: str
    arguments: dict[str, Any]
    begin: int
    end: float = inf
    outcome: Outcome = UNKNOWN

    def __str__(self) -> str:
        arguments = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        span = f"{self.begin:>4} to {'?' if self.end == inf else int(self.end):>4}"
        return f"{span}  client {self.client}  {self.name}({arguments}) -> {_describe(self.outcome)}"


class Delivery(Struct, frozen=True):
    """An email that reached the mail server."""

    kind: Literal["code", "link"]
    secret: str
    reply: Literal["accepted", "rejected", "none"]
    """With "none", the connection is closed without a reply."""


class History(Struct, frozen=True):
    number: int
    subject: Subject
    fault: str
    calls: list[Call]
    emails: dict[str, list[Delivery]] = {}
    """By address, in the order of their arrival."""
    is_slow: bool = False
    """Whether it took so long that a server may have stopped waiting for the mail server."""

    def __str__(self) -> str:
        heading = f"History {self.number}: {self.subject}, {self.fault}. Times are positions in the history."
        emails = [
            f"Email {number} to {address}: {email.kind} {email.secret}, {email.reply}"
            for address, deliveries in self.emails.items()
            for number, email in enumerate(deliveries)
        ]
        calls = [str(call) for call in sorted(self.calls, key=lambda call: call.begin)]
        return "\n".join([heading, *emails, *calls])


def _describe(outcome: Outcome) -> str:
    return "no response" if outcome is None else " ".join(str(part) for part in outcome)
