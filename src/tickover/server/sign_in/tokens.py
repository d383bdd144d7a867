"""Creates secrets and IDs, and digests of secrets for the database.

The database alone is not enough to sign in. It has SHA-256 digests of tokens and links, which have 256 random bits.
Codes have only a million values, so it has their HMACs, with a key outside of the database.
"""

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Final

from tickover.api.ids import uuid7
from tickover.api.limits import CODE_DIGITS
from tickover.api.timestamps import Instant, to_micros

Entropy = Callable[[int], bytes]

_BEARER: Final = re.compile(rb"(?i:bearer) +(tk[oa]_[A-Za-z0-9_-]{43}) *")


class Permission(IntEnum):
    """The operations that a token can call. Each permission includes the smaller ones."""

    READ = 1
    """Operations that change nothing. A read-only access token has no other permission."""
    WRITE = 2
    """Operations that change clocks. Every other access token has this permission."""
    SESSION = 3
    """Operations on tokens. Only the token of a session has this permission, so a leaked token can't be extended."""


class Mint:
    """Creates secrets and IDs. Tests pass their own entropy to make them predictable."""

    def __init__(self, secret_key: bytes, entropy: Entropy = os.urandom) -> None:
        self._secret_key = secret_key
        self._signing_key = hmac.digest(secret_key, b"sign", "sha256")
        self._entropy = entropy

    def new_key(self, created_at: Instant) -> bytes:
        """Return the 16 bytes of a new ID."""
        return uuid7(created_at, self._entropy(10))

    def new_code(self) -> str:
        # 64 random bits modulo a million have a bias below 1 in 10^13.
        number = int.from_bytes(self._entropy(8), "big") % 10**CODE_DIGITS
        return f"{number:0{CODE_DIGITS}}"

    def new_secret(self) -> str:
        """Return the secret of a link or a connection."""
        return base64.urlsafe_b64encode(self._entropy(32)).rstrip(b"=").decode()

    def new_bearer_token(self) -> str:
        return "tko_" + self.new_secret()

    def new_access_token(self) -> str:
        return "tka_" + self.new_secret()

    def code_digest(self, email: str, sent_at: Instant, code: str) -> bytes:
        """Return the stored digest of a code. It depends on the email, so that equal codes have different digests."""
        return hmac.digest(self._secret_key, f"code\n{email}\n{to_micros(sent_at)}\n{code}".encode(), "sha256")

    def network_digest(self, network: str) -> bytes:
        """Return the stored digest of a client's network, which hides the address."""
        return hmac.digest(self._secret_key, f"network\n{network}".encode(), "sha256")[:16]

    def sign(self, purpose: bytes, message: bytes) -> bytes:
        """Return a digest that only servers with the same secret key can compute."""
        # Several times as fast as an HMAC of OpenSSL.
        return hashlib.blake2b(message, key=self._signing_key, person=purpose, digest_size=32).digest()

    def key_fingerprint(self) -> bytes:
        """Return a digest that identifies the secret key without revealing it."""
        return hmac.digest(self._secret_key, b"fingerprint", "sha256")[:16]


def digest(secret: str) -> bytes:
    """Return the stored digest of a bearer token or a link's secret."""
    return hashlib.sha256(secret.encode()).digest()


def read_bearer_token(authorization: bytes) -> str | None:
    """Return the token in an Authorization header, or None if it has no well-formed token."""
    match = _BEARER.fullmatch(authorization)
    return match[1].decode() if match else None
