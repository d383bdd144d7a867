"""The sequential model of one email address: its codes, login links and resend slot.

A history is shorter than the resend interval, so an accepted email holds the slot until the end. The slot allows only
one unfinished email at a time, so emails reach the mail server in the order of their claims.

A server waits a limited time for the mail server. Then it responds MAIL_NOT_SENT, whatever the mail server does later.
If the limit passed before DATA, the email has no effect. If it passed after that, the code or link stays valid, and
only the slot is free again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lab.soak.linearizability.checker import Step
from lab.soak.linearizability.history import UNKNOWN, Call, Delivery

MAX_TRIES = 5
REFUSED = ("error", "LOGIN_REFUSED")
TOO_SOON = ("error", "RESEND_TOO_SOON")
NOT_SENT = ("error", "MAIL_NOT_SENT")
SENT = ("result", "ok")


class Email(NamedTuple):
    call: int
    """The number of the call that claimed the slot."""
    delivery: int | None
    """None if the email didn't reach the mail server."""
    kind: str
    tries: int = 0
    is_used: bool = False
    delays_next: bool = True


class Address(NamedTuple):
    """The state. `attempts` has the counted calls, each with whether its code was right at that time."""

    emails: tuple[Email, ...] = ()
    delivered: int = 0
    attempts: frozenset[tuple[int, bool]] = frozenset()

    @property
    def newest_code(self) -> Email | None:
        return next((email for email in reversed(self.emails) if email.kind == "code"), None)

    def replace(self, old: Email, *new: Email) -> "Address":
        place = self.emails.index(old)
        return self._replace(emails=(*self.emails[:place], *new, *self.emails[place + 1 :]))

    def sign_in(self) -> "Address":
        return self._replace(emails=tuple(email._replace(is_used=True) for email in self.emails))


class LoginModel:
    """An action is (name, number of the call, argument, outcome)."""

    initial = Address()

    def __init__(self, deliveries: Sequence[Delivery], is_slow: bool = False) -> None:
        """In a slow history, the mail server may have replied too late."""
        self._deliveries = deliveries
        self._is_slow = is_slow

    def apply(self, state: Address, action: Any) -> Iterable[Address]:
        name, number, argument, outcome = action
        step = getattr(self, f"_{name}")
        after: Iterable[Address] = step(state, number, argument, outcome)
        return after

    def _find_slot_taken(self, state: Address, number: int, kind: str, outcome: Any) -> Iterable[Address]:
        return [state] if any(email.delays_next for email in state.emails) else []

    def _claim(self, state: Address, number: int, kind: str, outcome: Any) -> Iterator[Address]:
        if any(email.delays_next for email in state.emails):
            return
        next_one = state.delivered
        can_be_accepted = outcome != NOT_SENT or self._is_slow
        replies = ["accepted"] * can_be_accepted + ["rejected", "none"] * (outcome != SENT)
        if next_one < len(self._deliveries):
            delivery = self._deliveries[next_one]
            if delivery.kind == kind and delivery.reply in replies:
                yield state._replace(emails=(*state.emails, Email(number, next_one, kind)), delivered=next_one + 1)
        if outcome is UNKNOWN or (outcome == NOT_SENT and self._is_slow):
            yield state._replace(emails=(*state.emails, Email(number, None, kind)))

    def _release(self, state: Address, number: int, kind: str, outcome: Any) -> Iterator[Address]:
        """Undo an email that was not accepted, or free the slot of an email without a reply."""
        email = next((email for email in state.emails if email.call == number), None)
        if email is None or not email.delays_next:
            return
        reply = None if email.delivery is None else self._deliveries[email.delivery].reply
        if reply == "rejected" or (reply is None and self._is_slow):
            yield state.replace(email)
        if reply == "none" or self._is_slow:
            yield state.replace(email, email._replace(delays_next=False))

    def _count_attempt(self, state: Address, number: int, code: str, outcome: Any) -> Iterable[Address]:
        email = state.newest_code
        is_right = False
        if email is not None and not email.is_used and email.tries < MAX_TRIES:
            state = state.replace(email, email._replace(tries=email.tries + 1))
            is_right = self._secret(email) == code
        return [state._replace(attempts=state.attempts | {(number, is_right)}) if self._is_code(code) else state]

    def _redeem_code(self, state: Address, number: int, code: str, outcome: Any) -> Iterable[Address]:
        attempt = next((attempt for attempt in state.attempts if attempt[0] == number), None)
        if attempt is None:
            return []
        email = state.newest_code
        is_right = attempt[1] and email is not None and self._secret(email) == code and not email.is_used
        return _sign_in_if(is_right, state._replace(attempts=state.attempts - {attempt}), outcome)

    def _redeem_link(self, state: Address, number: int, secret: str, outcome: Any) -> Iterable[Address]:
        is_right = any(
            email.kind == "link" and self._secret(email) == secret and not email.is_used for email in state.emails
        )
        return _sign_in_if(is_right, state, outcome)

    def _unexpected(self, state: Address, number: int, argument: str, outcome: Any) -> Iterable[Address]:
        return []

    def _is_code(self, code: str) -> bool:
        return any(delivery.secret == code for delivery in self._deliveries)

    def _secret(self, email: Email) -> str | None:
        return None if email.delivery is None else self._deliveries[email.delivery].secret


def _sign_in_if(is_right: bool, state: Address, outcome: Any) -> list[Address]:
    if outcome is not UNKNOWN and outcome[0] != ("result" if is_right else "error"):
        return []
    return [state.sign_in() if is_right else state]


def login_steps(calls: Iterable[Call], deliveries: Sequence[Delivery]) -> Iterator[Step]:
    """Return the steps of the calls on one address.

    An email that the mail server doesn't accept releases its slot in a second step. An attempt is counted before the
    code is redeemed.
    """
    secrets = {delivery.secret for delivery in deliveries}
    for call in calls:
        argument = next(value for name, value in call.arguments.items() if name != "address")
        is_read = False
        match call.name, call.outcome:
            case "send", outcome if outcome == TOO_SOON:
                names, is_read = ["find_slot_taken"], True
            case "send", outcome if outcome == SENT:
                names = ["claim"]
            case "send", outcome if outcome in (UNKNOWN, NOT_SENT):
                names = ["claim", "release"]
            case "verify", outcome if _is_expected(outcome):
                names = ["count_attempt", "redeem_code"] if argument in secrets else ["count_attempt"]
            case "open_link", outcome if _is_expected(outcome):
                names, is_read = ["redeem_link"], outcome == REFUSED
            case _:
                names = ["unexpected"]
        for name in names:
            yield Step(call.begin, call.end, (name, call.number, argument, call.outcome), is_read)


def _is_expected(outcome: Any) -> bool:
    return outcome is UNKNOWN or outcome == REFUSED or outcome[0] == "result"
