"""Signatures of Plaid's webhooks: JSON web tokens, and the key that verifies them."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tickover.api.timestamps import Instant
from tickover.server.sign_in.tokens import Mint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The number of private keys of the curve P-256."""
_CREATED_AT: Final = 946_684_800


class PlaidSigner:
    """Signs with a key that follows from the server's secret key. So all servers have the same one."""

    def __init__(self, mint: Mint) -> None:
        self._mint = mint

    @cached_property
    def _key(self) -> "EllipticCurvePrivateKey":
        # Imported here because it takes long, and few servers need it.
        from cryptography.hazmat.primitives.asymmetric import ec

        seed = b"".join(self._mint.sign(b"webhook", part) for part in (b"1", b"2"))
        return ec.derive_private_key(int.from_bytes(seed, "big") % (_ORDER - 1) + 1, ec.SECP256R1())

    @cached_property
    def key_id(self) -> str:
        digest = self._mint.sign(b"webhook", b"id").hex()
        return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"

    def sign(self, body: bytes, now: Instant) -> str:
        """Return the header `Plaid-Verification` of a webhook."""
        import jwt

        claims = {"iat": int(now.timestamp()), "request_body_sha256": hashlib.sha256(body).hexdigest()}
        return jwt.encode(claims, self._key, "ES256", {"kid": self.key_id})

    @property
    def public_key(self) -> Mapping[str, Any]:
        """The key as a JSON web key, with the members of Plaid's."""
        from jwt.algorithms import ECAlgorithm

        members = ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        about = {"alg": "ES256", "use": "sig", "kid": self.key_id, "created_at": _CREATED_AT, "expired_at": None}
        return {**members, **about}
