"""Tests of rendered clocks at several widths and with hostile text. docs/command-line.md has a whole clock."""

import unicodedata
from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.snapshots import NOW, contribution, day, goal, snapshot, transaction
from tests.unit.strategies import CHARACTERS
from tickover.api.clocks import Account, Event, Snapshot, Transfer
from tickover.cli.render.clock_text import render_clock


def with_accounts(frozen_time: datetime) -> Snapshot:
    """Return a clock whose card is paid from its checking account."""
    coffee = replace(transaction(day(1, 2), "Coffee", "20"), account="card")
    payment = Transfer(
        id="tfr_1", at=day(1, 4), name="Pay card", from_="checking", to="card", amount=Decimal(50), currency="EUR",
        source="SIMULATED_TEST_CLOCK",
    )  # fmt: skip
    return replace(
        snapshot(frozen_time, [coffee]),
        accounts=[
            Account("checking", "Everyday", "EUR", "CHECKING", Decimal(100), Decimal(0)),
            Account("card", "Card", "EUR", "CREDIT_CARD", Decimal(-40), Decimal(0)),
        ],
        transfers=[payment] if payment.at <= frozen_time else [],
        pending_transfers=[] if payment.at <= frozen_time else [payment],
    )


def posted(clock: Snapshot) -> list[Event]:
    """Return the events of an advance from before the first item."""
    events = [Event(id="", at=item.at, type="transaction.posted", transaction=item) for item in clock.transactions]
    events += [Event(id="", at=item.at, type="transfer.posted", transfer=item) for item in clock.transfers]
    contributions = [item for goal in clock.goals for item in goal.contributions]
    return events + [Event(id="", at=item.at, type="contribution.posted", contribution=item) for item in contributions]


def test_accounts_have_curves_and_transfers_a_lane() -> None:
    clock = with_accounts(day(1, 3))
    lines = [line.plain for line in render_clock(clock, 80, NOW)]
    assert lines[0].endswith("1 to come  expires in 6 d 23 h")
    assert [line.split()[0] for line in lines[3:10]] == ["out", "moves", "checking", "now", "card", "now", "●"]
    assert lines[6] == "            now 100.00 → end 50.00  lowest 50.00 on 2027-01-04"
    assert lines[8] == "            now −60.00 → end −10.00  lowest −60.00 on 2027-01-02"
    assert lines[11:14] == [
        "  ● 2027-01-02  Coffee    −20.00 EUR  card",
        "  ○ 2027-01-04  Pay card   50.00 EUR  checking → card",
        "",
    ]
    later = with_accounts(day(1, 5))
    advanced = [line.plain for line in render_clock(later, 80, NOW, events=posted(later))]
    assert "  ✓ 2027-01-05  1 transaction and 1 transfer" in advanced


# Any text and width

HOSTILE = "\x1b[31m\x1b]0;title\x07\r\n[bold red]markup[/] \u202eturned 日本語のとても長い名前 🎉👨\u200d👩\u200d👧" * 2
instants = st.datetimes(min_value=datetime(2017, 1, 1), max_value=datetime(2036, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - timezones= adds one
amounts = st.decimals(min_value="0.01", max_value=10**9, places=2)


@settings(max_examples=20)
@given(
    times=st.tuples(instants, instants),
    flows=st.lists(
        st.tuples(instants, st.text(CHARACTERS, max_size=40), amounts, st.text(CHARACTERS, max_size=40)), max_size=8
    ),
    contributions=st.lists(st.tuples(instants, amounts), max_size=4),
    text=st.text(CHARACTERS, max_size=40),
    width=st.integers(min_value=20, max_value=200),
)
@example((day(1, 1), day(2, 1)), [(day(1, 2), HOSTILE, Decimal(1), HOSTILE)], [(day(1, 2), Decimal(1))], HOSTILE, 20)
@example((day(1, 1), day(2, 1)), [(day(3, 2), HOSTILE, Decimal(1), HOSTILE)], [(day(3, 2), Decimal(1))], HOSTILE, 80)
def test_lines_of_any_clock_are_sanitized_and_fit_the_width(
    times: tuple[datetime, datetime],
    flows: list[tuple[datetime, str, Decimal, str]],
    contributions: list[tuple[datetime, Decimal]],
    text: str,
    width: int,
) -> None:
    def at(frozen_time: datetime) -> Snapshot:
        transactions = [transaction(at, name, str(amount), currency=currency) for at, name, amount, currency in flows]
        saving = goal(frozen_time, text, "3000", "1", [contribution(at, str(amount)) for at, amount in contributions])
        made = snapshot(frozen_time, sorted(transactions, key=lambda one: one.at), [saving])
        return replace(made, id=text, status=text)

    clock = at(max(times))
    advanced = render_clock(clock, width, NOW, events=posted(clock))
    lines = [*render_clock(clock, width, NOW), *advanced]
    assert [line.plain for line in lines if line.cell_len > width] == []
    assert {unicodedata.category(sign) for line in lines for sign in line.plain} & {"Cc", "Zl", "Zp", "Cs"} == set()
