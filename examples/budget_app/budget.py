"""A small budget app: reads a bank through Plaid into SQLite, and says what is left of this month's budget."""

import base64
import hashlib
import hmac
import sqlite3
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import plaid
from plaid.api.plaid_api import PlaidApi
from plaid.model.item_public_token_exchange_request import ItemPublicTokenExchangeRequest
from plaid.model.transactions_sync_request import TransactionsSyncRequest

SCHEMA = """
CREATE TABLE IF NOT EXISTS bank (access_token TEXT NOT NULL, cursor TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS payments (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, date TEXT NOT NULL, name TEXT NOT NULL,
    cents INTEGER NOT NULL, pending INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS webhooks (id TEXT PRIMARY KEY);
"""
PAGE = 100


class Budget:
    """The payments of one user, and a budget for each month."""

    def __init__(self, database: Path, bank_url: str, monthly_cents: int, webhook_secret: str = "") -> None:
        keys = {"clientId": "budget", "secret": "secret"}
        self._bank = PlaidApi(plaid.ApiClient(plaid.Configuration(host=bank_url, api_key=keys)))
        self.database = sqlite3.connect(database)
        self.database.executescript(SCHEMA)
        self._monthly_cents = monthly_cents
        self._webhook_key = base64.b64decode(webhook_secret.removeprefix("whsec_"))

    def connect(self, public_token: str) -> None:
        """Connect a bank with the token of Plaid Link."""
        request = ItemPublicTokenExchangeRequest(public_token=public_token)
        access_token = self._bank.item_public_token_exchange(request).access_token
        with self.database:
            # The first sync brings everything again, and a bank may have given it other IDs.
            self.database.execute("DELETE FROM bank")
            self.database.execute("DELETE FROM payments")
            self.database.execute("INSERT INTO bank VALUES (?, '')", [access_token])

    def sync(self) -> None:
        """Store what has changed at the bank."""
        access_token, start = self.database.execute("SELECT access_token, cursor FROM bank").fetchone()
        pages: list[Any] = []
        cursor, has_more = start, True
        while has_more:
            request = TransactionsSyncRequest(access_token=access_token, cursor=cursor, count=PAGE)
            try:
                page = self._bank.transactions_sync(request)
            except plaid.ApiException as error:
                if "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION" not in error.body:
                    raise
                # Something has changed between two pages. Begin again.
                pages, cursor = [], start
                continue
            pages.append(page)
            cursor, has_more = page.next_cursor, page.has_more
        # All pages or none.
        with self.database:
            for page in pages:
                self._store([*page.added, *page.modified])
                removed = [[each.transaction_id] for each in page.removed]
                self.database.executemany("DELETE FROM payments WHERE id = ?", removed)
            self.database.execute("UPDATE bank SET cursor = ?", [cursor])

    def _store(self, payments: Iterable[Any]) -> None:
        for each in payments:
            # For Plaid, a positive amount is money that goes out.
            cents = -round(each.amount * 100)
            row = (each.transaction_id, each.account_id, each.date.isoformat(), each.name, cents, each.pending)
            self.database.execute("INSERT OR REPLACE INTO payments VALUES (?, ?, ?, ?, ?, ?)", row)

    def left_this_month(self) -> int:
        """Return the cents that the user can still spend this month. Pending payments count."""
        month = datetime.now(UTC).strftime("%Y-%m-%%")
        query = "SELECT coalesce(sum(cents), 0) FROM payments WHERE cents < 0 AND date LIKE ?"
        [spent] = self.database.execute(query, [month]).fetchone()
        return self._monthly_cents + int(spent)

    def webhook(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Sync when the bank has news: a WSGI application for webhooks as in Standard Webhooks."""
        body = environ["wsgi.input"].read()
        id, timestamp = environ.get("HTTP_WEBHOOK_ID", ""), environ.get("HTTP_WEBHOOK_TIMESTAMP", "")
        digest = hmac.digest(self._webhook_key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
        signature = f"v1,{base64.b64encode(digest).decode()}"
        if not hmac.compare_digest(signature, environ.get("HTTP_WEBHOOK_SIGNATURE", "")):
            start_response("401 Unauthorized", [])
            return []
        with self.database:
            is_new = self.database.execute("INSERT OR IGNORE INTO webhooks VALUES (?)", [id]).rowcount
        if is_new:
            self.sync()
        start_response("204 No Content", [])
        return []
