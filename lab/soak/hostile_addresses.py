"""Generates hostile email addresses from a grammar, and checks them. A seed always gives the same addresses.

Each is rejected, or has one canonical form of harmless characters.
"""

import random
import re
import string
import time
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

import idna

from tickover.server.sign_in.email_addresses import EmailAddress

ATEXT: Final = string.ascii_letters + string.digits + "!#$%&'*+-/=?^_`{|}~"
SPECIALS: Final = ' "(),:;<>@[\\]'
CONTROLS: Final = ["\0", "\r", "\n", "\r\n", "\t", "\x1b", "\x1b[2J", "\x1b]0;x\x07", "\x7f", "\x80", "\x85", "\x9b31m"]
FORMATS: Final = list(
    "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066\u2069\ufeff\ufff9\U000e0001"
    "\u034f\u115f\u17b4\u180b\u2800\u3164\ufe0f\uffa0\U000e0100"
)
SPACES: Final = list("\u00a0\u1680\u2003\u202f\u205f\u3000\u00b4\u037a")
FULL_WIDTH: Final = list(
    "\uff20\ufe6b\uff1c\uff1e\uff0c\uff0e\uff1a\uff1b\uff08\uff3b\uff3c\uff02\uff21\uff41\uff10\ufe52"
)
MARKS: Final = list("\u0301\u0316\u0338\u0327\u20dd\ufe0f\u0903")
ALPHABET: Final = list(
    "\u00e9\u00fc\u00df\u0130\u0131\u017f\u212a\u03c2\u0434\u05d0\u0627\u4e2d\uac00\U00020000\u0301n\u1112\u1161"
)
UNUSUAL: Final = list(
    "\ufdfa\ufdfb\u2026\u2488\u1fef\u037e\u226e\u00a8\ufb01\u3251\U0001f600\ue000\U0010ffff\u0378\ud800\udfff"
)
DOTS: Final = list(".\u3002\uff0e\uff61\u2024")
ATTACKS: Final = [
    "\r\nRCPT TO:<eve@example.com>", "> SIZE=1", "\r\nBcc: eve@example.com", "\r\n.\r\n", "<script>", "%0d%0a",
    ",eve@example.com", ";eve@example.com", " eve@example.com", "\0eve@example.com", "(eve)",
    "@eve.example.com:", "=?utf-8?q?x?=", "\x1b[31m",
]  # fmt: skip


COMMENTS: Final = ["(a)", "((a)b)", "(\r\n)", "(", "(a@b.test)"]
NUMBERS: Final = [
    "127.0.0.1", "1.2.3", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "a.0x", "x.1", "::1", "fe80::1",
    "999.1.1.1", "tag:x", "",
]  # fmt: skip


def generate(seed: int, count: int) -> Iterator[str]:
    """Yield this many addresses, about a third of them valid."""
    grammar = _Grammar(random.Random(seed))
    return (grammar.address() for _ in range(count))


