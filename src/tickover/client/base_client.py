"""State and validation that the sync and the async client share."""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from tickover.api.clocks import Snapshot
from tickover.api.plans import PlannedItem
from tickover.api.tokens import SignedIn
from tickover.client.amendments import AmendmentRecord, Item, record_amendment
from tickover.client.calls import Call

DEFAULT_URL: Final = "http://127.0.0.1:8000"
_MAX_AMENDMENTS: Final = 100
_TOKEN: Final = re.compile("[!-~]+")


class BaseClient:
    """The server's URL, the token and the number of retries."""

    def __init__(self, url: str, token: str | None, retries: int) -> None:
        if retries < 0:
            raise ValueError("retries must be 0 or more")
        self._url = url.rstrip("/")
        self.token = token
        self._retries = retries
        self.amendments: deque[AmendmentRecord] = deque(maxlen=_MAX_AMENDMENTS)
        """The last amendments that this client made, oldest first."""

    @property
    def url(self) -> str:
        """The server's URL without a trailing slash."""
        return self._url

    @property
    def token(self) -> str | None:
        """The bearer token, or None if the client isn't signed in."""
        return self._token

    @token.setter
    def token(self, token: str | None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("a token must consist of printable ASCII characters without spaces")
        self._token = token

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {'not signed in' if self._token is None else 'signed in'})"

    def _token_for(self, call: Call[Any]) -> str | None:
        return self._token if call.needs_token else None

    def _record(self, clock: Snapshot, add: Sequence[PlannedItem], cancel: Sequence[Item]) -> Snapshot:
        self.amendments.append(record_amendment(clock, add, cancel))
        return clock

    def _store_token(self, signed_in: SignedIn) -> SignedIn:
        self.token = signed_in.token
        return signed_in
