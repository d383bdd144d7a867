"""Calls the webhooks of connections when the bank shows something that it has not announced.

There is no queue: a connection keeps what it has announced. So nothing is lost if the server is killed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from msgspec import json
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.errors import Rejection, unavailable
from tickover.api.timestamps import Instant, to_micros
from tickover.server.background import repeating
from tickover.server.bank.bank_service import Bank, UnknownSecret
from tickover.server.gate import Gate
from tickover.server.logs import Log
from tickover.server.storage.store import LeasedWebhook, OwedWebhook, WebhookProgress
from tickover.server.storage.urls import is_postgres
from tickover.server.webhook_calls import CALL_SECONDS

if TYPE_CHECKING:
    from tickover.server.bank.webhooks import OwedCall, WebhookCaller

_LEASE: Final = timedelta(seconds=CALL_SECONDS + 2)
_SEARCH_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = (1, 5, 30)
_LATER_RETRY_SECONDS: Final = 60
_MAX_ATTEMPTS: Final = len(_RETRY_SECONDS) + 24 * 60
_NEVER: Final = 2**62


class WebhookSender:
    """Calls webhooks, in tasks beside the calls of users."""

    def __init__(self, bank: Bank, gate: Gate, now: Callable[[], Instant], log: Log) -> None:
        self._bank = bank
        self._store = bank.services.store
        self._has_others = is_postgres(bank.services.settings.database_url)
        """Whether other servers may use the database."""
        self._gate = gate
        self._now = now
        self._log = log
        self._clocks: set[bytes] = set()
        """Clocks with webhooks, when the database was last searched."""
        self._changed: set[bytes] = set()
        self._skipped: set[bytes] = set()
        """Clocks with webhooks that had to wait for the end of another call."""
        self._has_changed = asyncio.Event()
        self._tasks: dict[bytes, asyncio.Task[None]] = {}
        """By connection."""
        self._must_search = False
        self._is_starting = True

    @cached_property
    def _caller(self) -> "WebhookCaller":
        # Few servers call webhooks.
        from tickover.server.bank.webhooks import WebhookCaller

        return WebhookCaller(self._bank)

    def clock_changed(self, key: bytes) -> None:
        """Look for changes of a clock soon. It costs nothing if the clock has no webhook."""
        if key in self._clocks:
            self._changed.add(key)
            self._has_changed.set()

    def webhook_changed(self) -> None:
        """Look soon for clocks that have a webhook now."""
        self._must_search = True
        self._has_changed.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Call webhooks. On exit, end the calls."""
        async with (
            repeating(_SEARCH_SECONDS, "search for webhooks", self._search, self._log),
            repeating(0, "search for changes", self._wait_for_changes, self._log),
        ):
            try:
                yield
            finally:
                tasks = list(self._tasks.values())
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _search(self) -> None:
        """Find the calls that are owed, of other servers and of earlier ones too."""
        now = self._now()
        min_live_key = ids.first_live_key(now)
        self._clocks = await self._store.list_webhook_clocks(min_live_key)
        if self._clocks:
            owed = await self._store.list_owed_webhooks(
                now, self._lease_time(), min_live_key=min_live_key, at_start=self._is_starting
            )
            self._start(owed)
        self._is_starting = False

    async def _wait_for_changes(self) -> None:
        await self._has_changed.wait()
        self._has_changed.clear()
        if self._must_search:
            self._must_search = False
            await self._search()
        changed, self._changed = self._changed, set()
        for key in changed:
            self._start(await self._store.list_owed_webhooks(self._now(), self._lease_time(), clock_key=key))

    def _lease_time(self) -> Instant:
        """Return when leases of other servers must have ended. Without other servers, all are of earlier ones."""
        return self._now() if self._has_others else self._now() + _LEASE

    def _start(self, owed: list[OwedWebhook]) -> None:
        for webhook in owed:
            if webhook.key in self._tasks or not self._bank.webhook_calls.begin(webhook.owner):
                self._skipped.add(webhook.clock_key)
                continue
            task = asyncio.create_task(self._call(webhook))
            self._tasks[webhook.key] = task
            task.add_done_callback(partial(self._end, webhook))

    def _end(self, webhook: OwedWebhook, _: asyncio.Task[None]) -> None:
        del self._tasks[webhook.key]
        self._bank.webhook_calls.end(webhook.owner)
        self._changed |= self._skipped
        self._skipped.clear()
        if self._changed:
            self._has_changed.set()

    async def _call(self, webhook: OwedWebhook) -> None:
        """Announce what is new. Another server may do so at the same time, unless this one has the lease."""
        try:
            until = self._now() + _LEASE
            leased = await self._store.lease_webhook(webhook.key, self._lease_time(), until)
            if leased is None:
                return
            progress = await self._announce(webhook, leased)
            if progress is None or not await self._store.end_webhook_lease(webhook.key, until, progress):
                return
            if progress.checked is None and progress.tried is None:
                # Something else may be owed.
                self._changed.add(webhook.clock_key)
        except Rejection:
            # The database is away, or the server has too much to do. The search finds it again.
            pass
        except Exception:
            self._log.exception("webhook failed")

    async def _announce(self, webhook: OwedWebhook, leased: LeasedWebhook) -> WebhookProgress | None:
        place = self._gate.enter(webhook.owner)
        if place is None:
            raise unavailable("The server has too many calls in progress.")
        find = partial(self._find_call, webhook, leased)
        found = await self._gate.run(place, self._gate.call("webhook", find))
        same = WebhookProgress(leased.announced, last_status=leased.last_status, last_at=leased.last_at)
        match found:
            case UnknownSecret():
                return None
            case Rejection():
                raise found
            case None:
                return replace(same, checked=webhook.state)
        status = await self._caller.send(leased.url, found.body, self._now())
        last = replace(same, last_status=status, last_at=to_micros(self._now()))
        if status is not None and 200 <= status < 300:
            return replace(last, announced=json.encode(found.announced).decode())
        attempts = leased.attempts + 1 if leased.tried == webhook.state else 1
        return replace(last, tried=webhook.state, attempts=attempts, next_at=self._retry_at(attempts))

    async def _find_call(self, webhook: OwedWebhook, leased: LeasedWebhook) -> "OwedCall | None":
        from tickover.server.bank.webhooks import Announced, next_call

        announced = json.decode(leased.announced, type=Announced) if leased.announced else Announced()
        opened = await self._bank.open_known(webhook.access_digest, webhook.protocol, self._now(), webhook.clock_key)
        return await next_call(self._bank, opened, announced)

    def _retry_at(self, attempts: int) -> int:
        if attempts > _MAX_ATTEMPTS:
            return _NEVER
        seconds = _RETRY_SECONDS[attempts - 1] if attempts <= len(_RETRY_SECONDS) else _LATER_RETRY_SECONDS
        return to_micros(self._now() + timedelta(seconds=seconds))
