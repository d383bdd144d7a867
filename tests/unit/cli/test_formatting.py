"""Tests of amounts, cut text and styles. test_render_clock.py renders tables at any width."""

from decimal import Decimal

import pytest
from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.layout import FAINT, GOOD, NOW, to_ansi, truncate


@pytest.mark.parametrize(
    ("value", "shown", "with_sign"),
    [
        ("0", "0.00", "0.00"),
        ("1000", "1 000.00", "+1 000.00"),
        ("-1150.5", "−1 150.50", "−1 150.50"),
        ("1E+9", "1 000 000 000.00", "+1 000 000 000.00"),
        ("1E-7", "0.0000001", "+0.0000001"),
    ],
)
def test_amount_has_two_decimals_and_grouped_thousands(value: str, shown: str, with_sign: str) -> None:
    assert (formatting.amount(Decimal(value)), formatting.signed_amount(Decimal(value))) == (shown, with_sign)


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("Groceries", 8, "Groceri…"),
        ("日本語", 5, "日本…"),
        # A wide character is never split.
        ("日本語", 4, "日 …"),
    ],
)
def test_truncate_counts_cells(text: str, cells: int, shown: str) -> None:
    assert truncate(Text(text), cells).plain == shown


def test_styles_become_escape_sequences() -> None:
    text = Text.assemble(("✓", GOOD), " at ", ("noon", NOW), style=FAINT)
    assert to_ansi(text) == "\x1b[2;32m✓\x1b[0m\x1b[2m at \x1b[0m\x1b[2;33mnoon\x1b[0m"
    assert to_ansi(Text("plain")) == "plain"
    assert to_ansi(Text()) == ""
