"""Reads of the SQLite store, on the event loop's thread."""

import asyncio
from contextlib import suppress
from typing import Any

import apsw

from tickover.api.errors import unauthenticated
from tickover.server.storage.sqlite.writer import to_rejection


class Reader:
    """Reads in transactions. All reads of one event loop iteration share a transaction, which saves locks."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()

    def fetch_one(self, statement: str, *bindings: object) -> Any:
        """Return the first row, or None."""
        found = self.fetch_all(statement, *bindings)
        return found[0] if found else None

    def fetch_all(self, statement: str, *bindings: object) -> list[Any]:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("begin")
                # The next iteration must see later commits.
                self._loop.call_soon(self._end)
            return self._connection.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise to_rejection(error) from error

    def fetch_list(self, statement: str, *bindings: object) -> list[Any]:
        """Return the rows of an owner's list. Raise UNAUTHENTICATED if the owner's token was revoked."""
        rows = self.fetch_all(statement, *bindings)
        if rows and rows[-1][0] is None:
            raise unauthenticated()
        return rows

    def _end(self) -> None:
        with suppress(apsw.Error):
            self._connection.execute("rollback")
