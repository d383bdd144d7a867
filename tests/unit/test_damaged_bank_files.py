"""Damaged bank files give one clear error. test_hostile_scenarios.py generates scenarios."""

import re
from random import Random
from typing import Final

import pytest

from tickover.scenarios.bank_files.bank_file_reader import BankFileError, read_bank_file
from tickover.scenarios.from_payments import write_scenario

FILES: Final = 200
MAX_MESSAGE: Final = 900

CSV: Final = """\
Date;Payee;Amount;Currency
31.01.2027;Shop;-1.234,50;EUR
03.02.27;Employer;2.800,00;EUR
15.02.2027;Bakery;-4,20;EUR
"""
OFX: Final = """\
<OFX><CURDEF>EUR
<STMTTRN><DTPOSTED>20270131090000<TRNAMT>-12.50<FITID>1<NAME>Shop</STMTTRN>
<STMTTRN><DTPOSTED>20270203<TRNAMT>2800<FITID>2<NAME>Employer</STMTTRN>
</OFX>
"""
HOSTILE: Final = (
    "", "\0", "\r", "\n", "\ufeff", '"', "'", ".", ",", ";", "-", "1e9", "nan", "inf", "9" * 50, "\ud7ff", "😀", "Ⅻ",
    "<!ENTITY a '&a;'>", "&#x1F600;", "&lol;", "<OFX>", "</STMTTRN>", "<STMTTRN>", "0000-00-00", "9999-12-31",
    "2027-02-30", "01/02/2027", "13/13/27", "31.02.27", "=CMD()", "1,2,3", "1.2.3", "--5", "€", "\t" * 9,
)  # fmt: skip
WHOLE_FILE: Final = re.compile("the file (must|is|has)|no line has|no column|are ambiguous|the payments are from")
"""Problems that aren't about one line."""


def damage(text: str, random: Random) -> bytes:
    """Return the file with one to four pieces replaced, in one of several encodings."""
    for _ in range(random.randint(1, 4)):
        begin = random.randrange(len(text) + 1)
        end = min(len(text), begin + random.choice((0, 0, 1, 5, 20, 200)))
        text = text[:begin] + random.choice(HOSTILE) + text[end:]
    return text.encode(random.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig", "cp1252")), "replace")


def error_of(content: bytes) -> str:
    """Return the error, or an empty text. Any other exception fails the test."""
    try:
        write_scenario(read_bank_file(content, "bad", currency="EUR"), title="a", summarise=True)
    except BankFileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", [CSV, OFX], ids=["CSV", "OFX"])
def test_generated_bank_files_give_clear_errors(text: str) -> None:
    random = Random(19)
    contents = [damage(text, random) for _ in range(FILES)]
    errors = [(error, content) for content in contents if (error := error_of(content))]
    assert len(errors) > FILES // 3
    for error, content in errors:
        assert error.startswith("bad"), content
        assert error.isprintable(), content
        assert "line " in error or "transaction " in error or WHOLE_FILE.search(error), (error, content)
        assert len(error) <= MAX_MESSAGE
