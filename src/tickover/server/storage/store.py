"""The interface `Store`, and the types of its results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol

from msgspec import UNSET, Struct, UnsetType

from tickover.api.connections import BankProtocol, BankSettings, ConnectionCall
from tickover.api.errors import Reason, Rejection, truncate
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock
from tickover.server.sign_in.login_emails import CountedAttempt, LoginEmail
from tickover.server.sign_in.resend_limits import EmailRecorded, SendLimits, TooSoon
from tickover.server.sign_in.tokens import Permission


class StoredClock(Struct, frozen=True, gc=False):
    """A clock and its encoded schedule. The schedule is empty if the caller has it already."""

    clock: Clock
    schedule: bytes


class NameChanges(Struct, frozen=True):
    """The new name and labels of a clock. UNSET keeps the old ones, and None removes them."""

    name: str | None | UnsetType = UNSET
    labels: str | None | UnsetType = UNSET
    """A JSON object."""


class ClockScan(Struct, frozen=True):
    """The clocks that a search found."""

    clocks: Sequence[Clock]
    last_key: bytes | None
    """The key of the last clock that was looked at, if there may be more."""


class ClockSearch(Struct, frozen=True):
    max_scanned: int
    labels: Sequence[str] = ()
    """In the form that `encode_label` returns."""
    name: str | None = None


class IdempotencyRecord(Struct, frozen=True):
    """Identifies a creation or an amendment with an idempotency key."""

    key_digest: bytes
    """A digest of the owner and the idempotency key."""
    params_digest: bytes
    """A digest of the operation and its parameters."""


_Key = bytes
_MIN_KEY: Final = bytes(16)


class Quota(Struct, frozen=True):
    """The limits on one owner's live clocks. 0 means no limit."""

    clocks: int = 0
    bytes: int = 0
    """The total size of the stored schedules, names, labels and amendments."""
    min_live_key: _Key = _MIN_KEY
    """Clocks with smaller keys have expired. They don't count, and neither do their idempotency records."""


class Created(Struct, frozen=True):
    """The clock was created."""


class QuotaExceeded(Struct, frozen=True):
    """The clock was not created, because it would exceed the owner's quota."""

    limit: Literal["clocks", "bytes"]
    oldest: bytes
    """The key of the owner's oldest live clock, or of the rejected clock if the owner has none."""


class ExistingClock(Struct, frozen=True):
    """The clock that an earlier call with the same idempotency key created, amended or advanced."""

    params_digest: bytes
    """A digest of the earlier call's parameters."""
    stored: StoredClock


class Amendment(Struct, frozen=True):
    """The next schedule of a clock, and its new names."""

    revision: int
    """The revision that it replaces."""
    valid_until: Instant
    """The latest frozen time of the clock at which the amendment is valid."""
    schedule: bytes
    record: IdempotencyRecord | None = None
    names: NameChanges = NameChanges()


class Amended(Struct, frozen=True):
    """The clock has the new schedule."""

    clock: Clock


class Moved(Struct, frozen=True):
    """The clock after an advance, which may have changed nothing."""

    before: Instant
    """The frozen time before the advance."""
    stored: StoredClock


class Conflict(Struct, frozen=True):
    """The clock was not amended, because it has another revision or was advanced too far."""

    stored: StoredClock


class NewSession(Struct, frozen=True):
    """The session that a successful sign-in creates. `user_key` is used only if the address has no user yet."""

    user_key: bytes
    token_digest: bytes
    created_at: Instant
    expires_at: Instant


class Token(Struct, frozen=True, gc=False):
    """A token that was valid when it was looked up. It never changes, but it can be revoked."""

    digest: bytes
    user: bytes
    expires_at: Instant
    permission: Permission = Permission.SESSION
    last_used_on: Instant | None = None
    """Midnight UTC of the last day of use, for an access token."""


Repair = Callable[[BankSettings, Instant], BankSettings]
Owner = bytes | Token
"""Whose clocks or access tokens: a user's key, or a token, which stands for its user until it is revoked."""


