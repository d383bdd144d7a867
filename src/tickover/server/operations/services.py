"""What the handlers of operations share: the store, the mailer, and caches of clocks, ledgers and tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from msgspec.structs import replace

from tickover.api.errors import Fault, invalid_params
from tickover.api.limits import FIXED_CODE_FAILURE_LIFETIME
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.operations.access import Access
from tickover.server.operations.call_log import CallLog
from tickover.server.operations.ledgers import Ledgers
from tickover.server.operations.stored_clocks import Clocks
from tickover.server.settings import Settings
from tickover.server.sign_in.mail.mailer import Mailer
from tickover.server.sign_in.resend_limits import SendLimits
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import Quota, Store


@dataclass
class Services:
    store: Store
    mailer: Mailer
    mint: Mint
    settings: Settings
    """With the public URL, also if it is the address that the server listens on."""
    isolated_process: IsolatedProcess
    describe: Callable[[], bytes]
    """Returns the OpenRPC document."""
    clock_changed: Callable[[bytes], None] = lambda _: None
    """Is called after a change of what the bank shows, with the key of the clock."""
    webhook_changed: Callable[[], None] = lambda: None
    """Is called when a connection may have a webhook that it had not before."""

    def __post_init__(self) -> None:
        settings = self.settings
        self.access = Access(self.store, settings.client_burst, settings.client_refill)
        self.clocks = Clocks(self.store, Quota(settings.max_clocks_per_user, settings.max_bytes_per_user))
        self.ledgers = Ledgers()
        self.call_log = CallLog(self.store)
        self.send_limits = SendLimits(
            resend_interval=timedelta(seconds=settings.resend_seconds),
            sends_an_hour=settings.sends_per_hour,
            sends_an_hour_from_one_network=settings.sends_per_hour_per_network,
        )

    def allows(self, email: str) -> bool:
        """Return whether people with this address may sign in."""
        allowed = self.settings.allowed_emails
        return not allowed or email in allowed or f"@{email.rpartition('@')[2]}" in allowed

    def check_allowed(self, email: str) -> None:
        """Raise INVALID_PARAMS if this address must not sign in."""
        if not self.allows(email):
            raise invalid_params([Fault("email", "allowed", "must be an address that may sign in at this server")])

    def limits_of(self, email: str) -> SendLimits:
        """Return the limits on emails and attempts for this address."""
        if email.rpartition("@")[2] in self.settings.test_codes:
            # No link can reach the address, so nothing else would unlock it.
            return replace(self.send_limits, failure_lifetime=FIXED_CODE_FAILURE_LIFETIME)
        return self.send_limits
