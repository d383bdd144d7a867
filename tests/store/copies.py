"""Copies between two databases, for tests."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.store.sample_data import open_at
from tickover.server.storage.admin.copy import CopiedTable
from tickover.server.storage.admin.copy_tables import TABLES

NAMES = [table.name for table in TABLES]
Execute = Callable[[str, str], list[tuple[Any, ...]]]


both_directions = pytest.mark.parametrize("urls", ["sqlite postgres", "postgres sqlite"], indirect=True)


def ignore_progress(step: str, done: int, steps: int) -> None:
    pass


def written(copied: list[CopiedTable]) -> dict[str, int]:
    return {table.table: table.written for table in copied}


def rows(copied: list[CopiedTable]) -> dict[str, int]:
    return {table.table: table.rows for table in copied}


def checksums(copied: list[CopiedTable]) -> dict[str, str]:
    return {table.table: table.checksum for table in copied}


async def make_empty(url: str) -> None:
    async with open_at(url):
        pass
