"""Every call that the client makes: what it sends, whether it may be repeated, and how its answer is read."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from msgspec import UNSET, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from tickover.client.answers import document_of, result_of
from tickover.client.exchanges import Reply, Request
from tickover.core.errors import Reason
from tickover.core.results import ClockPage, Done, KeptLetter, OneClock, Sent, SignedIn
from tickover.plans import Plan, PlannedGoal, PlannedTransaction, When, encode, instant

T = TypeVar("T")

_MOST_ON_A_PAGE: Final = 100
_KEY: Final = re.compile("[!-~]([ -~]{0,253}[!-~])?")
_IDS: Final = count(1)

_DOCUMENT: Final = Decoder(dict[str, Any])
_DONE: Final = Decoder(Done)
_LETTER: Final = Decoder(KeptLetter)
_ONE_CLOCK: Final = Decoder(OneClock)
_PAGE: Final = Decoder(ClockPage)
_SENT: Final = Decoder(Sent)
_SIGNED_IN: Final = Decoder(SignedIn)


class Call(Struct, Generic[T], frozen=True):
    """What is asked of the server, and what is made of its answer."""

    request: Request
    read: Callable[[Reply], T]
    signed: bool = True
    """Whether it carries the token."""
    safe: bool = True
    """Whether it may be sent again when nobody knows if it was carried out."""
    already: Mapping[Reason, T] = {}
    """The refusals of a repetition which only say that an attempt before it was carried out."""


def send_code(email: str) -> Call[Sent]:
    return _send(email, "SHORT_LIVED", "LOGIN_CODE")


def send_link(email: str) -> Call[Sent]:
    return _send(email, "LONG_LIVED", "WEB_LOGIN_LINK")


def login_url_in(sent: Sent) -> str | None:
    return None if sent.login_url is UNSET else sent.login_url


def log_in(email: str, code: str) -> Call[SignedIn]:
    params = {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}
    return _call("loginByEmailVerification", params, _SIGNED_IN, signed=False, safe=False)


def log_in_by_link(link_or_secret: str) -> Call[SignedIn]:
    _, _, secret = link_or_secret.rpartition("#token=")
    return _call("loginByEmailLink", {"token": secret}, _SIGNED_IN, signed=False, safe=False)


def log_out() -> Call[Done]:
    return _call("logout", {}, _DONE, safe=False)


def latest_letter(email: str) -> Call[KeptLetter | None]:
    request = Request("GET", "/mailbox/latest", query={"to": email})
    return Call(request, lambda reply: document_of(reply, _LETTER), signed=False)


def plan_of(
    plan: Plan | None,
    frozen_time: When | None,
    transactions: Sequence[PlannedTransaction],
    goals: Sequence[PlannedGoal],
) -> Plan:
    """The plan, or one of the parts."""
    parts = Plan(
        frozen_time=UNSET if frozen_time is None else instant(frozen_time),
        transactions=tuple(transactions),
        goals=tuple(goals),
    )
    if plan is None:
        return parts
    if not isinstance(plan, Plan):
        raise ValueError("a clock is made of a Plan; of a scenario, it is scenarios.load(NAME).plan(START)")
    if parts != Plan():
        raise ValueError("give a plan or its parts, and not both")
    return plan


def create_clock(plan: Plan, idempotency_key: str | None) -> Call[OneClock]:
    """It may be repeated because it always has a key, by which the server knows a repetition."""
    key = uuid4().hex if idempotency_key is None else idempotency_key
    if not _KEY.fullmatch(key):
        raise ValueError("an idempotency key must have 1 to 255 printable ASCII characters, and no space at its ends")
    return _call("createTestClock", plan, _ONE_CLOCK, headers={"Idempotency-Key": key})


def get_clock(id: str, at: When | None) -> Call[OneClock]:
    return _call("getTestClock", _id_and_at(id, at), _ONE_CLOCK)


def advance_clock(id: str, frozen_time: datetime) -> Call[OneClock]:
    """It may be repeated because a clock that is already there stays there."""
    return _call("advanceTestClock", {"id": id, "frozenTime": frozen_time}, _ONE_CLOCK)


def fork_clock(id: str, at: When | None) -> Call[OneClock]:
    return _call("forkTestClock", _id_and_at(id, at), _ONE_CLOCK, safe=False)


def delete_clock(id: str) -> Call[Done]:
    return replace(_call("deleteTestClock", {"id": id}, _DONE), already={Reason.CLOCK_NOT_FOUND: Done()})


def list_page(limit: int, cursor: str | None) -> Call[ClockPage]:
    params = {"limit": limit} | ({} if cursor is None else {"cursor": cursor})
    return _call("listTestClocks", params, _PAGE)


def first_page() -> Call[ClockPage]:
    return list_page(_MOST_ON_A_PAGE, None)


def page_after(page: ClockPage) -> Call[ClockPage] | None:
    return None if page.next_cursor is None else list_page(_MOST_ON_A_PAGE, page.next_cursor)


def discover() -> Call[dict[str, Any]]:
    return _call("rpc.discover", {}, _DOCUMENT, signed=False)


def _send(email: str, code_type: str, email_type: str) -> Call[Sent]:
    params = {"email": email, "loginCodeType": code_type, "emailType": email_type}
    return _call("sendLoginCodeEmail", params, _SENT, signed=False, safe=False)


def _id_and_at(id: str, at: When | None) -> dict[str, Any]:
    return {"id": id} if at is None else {"id": id, "at": instant(at)}


def _call(
    method: str,
    params: Any,
    decoder: Decoder[T],
    *,
    headers: Mapping[str, str] = {},
    signed: bool = True,
    safe: bool = True,
) -> Call[T]:
    id = next(_IDS)
    content = encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    request = Request("POST", "/rpc", headers={"Content-Type": "application/json", **headers}, content=content)
    return Call(request, lambda reply: result_of(reply, id, decoder), signed, safe)
