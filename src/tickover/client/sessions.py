"""Who asks which server: what both kinds of client hold, and check, in the same way."""

import re
from typing import Any, Final

from tickover.client.calls import Call
from tickover.core.results import SignedIn

DEFAULT_URL: Final = "http://127.0.0.1:8000"
_TOKEN: Final = re.compile("[!-~]+")


class Session:
    """The server's url, the token that signing in gave, and how often calls are tried again."""

    def __init__(self, url: str, token: str | None, retries: int) -> None:
        if retries < 0:
            raise ValueError("the number of retries must be 0 or more")
        self._url = url.rstrip("/")
        self.token = token
        self._retries = retries

    @property
    def url(self) -> str:
        """Where the server is, without a slash at the end."""
        return self._url

    @property
    def token(self) -> str | None:
        """The bearer token, or None when nobody is signed in."""
        return self._token

    @token.setter
    def token(self, token: str | None) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise ValueError("a token is one word of ASCII characters, just as signing in gave it")
        self._token = token

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {'not signed in' if self._token is None else 'signed in'})"

    def _token_for(self, call: Call[Any]) -> str | None:
        return self._token if call.signed else None

    def _keep(self, signed_in: SignedIn) -> SignedIn:
        self.token = signed_in.token
        return signed_in
