"""Checks that a PostgreSQL database can grow. A full disk may still accept changes of existing rows."""

from contextlib import suppress
from typing import Final

import asyncpg

from tickover.server.storage import describe_error, translate_errors
from tickover.server.storage.postgres.connections import Connections

_CLOSE_SECONDS: Final = 1.0
# 16 MiB, the size of a WAL file.
_GROW: Final = """
    create temporary table tickover_growth on commit drop as
    select repeat('x', 1000) from generate_series(1, 16000)"""


async def find_growth_error(url: str) -> str:
    """Write a temporary table, and return PostgreSQL's error if there is no space for it, or an empty string.

    Raise SettingError if the database can't be used.
    """
    with translate_errors(url):
        connection = await Connections(url, 1).connect()
        try:
            # A role without the permission for temporary tables can't tell.
            with suppress(asyncpg.InsufficientPrivilegeError):
                await connection.execute(_GROW)
        except asyncpg.DiskFullError as error:
            return describe_error(error)
        finally:
            with suppress(TimeoutError):
                await connection.close(timeout=_CLOSE_SECONDS)
    return ""
