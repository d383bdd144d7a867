"""Checks that a PostgreSQL database can grow. A full disk may still accept changes of existing rows."""

from typing import Final

import asyncpg

from tickover.server.storage import translate_errors
from tickover.server.storage.postgres.pool import open_connection
from tickover.server.storage.urls import describe_error

# 16 MiB, the size of a WAL file.
_GROW: Final = """
    create temporary table tickover_growth on commit drop as
    select repeat('x', 1000) from generate_series(1, 16000)"""


async def find_growth_error(url: str) -> str:
    """Write a temporary table, and return PostgreSQL's error if there is no space for it, or an empty string.

    Raise SettingError if the database can't be used.
    """
    with translate_errors(url):
        async with open_connection(url) as connection:
            try:
                await connection.execute(_GROW)
            except asyncpg.DiskFullError as error:
                return describe_error(error)
            except asyncpg.InsufficientPrivilegeError:
                pass  # a role without the permission for temporary tables can't tell
    return ""