def user_of(owner: Owner) -> bytes:
    return owner if isinstance(owner, bytes) else owner.user


class StoredAccessToken(Struct, frozen=True):
    key: bytes
    name: str
    read_only: bool
    created_at: Instant
    expires_at: Instant
    last_used_on: Instant | None = None
    """Midnight UTC of the last day of use."""


class TooManyTokens(Struct, frozen=True):
    """The access token was not created, because the user has too many."""

    first_expires_at: Instant


class StoredWebhook(Struct, frozen=True):
    """Where the bank announces what is new."""

    url: str
    is_owed: bool = False
    """Whether something may be new that it has not announced."""
    last_status: int | None = None
    """The HTTP status of the last response. None if the last call had none."""
    last_at: Instant | None = None


class OwedWebhook(NamedTuple):
    """A connection whose program may have to be called."""

    key: bytes
    clock_key: bytes
    owner: bytes
    access_digest: bytes
    protocol: BankProtocol
    state: str
    """Equal to an earlier one only if the bank shows the same."""


class LeasedWebhook(NamedTuple):
    """A webhook that one server may call until the end of its lease."""

    url: str
    announced: str | None
    tried: str | None
    """The state of the last failed call."""
    attempts: int
    last_status: int | None
    last_at: int | None


class WebhookProgress(Struct, frozen=True):
    """What a lease has achieved."""

    announced: str | None
    checked: str | None = None
    """The state of which everything is announced. None leaves it as it was."""
    tried: str | None = None
    attempts: int = 0
    next_at: int = 0
    last_status: int | None = None
    last_at: int | None = None


class StoredConnection(Struct, frozen=True):
    """A connection of a clock to a program that speaks the protocol of a bank."""

    key: bytes
    protocol: BankProtocol
    institution: str
    created_at: Instant
    settings: BankSettings = BankSettings()
    is_claimed: bool = False
    """Whether a program has exchanged the setup secret for an access secret."""
    has_clock_institution: bool = False
    """Whether the institution is the clock itself, whose name may change."""
    webhook: StoredWebhook | None = None


class TooManyConnections(Struct, frozen=True):
    """The connection was not created, because the clock has too many."""


class StoredLinkToken(Struct, frozen=True):
    """A token that lets a page connect clocks."""

    created_at: Instant
    expires_at: Instant
    item_digest: bytes | None
    """The digest of the access secret of the connection to repair, in update mode."""
    settings: str
    """A JSON object."""


class TooManyLinkTokens(Struct, frozen=True):
    """The link token was not created, because the user has too many."""


class ConnectedClock(Struct, frozen=True):
    """The clock that the secret of a connection opens."""

    connection: StoredConnection
    connected_at: Instant
    """The clock's time when it was connected."""
    consent_from: Instant
    """The clock's time when the connection was claimed."""
    login_required: bool
    """Whether the bank requires a new login from now on."""
    owner: bytes
    stored: StoredClock


class Load(Struct, frozen=True):
    """How busy a store is."""

    waiting_calls: int
    open_connections: int = 0
    busy_connections: int = 0


Cause = Literal[
    "overloaded", "disk_full", "read_only", "lock", "rolled_back", "too_many_connections", "timeout", "connection",
    "access", "io", "other",
]  # fmt: skip
"""Why the database didn't execute a call, as the metrics and the log say it."""


class DatabaseUnavailable(Rejection):
    """UNAVAILABLE because of the database. Only the operator sees the cause and the error, in metrics and the log."""

    def __init__(self, cause: Cause, error: BaseException, message: str = "The database is not responding.") -> None:
        super().__init__(Reason.UNAVAILABLE, message, {"retryAfterSeconds": 1})
        self.cause: Cause = cause
        self.error = error

    def copy(self) -> "DatabaseUnavailable":
        """Return an exception for another caller. The traceback of a shared one would grow with every raise."""
        return DatabaseUnavailable(self.cause, self.error, self.message)

    def describe(self) -> dict[str, str]:
        """Return the fields for the log. The first line of the database's message has no values of callers."""
        described: dict[str, str] = {"cause": self.cause}
        if sqlstate := getattr(self.error, "sqlstate", None):
            described["sqlstate"] = sqlstate
        if message := str(self.error).strip().partition("\n")[0]:
            described["error"] = truncate(message)
        else:
            described["error"] = type(self.error).__name__
        return described