class _Grammar:
    def __init__(self, generator: random.Random) -> None:
        self._random = generator

    def address(self) -> str:
        """Return one address. Most break at most one rule, because the first broken rule rejects an address."""
        text = f"{self._local()}@{self._domain()}"
        while self._random.random() < 0.25:
            text = self._changed(text)
        return text

    def _some(self, characters: str | list[str], most: int) -> str:
        return "".join(self._random.choices(characters, k=self._random.randint(1, most)))

    def _length(self) -> int:
        """Return a usually short length, and sometimes one at or above a limit."""
        return self._random.choice([3, 3, 3, 8, 8, 20, 62, 63, 64, 65, 250])

    def _local(self) -> str:
        kind = self._random.randrange(4)
        if kind == 0:
            return self._quoted()
        if kind == 1:
            alphabet = ALPHABET + MARKS if self._random.random() < 0.8 else ALPHABET + UNUSUAL + FULL_WIDTH + SPACES
            return self._some(ATEXT, 3) + self._some(alphabet, self._random.choice([2, 5, 21, 32, 64]))
        return ".".join(self._some(ATEXT, self._length()) for _ in range(self._random.randint(1, 3)))

    def _quoted(self) -> str:
        """Return a quoted string with escapes, mostly with valid characters."""
        characters = [*ATEXT, *ATEXT, *" .@", *SPECIALS, *ALPHABET]
        if self._random.random() < 0.3:
            characters += CONTROLS + FORMATS + SPACES + UNUSUAL
        return f'"{"".join(map(self._escaped, self._some(characters, 20)))}"'

    def _escaped(self, character: str) -> str:
        must_escape = character in '"\\' and self._random.random() < 0.95
        return f"\\{character}" if must_escape or self._random.random() < 0.05 else character

    def _domain(self) -> str:
        share = self._random.random()
        if share < 0.5:
            characters = string.ascii_letters + string.digits + "-" * (share < 0.05)
            labels = [self._some(characters, self._length()) for _ in range(self._random.choice([1, 2, 2, 3, 5, 40]))]
            return ".".join([*labels, self._random.choice(["com", "test", "TEST", "localhost", "x", "co-op", "9"])])
        if share < 0.8:
            alphabet = ALPHABET if share < 0.7 else ALPHABET + MARKS + UNUSUAL + FULL_WIDTH + FORMATS
            lengths = self._random.choices([1, 3, 10, 30, 84], k=self._random.randint(1, 3))
            return self._random.choice(DOTS).join([*(self._some(alphabet, length) for length in lengths), "test"])
        if share < 0.87:
            encoded = self._some([*ALPHABET, *UNUSUAL[:6], "a"], 6).encode("punycode", "replace").decode()
            broken = self._some(string.ascii_lowercase + string.digits + "-", 20)
            prefix = self._random.choice(["xn--", "XN--", "xn---", "ab--"])
            return f"{prefix}{self._random.choice([encoded, encoded, broken])}.test"
        number = self._random.choice(NUMBERS)
        number = number if self._random.random() < 0.7 else number.translate(_FULL_WIDTH_DIGITS)
        zone = self._random.choice(["", "%", "%eth0", "%25en0", *ATTACKS, *CONTROLS])
        return self._random.choice(["[{}]", "[IPv6:{}]", "{}", "[{}", "[[{}]]", "[{}].test"]).replace(
            "{}", number + zone
        )

    def _changed(self, text: str) -> str:
        """Make a change that may break a rule."""
        position = self._random.randint(0, len(text))
        attack = self._random.choice(ATTACKS + COMMENTS)
        changes = [
            text[:position] + self._random.choice(self._random.choice(_INSERTIONS)) + text[position:],
            text[:position] + text[position + 1 :],
            text + attack,
            attack + text,
            text.replace("@", f"{attack}@", 1),
            self._random.choice([f"Ana <{text}>", f"<{text}>", f'"Ana" <{text}>', f"mailto:{text}", f" {text} "]),
            text.replace(self._random.choice("@.a"), self._random.choice(["@@", "..", "a" * 70, "\ufdfa" * 84]), 1),
        ]
        return self._random.choice([*changes[:1], *changes])


_FULL_WIDTH_DIGITS: Final = {ord(digit): 0xFF10 + int(digit) for digit in string.digits}
_INSERTIONS: Final = [CONTROLS, FORMATS, SPACES, FULL_WIDTH, MARKS, ALPHABET, UNUSUAL, DOTS, list(SPECIALS)]


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
    assert not set(content) & set(FORMATS), known


def check_other_spellings(known: str) -> None:
    """Check that other ways to write the same address have the same canonical form."""
    local, _, domain = known.rpartition("@")
    spellings = [known, known.translate(CASE), f"{local}@{idna.decode(domain)}"]
    if not local.startswith('"') and len(local.encode()) <= 62:
        spellings += [f'"{local}"@{domain}', f'"\\{local}"@{domain}']
    for spelling in spellings:
        if len(spelling.encode()) <= 254 and len(spelling.rpartition("@")[0].encode()) <= 64:
            assert EmailAddress.parse(spelling) == known, spelling


def parse(text: str) -> str | None:
    """Return the canonical form, or None if the address is rejected with a documented message."""
    try:
        return EmailAddress.parse(text)
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
    for text in generate(seed, count):
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
