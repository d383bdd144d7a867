"""What the operations ask of the world: a store of atomic verbs, and a mailer."""

from typing import Protocol

from msgspec import Struct

from tickover.core.clocks import Clock
from tickover.core.logins import Kind, Send, Try
from tickover.core.moments import Moment


class NewSession(Struct, frozen=True):
    """What a successful sign-in leaves behind. `user_key` is used only if the address has no user yet."""

    user_key: bytes
    token_digest: bytes
    created_at: Moment
    expires_at: Moment


class Store(Protocol):
    """Each method is complete in itself: it has happened, durably, when it returns, or it has not happened at all.

    Every method may raise a Rejection with UNAVAILABLE.
    """

    async def ping(self) -> None:
        """Return if the store answers."""

    async def user_of_token(self, token_digest: bytes, now: Moment) -> bytes | None:
        """The key of the user whom this token, if it is alive, lets in."""

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, living_from: bytes, most: int
    ) -> bytes | None:
        """Keep a new clock, unless its owner has `most` clocks with keys from `living_from` on (0: any number).

        When the owner has, nothing is kept, and the key of the oldest of them is given back.
        """

    async def advance_clock(self, key: bytes, owner: bytes, to: Moment) -> Clock | None:
        """Move the clock to `to` if that is between its frozen time and its max time, both included.

        Gives back the clock as it stands afterwards, moved or not; None when the owner has no such clock.
        """

    async def schedule_of(self, key: bytes) -> bytes | None:
        """The schedule that was kept with the clock. It never changes."""

    async def claim_send(self, send: Send, slot_free_before: Moment) -> Moment | None:
        """Take the address's slot for this letter and make its secret good.

        When a letter sent after `slot_free_before` holds the slot, nothing changes, and its `sent_at` is given back.
        """

    async def undo_send(self, send: Send) -> None:
        """The letter was not sent: give the slot back and leave an earlier code as it was."""

    async def free_slot(self, send: Send) -> None:
        """Nobody knows whether the letter was sent: give the slot back, and let the secret stay good."""

    async def count_try(self, email: str, most: int, now: Moment) -> Try | None:
        """Count a try against the address's newest code, if it lives and fewer than `most` were counted.

        Writes durably in either case, so that both take the same time.
        """

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        """Spend the code, void all that was sent to the address, and open a session; the user's key.

        None when the code was spent already or is no longer the newest.
        """

    async def sweep(self, now: Moment, most: int) -> int:
        """Delete at most `most` expired rows of each kind; how many were deleted."""

    async def close(self) -> None:
        """Finish what was accepted, then let go of the database."""


class Letter(Struct, frozen=True):
    """A letter to one address. `secret` is the code, or the whole link."""

    to: str
    kind: Kind
    secret: str
    lifetime_minutes: int
    sent_at: Moment


class MailRefused(Exception):
    """The letter was certainly not accepted."""


class MailOutcomeUnknown(Exception):
    """The letter may or may not have been accepted."""


class Mailer(Protocol):
    stays_here: bool
    """Whether letters never leave this machine, so that whoever may call may also read them."""

    async def deliver(self, letter: Letter) -> None:
        """Return once the letter was accepted; otherwise raise MailRefused or MailOutcomeUnknown."""

    async def close(self) -> None:
        """Let go of connections."""
