"""Bad files cost bounded memory, and give one clear error: generated scenarios and statements."""

import re
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random
from typing import Final

import pytest

from tickover.scenarios import ScenarioError, read
from tickover.scenarios.from_payments import write_scenario
from tickover.scenarios.statements.read import StatementError, read_statement

FILES: Final = 500
MAX_MESSAGE: Final = 900
MAX_MEMORY: Final = 64 * 1024 * 1024
START: Final = datetime(2027, 1, 1, tzinfo=UTC)

SCENARIO: Final = """\
currency = "EUR"
length = "3 months"
timezone = "Europe/Berlin"

[[transactions]]
name = "Rent"
amount = {between = [40, 90]}
type = "expense"
every = "month on the 3rd"
late_by = {2027-02-03 = "3 days"}

[[goals]]
name = "Trip"
target = 300
[[goals.contributions]]
amount = 10
rrule = "FREQ=MONTHLY;BYDAY=-1FR"

[[expect]]
never_below = -500
"""
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
    "", "\0", "\r", "\n", "\ufeff", "=", "[", "[[", "]", "{", "}", '"', "'", '"""', "#", ".", ",", ";", "-", "1e9",
    "nan", "inf", "9" * 50, "0x", "a.b.c", "\\u0000", "\ud7ff", "😀", "Ⅻ", "<!ENTITY a '&a;'>", "&#x1F600;", "&lol;",
    "<OFX>", "</STMTTRN>", "<STMTTRN>", "0000-00-00", "9999-12-31", "2027-02-30", "01/02/2027", "13/13/27", "31.02.27",
    "every = ", "at = ", "amount = ", "from = ", "until = ", "every", "0 9 25 * *", "FREQ=YEARLY", "BYDAY=99XX", "true",
    "=CMD()", "1,2,3", "1.2.3", "--5", "€", "\t" * 9, "month on the 99th", "-5 days", "10 years", "Mars/Phobos",
)  # fmt: skip
WHOLE_FILE: Final = re.compile(
    "the scenario is empty|exceed the limit|the start must|length must be|more than|the file (must|is|has)|no line has|"
    "no column|are ambiguous|the payments are from"
)
"""Problems that aren't about one line."""


def damage(text: str, random: Random) -> bytes:
    """Return the file with one to four pieces replaced, in one of several encodings."""
    for _ in range(random.randint(1, 4)):
        begin = random.randrange(len(text) + 1)
        end = min(len(text), begin + random.choice((0, 0, 1, 5, 20, 200)))
        text = text[:begin] + random.choice(HOSTILE) + text[end:]
    return text.encode(random.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig", "cp1252")), "replace")


def read_scenario(content: bytes) -> None:
    read(content, "bad").plan(START)


def read_payments(content: bytes) -> None:
    write_scenario(read_statement(content, "bad", currency="EUR"), title="a", summarise=True)


def generated() -> Iterator[tuple[Callable[[bytes], None], bytes]]:
    random = Random(19)
    for number in range(FILES):
        match number % 5:
            case 0:
                yield read_payments, damage(CSV, random)
            case 1:
                yield read_payments, damage(OFX, random)
            case _:
                yield read_scenario, damage(SCENARIO, random)


def messages_of(act: Callable[[bytes], None], content: bytes) -> list[str]:
    """Return a message for each mistake. Any other exception fails the test."""
    try:
        act(content)
    except ScenarioError as error:
        return [str(one) for one in error.errors]
    except StatementError as error:
        return [str(error)]
    return []


def test_generated_bad_files_give_clear_errors() -> None:
    unclear, errors = [], 0
    for act, content in generated():
        messages = messages_of(act, content)
        errors += bool(messages)
        for message in messages:
            names_a_line = "line " in message or "transaction " in message or WHOLE_FILE.search(message)
            if not (message.startswith("bad") and message.isprintable() and names_a_line):
                unclear.append((message, content))
            assert len(message) <= MAX_MESSAGE, message
    assert unclear == []
    assert errors > FILES // 2


@pytest.mark.parametrize(
    ("act", "content"),
    [
        (read_scenario, b"a = " + b"[" * 200_000),
        (read_scenario, b"a" * 250_000 + b" = 1"),
        (read_scenario, b'about = """' + b'\\"' * 50_000),
        (read_scenario, b'opening = {' + b",".join(b"k%d = 1" % number for number in range(3_000)) + b"}"),
        (read_scenario, SCENARIO.encode().replace(b"3 months", b"10 years").replace(b"month on the 3rd", b"day")),
        (read_payments, b"date,name,amount\n" + b'"' * 1_000_000),
        (read_payments, b"date,name,amount\n2027-01-31,a," + b"1" * 1_000_000),
        (read_payments, b"<OFX><CURDEF>EUR" + b"<STMTTRN><NAME>&lol9;" * 5_000),
        (read_payments, b"<" * 2_000_000 + b"<OFX>"),
    ],
    ids=lambda value: value.__name__ if callable(value) else repr(value[:20]),
)  # fmt: skip
def test_hostile_file_needs_little_memory(act: Callable[[bytes], None], content: bytes) -> None:
    tracemalloc.start()
    try:
        messages = messages_of(act, content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert messages
    assert all(message.startswith("bad") and len(message) <= MAX_MESSAGE for message in messages)
    assert peak < MAX_MEMORY
