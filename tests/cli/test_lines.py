"""Lines that fit a width, counted in the cells that a terminal gives to characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from tickover.cli import formatting
from tickover.cli.render.lines import Column, cut, flow, table


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("Groceries", 9, "Groceries"),
        ("Groceries", 8, "Groceri…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        # Half a wide character is none.
        ("日本語", 4, "日 …"),
        ("🎉🎉🎉", 5, "🎉🎉…"),
        ("Rent", 1, "…"),
        ("[bold]Rent[/]", 20, "[bold]Rent[/]"),
    ],
)
def test_a_text_is_cut_at_its_cells(text: str, cells: int, shown: str) -> None:
    assert cut(Text(text), cells).plain == shown


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (16, ["  one  two", "  three"]),
        (17, ["  one  two  three"]),
        (9, ["  one", "  two", "  three"]),
        (6, ["  one", "  two", "  thr…"]),
    ],
)
def test_pieces_flow_onto_as_few_lines_as_they_need(width: int, lines: list[str]) -> None:
    assert [line.plain for line in flow(map(Text, ("one", "two", "three")), width)] == lines


ROWS = [["2027-01-03", "Rent", "−1 150.00"], ["2027-01-14", "Groceries and more", "−420.00"]]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (43, ["  2027-01-03  Rent                −1 150.00", "  2027-01-14  Groceries and more    −420.00"]),
        (42, ["  2027-01-03  Rent               −1 150.00", "  2027-01-14  Groceries and mo…    −420.00"]),
        (33, ["  2027-01-03  Rent      −1 150.00", "  2027-01-14  Groceri…    −420.00"]),
        # What may not be cut is cut off at the end.
        (32, ["  2027-01-03  Rent      −1 150.…", "  2027-01-14  Groceri…    −420.…"]),
    ],
)
def test_a_table_is_cut_where_it_may_be_until_it_fits(width: int, lines: list[str]) -> None:
    columns = [Column(), Column(least=8), Column("right")]
    assert [line.plain for line in table([list(map(Text, row)) for row in ROWS], columns, width)] == lines


@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=5),
    st.integers(min_value=8, max_value=90),
)
def test_no_line_of_a_table_is_wider_than_it_may_be(rows: list[tuple[str, str]], width: int) -> None:
    cells = [[Text(formatting.safe(cell)) for cell in row] for row in rows]
    assert all(line.cell_len <= width for line in table(cells, [Column(least=4), Column("right")], width))
