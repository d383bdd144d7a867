"""Checks of hostile addresses: each is rejected, or has one canonical form of harmless characters."""

import re
import string
import time
import unicodedata
from typing import NamedTuple

import idna

from tests.support import hostile_addresses
from tickover.server.sign_in import email_addresses

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


class Checked(NamedTuple):
    addresses: int
    accepted: int
    slowest_milliseconds: float
    """The CPU time of the slowest address."""


def check_addresses(seed: int, count: int, spellings_every: int = 1) -> Checked:
    """Check this many generated addresses.

    Other spellings take most of the time. They are checked for every nth accepted address.
    """
    accepted = 0
    slowest = 0.0
    parse("ana@éxample.test")  # loads the tables of IDNA
    for text in hostile_addresses.generate(seed, count):
        started = time.thread_time()
        known = parse(text)
        slowest = max(slowest, time.thread_time() - started)
        if known is not None:
            accepted += 1
            check_characters(known)
            if accepted % spellings_every == 0:
                check_other_spellings(known)
    assert count * 0.1 < accepted < count * 0.7, "the grammar makes valid and invalid addresses"
    return Checked(count, accepted, 1000 * slowest)
