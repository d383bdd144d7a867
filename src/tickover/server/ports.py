"""What the operations ask of the world: a store of atomic verbs, and a mailer."""

from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct

from tickover.api.timestamps import Moment
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import Claimed, Held, Limits, Send, Try


class Kept(Struct, frozen=True):
    """A clock as it stands, and the schedule that was kept with it, which never changes; empty if not asked for."""

    clock: Clock
    schedule: bytes


class Once(Struct, frozen=True):
    """What makes a repeated creation known: a digest of its owner and key, and one of its parameters."""

    digest: bytes
    params: bytes


class Quota(Struct, frozen=True):
    """How much one owner may store at a time. 0 means no limit."""

    clocks: int = 0
    bytes: int = 0
    """Of stored schedules."""


class Created(Struct, frozen=True):
    """The clock was created."""


class QuotaExceeded(Struct, frozen=True):
    """The clock was not created, because the owner's live clocks leave no room for it."""

    limit: Literal["clocks", "bytes"]
    oldest: bytes
    """The key of the owner's oldest live clock, or of the refused clock if there is none."""


class Earlier(Struct, frozen=True):
    """The clock that a key was used for before, and the digest of its parameters."""

    params: bytes
    kept: Kept


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
        """Return if the store takes a write, or has taken one within the last second; UNAVAILABLE otherwise."""

    async def share_key(self, fingerprint: bytes, now: Moment) -> bool:
        """Note that a server with the secret key of this fingerprint is at work here; it has to be said every minute.

        False, and nothing is noted, while servers with another key are: codes of the one would not open at the other.
        """

    async def user_of_token(self, token_digest: bytes, now: Moment) -> bytes | None:
        """The key of the user whom this token, if it is alive, lets in."""

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, living_from: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        """Keep a new clock if it and the owner's clocks with keys from `living_from` on fit into the quota."""

    async def create_clock_once(
        self, once: Once, clock: Clock, owner: bytes, schedule: bytes, living_from: bytes, quota: Quota
    ) -> Earlier | Created | QuotaExceeded:
        """The same, unless a clock lives for which `once` was used before: then that is given back.

        Of several at once with the same digest one creates, and the others are given its clock.
        """

    async def find_creation(self, digest: bytes, owner: bytes, living_from: bytes) -> Earlier | None:
        """The clock for which the digest was used before, if it is the owner's and its key is from `living_from` on."""

    async def find_clock(self, key: bytes, owner: bytes, *, with_schedule: bool = True) -> Kept | None:
        """The clock as it stands; None when the owner has no such clock."""

    async def list_clocks(self, owner: bytes, living_from: bytes, before: bytes | None, most: int) -> list[Clock]:
        """The owner's clocks with keys from `living_from` on and below `before`, if it is given; newest first."""

    async def delete_clock(self, key: bytes, owner: bytes) -> bool:
        """Delete the clock, and free the key that it was created with; False when the owner has no such clock."""

    async def advance_clock(self, key: bytes, owner: bytes, to: Moment, *, with_schedule: bool = True) -> Kept | None:
        """Move the clock to `to` if that is between its frozen time and its max time, both included.

        Gives back the clock as it stands afterwards, moved or not; None when the owner has no such clock.
        """

    async def claim_send(self, send: Send, limits: Limits) -> Claimed | Held:
        """Take the address's slot for this letter and make its secret good, unless earlier letters forbid it.

        Those are the last one that holds its slot, and the letters of the last hour that no sign-in has followed: to
        the address, and to the address from this network. When they do, nothing changes.
        """

    async def undo_send(self, send: Send) -> None:
        """The letter was not sent: give the slot back and leave an earlier code as it was."""

    async def free_slot(self, send: Send) -> None:
        """Nobody knows whether the letter was sent: give the slot back, and let the secret stay good."""

    async def count_try(self, email: str, limits: Limits, now: Moment) -> Try | None:
        """Count a try, and a failure in a row, against the address's newest code.

        None when it has no live one, or its tries or the address's failures are used up. Writes durably in either
        case, so that both take the same time.
        """

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        """Spend the code, void all that was sent to the address, forget its failures, and open a session.

        Gives back the user's key; None when the code was spent already or is no longer the newest.
        """

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        """The same by a link; None when it is unknown, spent or too old, and that is written durably too."""

    async def revoke_token(self, token_digest: bytes) -> None:
        """Once this returns, the token lets nobody in."""

    async def sweep(self, now: Moment, most: int) -> int:
        """Delete at most `most` expired rows of each kind, or a whole day's clocks at once; 0 when nothing was left."""

    async def close(self) -> None:
        """Finish what was accepted, then let go of the database."""


class Subject(StrEnum):
    """What a letter is about."""

    CODE = "code"
    LINK = "link"
    CODES_STOPPED = "codes_stopped"


class Letter(Struct, frozen=True):
    """A letter to one address. `secret` is the code, or the whole link, or empty when there is none."""

    to: str
    subject: Subject
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