def overloaded() -> DatabaseUnavailable:
    """Return a rejection of a call that would wait too long for the database."""
    error = RuntimeError("too many calls wait for the database")
    return DatabaseUnavailable("overloaded", error, "The server is overloaded. Try again in a moment.")


class Store(Protocol):
    """Stores users, tokens, clocks and logins.

    Every method is atomic, and its changes are durable when it returns. Every method may raise a Rejection with
    UNAVAILABLE.

    A method with an owner that is a token also checks that the token still exists. A revoked token owns no clock.
    Methods that list or create something raise UNAUTHENTICATED then.
    """

    async def ping(self) -> None:
        """Return if the database accepts writes, or accepted one within the last second; else raise UNAVAILABLE."""

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        """Register the fingerprint of this server's secret key. Call it every minute.

        Return False, and register nothing, while other servers use another key. Codes from one server would be invalid
        on the other.
        """

    async def find_token(self, digest: bytes, now: Instant) -> Token | None:
        """Return the token if it is valid."""

    async def record_token_use(self, digest: bytes, day: Instant) -> None:
        """Set the last day of use of an access token, unless it is the same or later already."""

    async def find_email(self, token_digest: bytes) -> str | None:
        """Return the email address of the token's user, or None if the token was revoked."""

    async def create_clock(
        self, clock: Clock, owner: Owner, schedule: bytes, quota: Quota, record: IdempotencyRecord | None = None
    ) -> Created | ExistingClock | QuotaExceeded:
        """Store a new clock if it fits into the quota together with the owner's other clocks.

        If a live clock was created with the same record, return that one instead. Of concurrent calls with the same
        record, one creates the clock, and the others return it.
        """

    async def find_creation(self, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
        """Return the owner's clock that was created or amended with this digest.

        Return None if its key is less than `min_live_key`.
        """

    async def find_clock(self, key: bytes, owner: Owner, *, known_revision: int | None = None) -> StoredClock | None:
        """Return the clock, or None if the owner has no such clock.

        The schedule is empty if the clock has the revision `known_revision`, here and in the other methods.
        """

    async def list_clocks(self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        """Return the owner's clocks with keys from `min_live_key` up to but excluding `before`, newest first."""

    async def search_clocks(
        self, owner: Owner, min_live_key: bytes, before: bytes | None, limit: int, search: ClockSearch
    ) -> ClockScan:
        """Return up to `limit` clocks, like `list_clocks`, with this name and all of these labels.

        Look at no more than `search.max_scanned` clocks.
        """

    async def update_clock(
        self, key: bytes, owner: Owner, changes: NameChanges, quota: Quota, *, known_revision: int | None = None
    ) -> StoredClock | QuotaExceeded | None:
        """Change a clock's name and labels. Return the clock, or None if the owner has no such clock.

        Shorter names always fit into the quota.
        """

    async def amend_clock(
        self, key: bytes, owner: Owner, amendment: Amendment, quota: Quota
    ) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
        """Replace the schedule, and change names, if the clock has the expected revision and was not advanced too far.

        Return ExistingClock if a live clock was created or amended with the same record, and None if the owner has no
        such clock. Only the limit on bytes counts, and only if the schedule grows.
        """

    async def delete_clock(self, key: bytes, owner: Owner) -> bool:
        """Delete the clock and its idempotency records. Return False if the owner has no such clock."""

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        """Set the frozen time to `to`, if `to` is between the frozen time and the max time, both inclusive.

        Return the resulting clock, changed or not, or None if the owner has no such clock.
        """

    async def move_clock(
        self,
        key: bytes,
        owner: Owner,
        target: Callable[[Clock], Instant | None],
        quota: Quota,
        record: IdempotencyRecord | None = None,
        *,
        known_revision: int | None = None,
    ) -> Moved | ExistingClock | QuotaExceeded | None:
        """Advance the clock, like `advance_clock`, to an instant that `target` computes from it. None changes nothing.

        No other advance or amendment comes between the computation and the change. `target` must be fast, and may be
        called several times. Return ExistingClock if a live clock was created, amended or advanced with the same
        record. Only the limit on bytes counts, and only with a record.
        """

    async def record_email(self, email: LoginEmail, limits: SendLimits) -> EmailRecorded | TooSoon:
        """Record an email and make its secret valid, unless earlier emails make it too soon.

        There are three limits: the interval since the last email (see `allow_resend`), the unused emails to the address
        in the last hour, and those from the same network. If it is too soon, nothing changes.
        """

    async def delete_email(self, email: LoginEmail) -> None:
        """Delete the record of an email that was not sent. The previous code becomes the newest again."""

    async def allow_resend(self, email: LoginEmail) -> None:
        """Let the next email follow at once, because the delivery of this one is unknown. Its secret stays valid."""

    async def count_attempt(self, email: str, limits: SendLimits, now: Instant) -> CountedAttempt | None:
        """Count an attempt and a failure against the address's newest code.

        Return None if there is no live code, or if its attempts or the address's failures are used up. Both cases write
        durably, so they take the same time.
        """

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        """Use the code and create a session. Void all other secrets of the address, and reset its failures.

        Return the user's key, or None if the code was already used or is no longer the newest.
        """

    async def redeem_link(
        self, link_digest: bytes, session: NewSession, is_allowed: Callable[[str], bool] = ...
    ) -> bytes | None:
        """Use a login link in the same way. Return None if it is unknown, used or expired; that writes durably too.

        Return None, and leave the link as it is, if its address is not allowed.
        """

    async def revoke_token(self, digest: bytes, *, allow_resend: bool = False, all_sessions: bool = False) -> bool:
        """Make the token invalid, effective when this returns. Return False if it doesn't exist.

        With `allow_resend`, the next email to the user's address can follow at once. With `all_sessions`, all tokens of
        the user become invalid except access tokens.
        """

    async def delete_user(self, token_digest: bytes, now: Instant) -> bool:
        """Delete the token's user and all of the user's data. Return False if the token doesn't exist.

        Not atomic: after its first step, there is no user and no token. If a later step fails, the clocks that are left
        belong to nobody, and are deleted when they expire.
        """

    async def find_or_create_user(self, email: str, new_key: bytes, now: Instant) -> bytes:
        """Return the key of the user with this address. Create the user if there is none."""

    async def create_access_token(
        self, new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
    ) -> Created | TooManyTokens:
        """Store a new access token, unless the user has `limit` live ones already."""

    async def list_access_tokens(self, owner: Owner, now: Instant) -> list[StoredAccessToken]:
        """Return the user's access tokens that have not expired, newest first."""

    async def revoke_access_token(self, key: bytes, owner: Owner, now: Instant) -> bool:
        """Make the access token invalid. Return False if the user has no such token, or if it has expired."""

    async def create_connection(
        self, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
    ) -> Created | TooManyConnections | None:
        """Store a new connection, unless the clock has `limit` already. Return None if the owner has no such clock."""

    async def list_connections(self, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
        """Return the connections of a clock, oldest first, or None if the owner has no such clock."""

    async def delete_connection(self, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
        """Delete a connection of a clock. Return False if there is none, and None if the owner has no such clock."""

    async def update_connection(
        self, key: bytes, clock_key: bytes, owner: Owner, changes: Mapping[str, Any]
    ) -> StoredConnection | Literal[False] | None:
        """Replace some settings of a connection, or its webhook.

        Return False if there is no such connection, and None if there is no such clock.
        """

    async def count_bank_call(self, key: bytes, account: str, now: Instant) -> bool | None:
        """Count a call for data at the clock's time. Return False, and count nothing, if it exceeds the limit.

        The calls of the last 24 hours of the clock's time count, those for each account on their own. `account` is
        empty if they count together. Without a limit, nothing is counted. Return None if there is no such connection.
        """

    async def add_bank_calls(self, key: bytes, calls: Sequence[ConnectionCall], now: Instant) -> None:
        """Add calls of an app to those of its connection, if it still exists, and forget the oldest ones."""

    async def list_bank_calls(
        self, key: bytes, clock_key: bytes, owner: Owner
    ) -> Sequence[ConnectionCall] | Literal[False] | None:
        """Return the last calls, oldest first. False if there is no such connection, None if no such clock."""

    async def update_webhook(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, url: str | None
    ) -> bool:
        """Replace or remove the webhook of a connection. Return False if the secret is unknown."""

    async def list_webhook_clocks(self, min_live_key: bytes) -> set[bytes]:
        """Return the keys of clocks that have claimed connections with webhooks."""

    async def list_owed_webhooks(
        self,
        now: Instant,
        lease_time: Instant,
        *,
        clock_key: bytes | None = None,
        min_live_key: bytes = b"",
        at_start: bool = False,
    ) -> list[OwedWebhook]:
        """Return the claimed connections of a clock, or of all, whose bank may show something that is not announced.

        Without those whose lease has not ended at `lease_time`, and without those whose last call failed, until the
        next attempt. A server that starts tries at once.
        """

    async def lease_webhook(self, key: bytes, now: Instant, until: Instant) -> LeasedWebhook | None:
        """Let no other server call this webhook until then. Return None if another server may call it now."""

    async def end_webhook_lease(self, key: bytes, until: Instant, progress: WebhookProgress) -> bool:
        """Store what a lease has achieved, and end it. Return False if it has ended."""

    async def claim_connection(
        self, setup_digest: bytes, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes
    ) -> bytes | None:
        """Replace the setup secret of a connection with its access secret. Return the connection's key.

        Return None if the setup secret is unknown or used, or if the key of its clock is less than `min_live_key`.
        """

    async def find_connection(
        self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes, *, known_revision: int | None = None
    ) -> ConnectedClock | None:
        """Return the clock that an access secret opens, or None if the secret is unknown or the clock has expired."""

    async def require_login(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        """Make the bank require a new login. Return False if the secret is unknown or the clock has expired."""

    async def end_connection(self, access_digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
        """Delete the connection. Return False if the secret is unknown or the clock has expired."""

    async def find_institution(self, key: bytes, min_live_key: bytes) -> str | None:
        """Return the name of the institution of a connection, or of a clock. Return None if the clock has expired."""

    async def repair_login(
        self, access_digest: bytes, setup_digest: bytes, owner: Owner, min_live_key: bytes, repair: Repair
    ) -> bool:
        """End the login that the bank requires, begin the consent anew, and replace the settings.

        `repair` gets the settings and the clock's time, and returns the new settings. The setup secret can be exchanged
        for another access secret, and until then the present one stays valid. Return False if the owner has no such
        connection.
        """

    async def create_link_token(
        self, new: StoredLinkToken, digest: bytes, token: Token, limit: int
    ) -> Created | TooManyLinkTokens:
        """Store a new link token, unless the user has `limit` live ones already.

        Raise UNAUTHENTICATED if the access token was revoked.
        """

    async def find_link_token(self, digest: bytes, now: Instant) -> tuple[StoredLinkToken, Token] | None:
        """Return a valid link token, and the access token that created it, or None if either has ended."""

    async def sweep(self, now: Instant, limit: int) -> int:
        """Delete up to `limit` expired rows of each kind. Return their number."""

    def load(self) -> Load:
        """Return how busy the store is."""

    async def close(self) -> None:
        """Finish accepted calls, then close the database."""
