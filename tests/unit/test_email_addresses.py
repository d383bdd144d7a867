"""Email addresses: valid ones, their canonical form, and generated hostile ones."""

import pytest

from lab.soak.hostile_addresses import check_addresses
from tickover.server.sign_in.email_addresses import EmailAddress


@pytest.mark.parametrize(
    ("given", "known"),
    [
        pytest.param("ANA.B+Shop@EXAMPLE.com", "ana.b+shop@example.com", id="dots and plus parts stay"),
        pytest.param("ana@x.1a", "ana@x.1a", id="last label that begins like a number"),
        pytest.param("ana@BÜCHER.test", "ana@xn--bcher-kva.test", id="domain in upper case to IDNA form"),
        pytest.param("ana@XN--BCHER-KVA.test", "ana@xn--bcher-kva.test", id="domain in IDNA form already"),
        pytest.param("ana@straße.test", "ana@xn--strae-oqa.test", id="sharp s in the domain stays itself"),
        pytest.param("Ána@example.com", "Ána@example.com", id="accented upper case is not folded"),
        pytest.param("a\u0301na@example.com", "a\u0301na@example.com", id="combining accent is not composed"),
        pytest.param('"Ana@Home"@example.com', '"ana@home"@example.com', id="quoted with an at sign"),
        pytest.param("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com", id="every odd sign"),
        pytest.param('"ANA"@example.test', "ana@example.test", id="redundant quotes"),
        pytest.param('"a\\na"@example.test', "ana@example.test", id="redundant escape and quotes"),
        pytest.param('"a..b"@example.test', '"a..b"@example.test', id="two dots need quotes"),
        pytest.param('"a\\"b\\\\c"@example.test', '"a\\"b\\\\c"@example.test', id="needed escapes"),
        pytest.param(f"{'a' * 64}@{'d' * 63}.test", f"{'a' * 64}@{'d' * 63}.test", id="longest local part and label"),
    ],
)
def test_address_has_one_canonical_form(given: str, known: str) -> None:
    read = EmailAddress.parse(given)
    assert read == known
    assert isinstance(read, EmailAddress)
    assert EmailAddress.parse(read) == known


LONGEST = "@".join(["a" * 64, ".".join(["d" * 60] * 3 + ["testss"])])
TOO_LONG = r"^must be at most 254 bytes in UTF-8$"


def test_address_has_at_most_254_bytes() -> None:
    assert len(LONGEST) == 254
    assert EmailAddress.parse(LONGEST) == LONGEST
    for longer in (LONGEST + "s", "a@" + "\ufdfa" * 240, "a@" + "\ud800" * 90, "a" * 1_000_000 + "@example.com"):
        with pytest.raises(ValueError, match=TOO_LONG):
            EmailAddress.parse(longer)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ana", id="no at sign"),
        pytest.param("ana@home@example.com", id="an at sign that is not quoted"),
        pytest.param("ana@example.com,ben@example.com", id="two addresses"),
        pytest.param("Ana <ana@example.com>", id="with a display name"),
        pytest.param("ana@example.com\n", id="line break at the end"),
        pytest.param("ana\uff20home@example.com", id="full-width at sign"),
        pytest.param("ana\uff1cben@example.com", id="full-width angle bracket"),
        pytest.param('"ana\uff02 ben"@example.com', id="full-width quote in quotes"),
        pytest.param('"ana\r\nBcc: ben"@example.com', id="a header put in quotes"),
        pytest.param("ana@example\0.com", id="U+0000 in the domain"),
        pytest.param("ana@example.com.", id="dot at the end of the domain"),
        pytest.param("ana@exam_ple.com", id="underscore in the domain"),
        pytest.param("ana@xn--.test", id="broken IDNA form"),
        pytest.param("ana@[127.0.0.1]", id="IPv4 literal"),
        pytest.param("ana@[IPv6:::1%x\r\nRCPT TO:<ben@example.com>]", id="SMTP command in a zone id"),
        pytest.param("ana@example.1", id="last label that is a number"),
        pytest.param('"ana\\\nb"@example.com', id="escaped line break in quotes"),
        pytest.param('"ana\x9b"@example.com', id="C1 control in quotes"),
        pytest.param('"ana\ud800b"@example.com', id="lone surrogate in quotes"),
        pytest.param('"\u0301na"@example.com', id="combining mark at the start, in quotes"),
        pytest.param('"a"b"@example.com', id="quote that is not escaped"),
        pytest.param("é" * 32 + "a@x.test", id="65 bytes before the at sign"),
        pytest.param(f"ana@{'d' * 64}.test", id="label of 64 characters"),
        pytest.param("a@" + "é." * 60 + "test", id="long IDNA form"),
    ],
)
def test_invalid_address_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be one email address, such as ana@example\.com$"):
        EmailAddress.parse(text)


@pytest.mark.parametrize("value", [None, True, 7, ["ana@example.com"], b"ana@example.com"])
def test_value_other_than_string_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match=r"^must be a string$"):
        EmailAddress.parse(value)


INVISIBLE_RANGES = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE00FF),
    (0xE0100, 0xE01EF), (0xE01F0, 0xE0FFF),
]  # fmt: skip
"""Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and the blank Braille pattern."""


@pytest.mark.parametrize(("first", "last"), INVISIBLE_RANGES)
@pytest.mark.parametrize("form", ["a{}b@x.com", '"a {}"@x.com'])
def test_invisible_character_is_rejected(first: int, last: int, form: str) -> None:
    for number in {first, (first + last) // 2, last}:
        with pytest.raises(ValueError, match="must be one"):
            EmailAddress.parse(form.format(chr(number)))


@pytest.mark.parametrize("number", [0xAE, 0x350, 0x61B, 0x115E, 0x1161, 0x17B6, 0x1810, 0x2010, 0x2801, 0x3163, 0xFFA1])
def test_visible_neighbour_of_invisible_characters_is_accepted(number: int) -> None:
    address = f"a{chr(number)}b@x.com"
    assert EmailAddress.parse(address) == address


# Generated addresses. `make soak` checks a million of them


@pytest.mark.parametrize("part", range(2))
def test_hostile_address_is_rejected_or_has_one_canonical_form(part: int) -> None:
    assert check_addresses(part, 300).addresses == 300
