"""Secrets: their forms, what is kept of them, and which Authorization headers carry a token (decisions 31, 33, 38)."""

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tickover.api import ids
from tickover.server.domain.tokens import Mint, digest, read_bearer_token

NOW = datetime(2027, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
KEY = b"a key for tests alone"
TOKEN = "tko_" + "aZ09_-x" * 6 + "y"


def mint_of(number: int) -> Mint:
    """A mint whose random bytes are this number, and no more of them than are asked for."""
    return Mint(KEY, lambda count: number.to_bytes(count, "big"))


def counting(count: int) -> bytes:
    """Random bytes that a test can know: 0, 1, 2 and so on."""
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
def test_a_code_is_always_six_digits(number: int, code: str) -> None:
    assert mint_of(number).new_code() == code


def test_codes_of_the_real_source_are_six_digits_and_differ() -> None:
    codes = {Mint(KEY).new_code() for _ in range(200)}
    assert all(re.fullmatch("[0-9]{6}", code) for code in codes)
    # Of a million, two hundred are almost surely almost all different; a source that is stuck gives one.
    assert len(codes) > 150


def test_a_bearer_token_is_256_random_bits_behind_its_prefix() -> None:
    token = Mint(KEY, counting).new_bearer_token()
    assert token.startswith("tko_")
    assert base64.urlsafe_b64decode(token.removeprefix("tko_") + "=") == bytes(range(32))


def test_the_secret_of_a_link_is_256_random_bits() -> None:
    secret = Mint(KEY, counting).new_link_secret()
    assert base64.urlsafe_b64decode(secret + "=") == bytes(range(32))


@pytest.mark.parametrize("make", [Mint.new_bearer_token, Mint.new_link_secret], ids=["token", "link"])
def test_a_secret_fits_in_a_header_and_in_an_address_and_is_never_made_twice(make: Callable[[Mint], str]) -> None:
    mint = Mint(KEY, os.urandom)
    made = {make(mint) for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch("[A-Za-z0-9_-]+", secret) for secret in made)


def test_a_new_key_carries_its_birth_and_ten_random_bytes() -> None:
    assert Mint(KEY, counting).new_key(NOW) == ids.uuid7(NOW, bytes(range(10)))


def test_what_is_kept_of_a_token_is_its_sha_256() -> None:
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
def test_what_is_kept_of_a_code_differs_by_address_time_and_code(other: tuple[str, datetime, str]) -> None:
    mint = Mint(KEY)
    assert mint.code_digest(*SENT) == mint.code_digest(*SENT)
    assert mint.code_digest(*SENT) != mint.code_digest(*other)


def test_what_is_kept_of_a_code_differs_by_the_secret_key() -> None:
    assert Mint(KEY).code_digest(*SENT) != Mint(KEY + b"!").code_digest(*SENT)


def test_what_is_kept_of_a_code_is_32_bytes_and_no_digest_of_the_code_alone() -> None:
    kept = Mint(KEY).code_digest(*SENT)
    assert len(kept) == 32
    assert kept not in {digest("123456"), hmac.digest(KEY, b"123456", "sha256")}


def test_a_code_for_an_address_beyond_ascii_is_kept_too() -> None:
    assert len(Mint(KEY).code_digest("ána@example.test", NOW, "123456")) == 32


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
def test_a_bearer_token_is_read_from_its_header(header: bytes) -> None:
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
        pytest.param(b"Be\xe0rer " + TOKEN.encode(), id="scheme of other letters"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"," + TOKEN.encode(), id="two tokens with a comma"),
        pytest.param(b"Bearer " + TOKEN.encode() + b" " + TOKEN.encode(), id="two tokens with a space"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1], id="a letter short"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"z", id="a letter long"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"=", id="with padding"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"\n", id="line break at the end"),
        pytest.param(b'Bearer "' + TOKEN.encode() + b'"', id="in quotes"),
        pytest.param(b"Bearer " + TOKEN.encode().replace(b"tko_", b"TKO_"), id="prefix in upper case"),
        pytest.param(b"Bearer " + TOKEN.encode().removeprefix(b"tko_"), id="no prefix"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1] + b"+", id="letter of another alphabet"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1] + b"\xe9", id="letter beyond ASCII"),
        pytest.param(b"Bearer " + b"\xff" * 47, id="no text at all"),
        pytest.param(b"Bearer " + b"a" * 1_000_000, id="a megabyte"),
    ],
)
def test_any_other_header_carries_no_token(header: bytes) -> None:
    assert read_bearer_token(header) is None


def test_a_token_that_was_made_can_be_read() -> None:
    token = Mint(KEY).new_bearer_token()
    assert read_bearer_token(f"Bearer {token}".encode()) == token


def test_fingerprints_are_equal_only_for_equal_keys() -> None:
    fingerprints = [Mint(key).key_fingerprint() for key in (b"one key", b"one key", b"another key")]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
