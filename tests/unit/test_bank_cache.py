"""What the bank keeps of the clocks that it showed: rows as JSON, up to a number of bytes."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from tickover.server.bank.bank_service import Bank
from tickover.server.schedule.quirks import NO_QUIRKS

_LARGEST_CLOCK = 10_000
"""Rows: an account of 5,000 transfers shows each in two accounts."""


def opened_clock(key: bytes, revision: int = 1, protocol: str = "PLAID", rows: int = _LARGEST_CLOCK) -> Any:
    return SimpleNamespace(
        clock=SimpleNamespace(key=key, revision=revision),
        connection=SimpleNamespace(protocol=protocol),
        quirks=NO_QUIRKS,
        view=SimpleNamespace(rows=range(rows)),
    )


async def count_encoded(bank: Bank, *clocks: Any) -> list[int]:
    """Read these clocks in order, and return how many rows were encoded for each."""
    counts = []
    for opened in clocks:
        encode = Mock(return_value=b"{}")
        rows = opened.view.rows
        assert len(await bank.encode_rows(opened, rows, encode)) == len(rows)
        counts.append(encode.call_count)
    return counts


async def test_rows_of_the_largest_clock_are_encoded_once() -> None:
    bank = Bank(Mock())
    clock = opened_clock(b"1")
    assert await count_encoded(bank, clock, clock) == [_LARGEST_CLOCK, 0]
    others = [opened_clock(b"1", revision=2), opened_clock(b"1", protocol="SIMPLEFIN"), opened_clock(b"2", rows=10)]
    assert await count_encoded(bank, *others) == [_LARGEST_CLOCK, _LARGEST_CLOCK, 10]


async def test_rows_of_many_clocks_do_not_fill_the_memory() -> None:
    bank = Bank(Mock())
    clocks = [opened_clock(bytes([number])) for number in range(3)]
    await count_encoded(bank, *clocks)
    assert await count_encoded(bank, clocks[0]) == [_LARGEST_CLOCK]
