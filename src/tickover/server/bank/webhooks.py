"""The calls of webhooks that are owed, because the bank shows something that a connection has not announced.

A call is owed while what a connection has announced differs from what the bank shows. So one call announces many
changes.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec import Struct, json
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.timestamps import Instant
from tickover.server.bank.bank_service import Bank, OpenClock
from tickover.server.bank.plaid_objects import SimulatedFault
from tickover.server.bank.plaid_signatures import PlaidSigner
from tickover.server.bank.sync import START
from tickover.server.schedule.bank_changes import Shown, find_changes
from tickover.server.schedule.bank_rows import State
from tickover.server.webhook_calls import CallFailed, post

_BEFORE_EXPIRATION: Final = timedelta(days=7)


class Announced(Struct, frozen=True):
    """What a program knows."""

    state: State = START
    login_required: bool = False
    expiration: Instant | None = None
    """The end of the consent, if it has been announced."""


class OwedCall(NamedTuple):
    body: bytes
    announced: Announced
    """What the program knows after the call."""


def plaid_webhook(kind: str, code: str, opened: OpenClock, **members: Any) -> bytes:
    item = ids.write("conn", opened.connection.key)
    return json.encode(
        {"webhook_type": kind, "webhook_code": code, "item_id": item, **members, "environment": "sandbox"}
    )


def login_error(opened: OpenClock) -> bytes:
    return plaid_webhook("ITEM", "ERROR", opened, error=SimulatedFault("LOGIN_REQUIRED", "").members)


def updates_available(opened: OpenClock) -> bytes:
    complete = {"initial_update_complete": True, "historical_update_complete": True}
    return plaid_webhook("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", opened, **complete)


def login_repaired(opened: OpenClock) -> bytes:
    return plaid_webhook("ITEM", "LOGIN_REPAIRED", opened)


def pending_expiration(opened: OpenClock, ends: Instant) -> bytes:
    return plaid_webhook("ITEM", "PENDING_EXPIRATION", opened, consent_expiration_time=ends)


def body_to_fire(opened: OpenClock, kind: str | None, code: str) -> bytes | None:
    """Return the body of a webhook that a program asks for, or None if there is no such webhook."""
    match (kind or _KINDS.get(code), code):
        case ("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE"):
            return updates_available(opened)
        case ("TRANSACTIONS", "DEFAULT_UPDATE"):
            return plaid_webhook("TRANSACTIONS", code, opened, error=None, new_transactions=0)
        case ("ITEM", "ERROR"):
            return login_error(opened)
        case ("ITEM", "LOGIN_REPAIRED"):
            return login_repaired(opened)
        case ("ITEM", "PENDING_EXPIRATION"):
            return pending_expiration(opened, opened.consent_ends or opened.at + _BEFORE_EXPIRATION)
    return None


_KINDS: Final = {
    "SYNC_UPDATES_AVAILABLE": "TRANSACTIONS",
    "DEFAULT_UPDATE": "TRANSACTIONS",
    "ERROR": "ITEM",
    "LOGIN_REPAIRED": "ITEM",
    "PENDING_EXPIRATION": "ITEM",
}


async def next_call(bank: Bank, opened: OpenClock, announced: Announced) -> OwedCall | None:
    """Return the first of the calls that are owed."""
    is_login_required = opened.fault is not None and opened.fault.kind == "LOGIN_REQUIRED"
    if is_login_required and not announced.login_required:
        return OwedCall(login_error(opened), replace(announced, login_required=True))
    if is_login_required:
        return None
    if announced.login_required:
        return OwedCall(login_repaired(opened), replace(announced, login_required=False))
    ends = opened.consent_ends
    if ends is not None and ends != announced.expiration and opened.at >= ends - _BEFORE_EXPIRATION:
        return OwedCall(pending_expiration(opened, ends), replace(announced, expiration=ends))
    quirks, now = announced.state.quirks, opened.shown
    view = opened.view if quirks == opened.quirks.names else await bank.view_with(opened, quirks)
    if any(find_changes(Shown(view, announced.state), now)):
        return OwedCall(updates_available(opened), replace(announced, state=now.state))
    return None


class WebhookCaller:
    """Sends signed calls."""

    def __init__(self, bank: Bank) -> None:
        self._hosts = bank.services.settings.webhook_hosts
        self.signer = PlaidSigner(bank.services.mint)
        self._calls = bank.webhook_calls
        self._fired: set[asyncio.Task[int | None]] = set()

    def fire(self, url: str, body: bytes, owner: bytes, now: Instant) -> bool:
        """Send a call once, without waiting for it. Return False if the user has too many calls in progress."""
        if not self._calls.begin(owner):
            return False
        task = asyncio.create_task(self.send(url, body, now))
        self._fired.add(task)
        task.add_done_callback(partial(self._end, owner))
        return True

    def _end(self, owner: bytes, task: "asyncio.Task[int | None]") -> None:
        self._fired.discard(task)
        self._calls.end(owner)

    async def send(self, url: str, body: bytes, now: Instant) -> int | None:
        """Send a signed call once. Return the status of its response, or None without a response."""
        signature = {"Plaid-Verification": self.signer.sign(body, now)}
        with suppress(CallFailed):
            return await post(url, body, signature, self._hosts)
        return None
