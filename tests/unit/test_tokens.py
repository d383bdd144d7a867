"""Secrets: their forms and digests, and tokens in Authorization headers."""

import base64
import hmac
from datetime import UTC, datetime, timedelta

import pytest

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


@pytest.mark.parametrize(("number", "code"), [(7, "000007"), (999_999, "999999"), (1_000_000, "000000")])
def test_code_has_six_digits(number: int, code: str) -> None:
    assert mint_of(number).new_code() == code


def test_secrets_are_256_random_bits() -> None:
    mint = Mint(KEY, counting)
    for secret in (mint.new_secret(), mint.new_bearer_token().removeprefix("tko_")):
        assert base64.urlsafe_b64decode(secret + "=") == bytes(range(32))
    assert read_bearer_token(b"Bearer " + mint.new_bearer_token().encode()) == mint.new_bearer_token()
    assert Mint(KEY).new_secret() != Mint(KEY).new_secret()


SENT = ("ana@example.test", NOW, "123456")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("ben@example.test", NOW, "123456"), id="another address"),
        pytest.param(("ana@example.test", NOW + timedelta(microseconds=1), "123456"), id="a microsecond later"),
        pytest.param(("ana@example.test", NOW, "123457"), id="another code"),
    ],
)
def test_code_digest_depends_on_address_time_code_and_key(other: tuple[str, datetime, str]) -> None:
    mint = Mint(KEY)
    assert mint.code_digest(*SENT) == mint.code_digest(*SENT)
    assert len({mint.code_digest(*SENT), mint.code_digest(*other), Mint(KEY + b"!").code_digest(*SENT)}) == 3
    assert mint.code_digest(*SENT) not in {digest("123456"), hmac.digest(KEY, b"123456", "sha256")}


@pytest.mark.parametrize("header", [b"Bearer %b", b"bEaReR %b", b"Bearer   %b "])
def test_bearer_token_is_parsed_from_header(header: bytes) -> None:
    assert read_bearer_token(header % TOKEN.encode()) == TOKEN


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(TOKEN.encode(), id="token alone"),
        pytest.param(b"Basic " + TOKEN.encode(), id="another scheme"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"," + TOKEN.encode(), id="two tokens with a comma"),
        pytest.param(b"Bearer " + TOKEN.encode()[:-1], id="one character short"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"z", id="one character long"),
        pytest.param(b"Bearer " + TOKEN.encode() + b"\n", id="line break at the end"),
        pytest.param(b"Bearer " + b"a" * 1_000_000, id="a megabyte"),
    ],
)
def test_other_headers_have_no_token(header: bytes) -> None:
    assert read_bearer_token(header) is None


def test_fingerprints_are_equal_only_for_equal_keys() -> None:
    fingerprints = [Mint(key).key_fingerprint() for key in (b"one key", b"one key", b"another key")]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
