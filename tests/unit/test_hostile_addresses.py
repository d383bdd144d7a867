"""Generated hostile addresses: each is rejected, or has one canonical form of harmless characters.

HOSTILE_ADDRESSES=1000000 tries a million of them.
"""

import re
import string
import unicodedata
from types import SimpleNamespace

import idna
import pytest

from tests.support import hostile_addresses
from tickover.server.domain import email_addresses

CASE = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
DOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
NOT_IN_AN_ATOM = re.compile(r"[\x00-\x20\x7f<>(),;:\\\[\]@\"A-Z]")
NOT_IN_QUOTES = re.compile(r"[\x00-\x1f\x7fA-Z]")


def check_characters(known: str) -> None:
    """Check the canonical form against an independent whitelist."""
    local, _, domain = known.rpartition("@")
    assert DOMAIN.fullmatch(domain), known
    assert not re.search(r"\.\.|\.-|-\.", domain), known
    assert not re.fullmatch(r"[0-9]+|0x[0-9a-f]*", domain.rpartition(".")[2]), known
    assert len(local.encode()) <= 64, known
    assert len(known.encode()) <= 254, known
    if local.startswith('"'):
        content = local[1:-1]
        assert local.endswith('"'), known
        assert not NOT_IN_QUOTES.search(content), known
        assert '"' not in re.sub(r'\\["\\]', "", content), known
        assert "\\" not in re.sub(r'\\["\\]', "", content), known
        content = content.replace(" ", "")
    else:
        content = local.replace(".", "")
        assert not NOT_IN_AN_ATOM.search(content), known
        assert all(local.split(".")), known
    assert {unicodedata.category(character)[0] for character in content} <= set("LMNPS"), known
    assert not set(content) & set(hostile_addresses.FORMATS), known


def check_other_spellings(known: str) -> None:
    """Check that other ways to write the same address have the same canonical form."""
    local, _, domain = known.rpartition("@")
    spellings = [known, known.translate(CASE), f"{local}@{idna.decode(domain)}"]
    if not local.startswith('"') and len(local.encode()) <= 62:
        spellings += [f'"{local}"@{domain}', f'"\\{local}"@{domain}']
    for spelling in spellings:
        if len(spelling.encode()) <= 254 and len(spelling.rpartition("@")[0].encode()) <= 64:
            assert email_addresses.parse(spelling) == known, spelling


def parse(text: str) -> str | None:
    """Return the canonical form, or None if the address is rejected with a documented message."""
    try:
        return email_addresses.parse(text)
    except ValueError as rejection:
        error = str(rejection)
    assert re.fullmatch(r"must be (one email address, such as ana@example\.com|at most 254 bytes in UTF-8)", error), (
        text
    )
    return None


@pytest.mark.parametrize("part", range(8))
def test_hostile_address_is_rejected_or_has_one_canonical_form(part: int) -> None:
    count = hostile_addresses.count(default=4_000) // 8
    accepted = 0
    for text in hostile_addresses.generate(part, count):
        known = parse(text)
        if known is not None:
            accepted += 1
            check_characters(known)
            check_other_spellings(known)
    assert count * 0.1 < accepted < count * 0.7, "the grammar makes good and bad ones"


def test_only_harmless_characters_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    def accept(text: str, **_: object) -> SimpleNamespace:
        return SimpleNamespace(ascii_domain=text.rpartition("@")[2].lower())

    monkeypatch.setattr(email_addresses, "validate_email", accept)
    accepted = [known for text in hostile_addresses.generate(8, 2_000) if (known := parse(text)) is not None]
    assert len(accepted) > 200
    for known in accepted:
        check_characters(known)
