"""Secrets: their forms and digests, and tokens in Authorization headers."""

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tickover.api import ids
from tickover.server.sign_in.tokens import Mint, digest, read_bearer_token

NOW = datetime(2027, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
KEY = b"a key for tests alone"
TOKEN = "tko_" + "aZ09_-x" * 6 + "y"


def mint_of(number: int) -> Mint:
    """Return a mint whose random bytes encode this number."""
    return Mint(KEY, lambda count: number.to_bytes(count, "big"))


def counting(count: int) -> bytes:
    """Predictable random bytes: 0, 1, 2 and so on."""
    return bytes(range(count))


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(0, "000000", id="all zeros"),
        pytest.param(7, "000007", id="five leading zeros"),
        pytest.param(12_345, "012345", id="one leading zero"),
        pytest.param(100_000, "100000", id="no leading zero"),
        pytest.param(999_999, "999999", id="largest"),
        pytest.param(1_000_000, "000000", id="one more than the largest"),
        pytest.param(2**64 - 1, "551615", id="largest random number"),
    ],
)
def test_code_has_six_digits(number: int, code: str) -> None:
    assert mint_of(number).new_code() == code


def test_bearer_token_is_prefix_and_256_random_bits() -> None:
    token = Mint(KEY, counting).new_bearer_token()
    assert token.startswith("tko_")
    assert base64.urlsafe_b64decode(token.removeprefix("tko_") + "=") == bytes(range(32))


def test_link_secret_has_256_random_bits() -> None:
    secret = Mint(KEY, counting).new_link_secret()
    assert base64.urlsafe_b64decode(secret + "=") == bytes(range(32))


@pytest.mark.parametrize("make", [Mint.new_bearer_token, Mint.new_link_secret])
def test_secrets_are_url_safe_and_unique(make: Callable[[Mint], str]) -> None:
    mint = Mint(KEY, os.urandom)
    made = {make(mint) for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch("[A-Za-z0-9_-]+", secret) for secret in made)


def test_new_key_contains_creation_time_and_random_bytes() -> None:
    assert Mint(KEY, counting).new_key(NOW) == ids.uuid7(NOW, bytes(range(10)))


def test_token_digest_is_sha_256() -> None:
    assert digest(TOKEN) == hashlib.sha256(TOKEN.encode()).digest()


SENT = ("ana@example.test", NOW, "123456")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("ben@example.test", NOW, "123456"), id="another address"),
        pytest.param(("ana@example.test", NOW + timedelta(microseconds=1), "123456"), id="a microsecond later"),
        pytest.param(("ana@example.test", NOW, "123457"), id="another code"),
        pytest.param(("ana@example.test", NOW, "12345"), id="a shorter code"),
    ],
)
def test_code_digest_depends_on_address_time_and_code(other: tuple[str, datetime, str]) -> None:
    mint = Mint(KEY)
    assert mint.code_digest(*SENT) == mint.code_digest(*SENT)
    assert mint.code_digest(*SENT) != mint.code_digest(*other)


def test_code_digest_depends_on_the_secret_key() -> None:
    assert Mint(KEY).code_digest(*SENT) != Mint(KEY + b"!").code_digest(*SENT)


def test_code_digest_is_32_bytes_and_not_a_plain_hash() -> None:
    stored = Mint(KEY).code_digest(*SENT)
    assert len(stored) == 32
    assert stored not in {digest("123456"), hmac.digest(KEY, b"123456", "sha256")}


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"Bearer %b", id="as documented"),
        pytest.param(b"bearer %b", id="lower case"),
        pytest.param(b"BEARER %b", id="upper case"),
        pytest.param(b"bEaReR %b", id="mixed case"),
        pytest.param(b"Bearer   %b", id="several spaces"),
        pytest.param(b"Bearer %b ", id="space at the end"),
    ],
)
def test_bearer_token_is_parsed_from_header(header: bytes) -> None:
    assert read_bearer_token(header % TOKEN.encode()) == TOKEN


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"", id="empty header"),
        pytest.param(b"Bearer", id="scheme alone"),
        pytest.param(b"Bearer ", id="scheme and a space"),
        pytest.param(TOKEN.encode(), id="token alone"),
        pytest.param(b" " + TOKEN.encode(), id="token behind a space"),
        pytest.param(b" Bearer " + TOKEN.encode(), id="space at the start"),
        pytest.param(b"Bearer" + TOKEN.encode(), id="no space"),
        pytest.param(b"Bearer\t" + TOKEN.encode(), id="tab for the space"),
        pytest.param(b"Bearer \t" + TOKEN.encode(), id="tab behind the space"),
        pytest.param(b"Bearer: " + TOKEN.encode(), id="colon behind the scheme"),
        pytest.param(b"Basic " + TOKEN.encode(), id="another scheme"),
        pytest.param(b"Token " + TOKEN.encode(), id="no scheme at all"),
        pytest.param(b"Be\xe0rer " + TOKEN.encode(), id="scheme with an accent"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"," + TOKEN.encode(), id="two tokens with a comma"),
        pytest.param(b"Bearer " + TOKEN.encode() + b" " + TOKEN.encode(), id="two tokens with a space"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1], id="one character short"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"z", id="one character long"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"=", id="with padding"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"\n", id="line break at the end"),
        pytest.param(b'Bearer "' + TOKEN.encode() + b'"', id="in quotes"),
        pytest.param(b"Bearer " + TOKEN.encode().replace(b"tko_", b"TKO_"), id="prefix in upper case"),
        pytest.param(b"Bearer " + TOKEN.encode().removeprefix(b"tko_"), id="no prefix"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1] + b"+", id="invalid character"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1] + b"\xe9", id="non-ASCII character"),
        pytest.param(b"Bearer " + b"\xff" * 47, id="invalid text"),
        pytest.param(b"Bearer " + b"a" * 1_000_000, id="a megabyte"),
    ],
)
def test_other_headers_have_no_token(header: bytes) -> None:
    assert read_bearer_token(header) is None


def test_fingerprints_are_equal_only_for_equal_keys() -> None:
    fingerprints = [Mint(key).key_fingerprint() for key in (b"one key", b"one key", b"another key")]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
