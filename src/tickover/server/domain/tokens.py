"""Secrets and ids: where they come from, and what of them may be kept.

Nothing that leaves here for the database opens anything by itself: tokens and links are kept as SHA-256 digests of 256
random bits, and the million possible codes as HMACs under a key that is outside the database.
"""

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from typing import Final

from tickover.api.ids import uuid7
from tickover.api.limits import CODE_DIGITS
from tickover.api.timestamps import Instant, to_micros

Entropy = Callable[[int], bytes]

_BEARER: Final = re.compile(rb"(?i:bearer) +(tko_[A-Za-z0-9_-]{43}) *")


class Mint:
    """Makes what must not be guessed. Entropy is an argument so that a test can know every id beforehand."""

    def __init__(self, secret_key: bytes, entropy: Entropy = os.urandom) -> None:
        self._secret_key = secret_key
        self._entropy = entropy

    def new_key(self, born: Instant) -> bytes:
        """The sixteen bytes of a new id."""
        return uuid7(born, self._entropy(10))

    def new_code(self) -> str:
        # Sixty-four bits over a million: the bias is below one in 10^13.
        number = int.from_bytes(self._entropy(8), "big") % 10**CODE_DIGITS
        return f"{number:0{CODE_DIGITS}}"

    def new_link_secret(self) -> str:
        return self._random_text()

    def new_bearer_token(self) -> str:
        return "tko_" + self._random_text()

    def code_digest(self, email: str, sent_at: Instant, code: str) -> bytes:
        """What is kept of a code; bound to its letter, so that equal codes cannot be told from each other."""
        return hmac.digest(self._secret_key, f"code\n{email}\n{to_micros(sent_at)}\n{code}".encode(), "sha256")

    def network_digest(self, network: str) -> bytes:
        """What is kept of a client's network: enough to count by, and nothing to read."""
        return hmac.digest(self._secret_key, f"network\n{network}".encode(), "sha256")[:16]

    def key_fingerprint(self) -> bytes:
        """Equal for equal keys, and nothing can be read from it."""
        return hmac.digest(self._secret_key, b"fingerprint", "sha256")[:16]

    def _random_text(self) -> str:
        return base64.urlsafe_b64encode(self._entropy(32)).rstrip(b"=").decode()


def digest(secret: str) -> bytes:
    """What is kept of a bearer token or a link's secret."""
    return hashlib.sha256(secret.encode()).digest()


def read_bearer_token(authorization: bytes) -> str | None:
    """The token in an Authorization header, or None when it holds none of ours."""
    match = _BEARER.fullmatch(authorization)
    return match[1].decode() if match else None
