"""What the handlers of operations share: the store, the mailer, and caches of clocks, ledgers and tokens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from msgspec import Struct

from tickover.api.limits import CLIENT_BURST, CLIENT_REFILL
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.operations.access import Access
from tickover.server.operations.clocks import Clocks
from tickover.server.operations.ledgers import Ledgers
from tickover.server.sign_in.logins import Limits
from tickover.server.sign_in.mail.mailer import Mailer
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import Quota, Store


class Policy(Struct, frozen=True):
    """The limits and URL that the operator configures."""

    public_url: str
    max_clocks_per_user: int
    max_bytes_per_user: int = 0
    logins: Limits = Limits()
    test_codes: Mapping[str, str] = {}
    """Fixed codes by the domain of the address."""
    client_burst: int = CLIENT_BURST
    client_refill: float = CLIENT_REFILL


@dataclass
class Services:
    store: Store
    mailer: Mailer
    mint: Mint
    policy: Policy
    isolated_process: IsolatedProcess
    describe: Callable[[], bytes]
    """Returns the OpenRPC document."""

    def __post_init__(self) -> None:
        self.access = Access(self.store, self.policy.client_burst, self.policy.client_refill)
        self.clocks = Clocks(self.store, Quota(self.policy.max_clocks_per_user, self.policy.max_bytes_per_user))
        self.ledgers = Ledgers()
