"""Both databases give the same responses, byte for byte, for random sequences of calls."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timedelta
from email import message_from_bytes, policy
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rpc.builders import call, contribution, goal, login, send, send_link, to_timestamp, transaction
from tests.support.stores import open_checked_store
from tests.support.world import COMPOSER, HttpResponse, World
from tickover.api import ids
from tickover.api.errors import Reason
from tickover.server.operations.services import Policy
from tickover.server.sign_in.mail.outbox import Outbox
from tickover.server.storage.store import Store

_EXAMPLES: Final = 8
_ACTS: Final = 100

_DAY: Final = timedelta(days=1)
_INSTANT: Final = timedelta(microseconds=1)
_NETWORKS: Final = ("203.0.113.7", "198.51.100.1")

# The last of four people never signs in: she has an address and an invalid token.
_anyone = st.integers(0, 3)
_mostly_ana = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3])
_WAITS: Final = {
    timedelta(milliseconds=1): 6,
    timedelta(seconds=1): 3,
    timedelta(seconds=60) - _INSTANT: 2,
    timedelta(seconds=60): 6,
    timedelta(minutes=9): 1,
    timedelta(minutes=10): 1,
    timedelta(hours=1): 2,
    _DAY: 2,
    7 * _DAY - timedelta(milliseconds=1): 1,
    8 * _DAY: 1,
}
_waits = st.sampled_from([amount for amount, weight in _WAITS.items() for _ in range(weight)])
_starts = st.sampled_from([0 * _DAY, _INSTANT, _DAY, -400 * _DAY, 3600 * _DAY, 4000 * _DAY])
_moves = st.sampled_from([0 * _DAY, _INSTANT, _DAY, 31 * _DAY, -_INSTANT, 3652 * _DAY, 4000 * _DAY, 4001 * _DAY])
_previews = st.none() | _moves
_items = st.tuples(
    st.sampled_from([0 * _DAY, _DAY, _DAY, 31 * _DAY, 31 * _DAY, 31 * _DAY, -_INSTANT]),
    st.sampled_from([1, 0.1, 0.2, 2800, 2800, 10**9, 0]),
    st.sampled_from(["Salary", "Rent", "'; drop table clocks; --", "ß\0∂", "%s {0} $1 \\x00", "漢字", "\ud800"]),
)

_LABELS: Final[list[dict[str, str]]] = [{}, {"ci": "1"}, {"ci": "ß%_'\"\\", "a": ""}, {"ci": "\ud800"}]
_changes = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["x", "ß\0", None, "'; drop table clocks; --"]),
        "labels": st.sampled_from([*_LABELS, None]),
    },
)

_Kind = tuple[st.SearchStrategy[Any], ...]

_KINDS: Final[dict[str, _Kind]] = {
    "create": (_mostly_ana, _starts, st.lists(_items, max_size=2)),
    "advance": (_mostly_ana, st.integers(0, 3), _moves),
    "advance another's": (_mostly_ana, st.integers(0, 3), _moves),
    "advance what is not there": (_mostly_ana, st.sampled_from(["new", "expired", "of the future", "none"])),
    "create once": (_mostly_ana, st.integers(0, 1), st.booleans()),
    "get": (_mostly_ana, st.integers(0, 3), _previews),
    "get another's": (_mostly_ana, st.integers(0, 3), _previews),
    "fork": (_mostly_ana, st.integers(0, 3), _previews),
    "amend": (
        _mostly_ana,
        st.integers(0, 3),
        st.just([]) | st.lists(_items, max_size=2),
        st.lists(st.sampled_from([0, 0, 0, 1, 3]), max_size=1),
        st.sampled_from([None, None, "k1", "k2"]),
    ),
    "delete": (_mostly_ana, st.integers(0, 3)),
    "delete another's": (_mostly_ana, st.integers(0, 3)),
    "list": (_mostly_ana, st.sampled_from([1, 1, 2, 20, 100, 101]), st.sampled_from(["", "next", "next", "wrong"])),
    "update": (_mostly_ana, st.integers(0, 3), _changes),
    "update another's": (_mostly_ana, st.integers(0, 3), _changes),
    "search": (_mostly_ana, st.sampled_from(_LABELS)),
    "balances": (_mostly_ana, st.integers(0, 3), _previews),
    "who am I": (_mostly_ana,),
    "send a code": (_anyone,),
    "send a link": (_anyone,),
    "send wrongly": (_anyone, st.sampled_from([{"email": "nobody"}, {"emailType": "WEB_LOGIN_LINK"}])),
    "log in": (_anyone, st.sampled_from([0, 0, 1, 2])),
    "log in by link": (_anyone, st.sampled_from([0, 0, 1, 2])),
    "log out": (_anyone,),
}
_CALLS: Final = {
    "create": 6,
    "advance": 10,
    "advance another's": 2,
    "advance what is not there": 2,
    "create once": 4,
    "get": 4,
    "get another's": 1,
    "fork": 3,
    "amend": 6,
    "delete": 4,
    "delete another's": 1,
    "list": 4,
    "update": 4,
    "update another's": 1,
    "search": 4,
    "balances": 2,
    "who am I": 1,
    "send a code": 3,
    "send a link": 3,
    "send wrongly": 1,
    "log in": 3,
    "log in by link": 4,
    "log out": 1,
}
"""How often each action occurs."""
_OF_ONE_CLOCK: Final = {
    "advance": "advanceTestClock",
    "advance another's": "advanceTestClock",
    "get": "getTestClock",
    "get another's": "getTestClock",
    "fork": "forkTestClock",
    "delete": "deleteTestClock",
    "balances": "getTestClockBalances",
    "delete another's": "deleteTestClock",
}
_IN_VAIN: Final = {
    "advance another's",
    "advance what is not there",
    "get another's",
    "delete another's",
    "update another's",
    "send wrongly",
}


def _act(kinds: dict[str, _Kind], weights: dict[str, int]) -> st.SearchStrategy[Any]:
    names = [name for name, weight in weights.items() for _ in range(weight)]
    return st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), *kinds[name]))


_acts = _act(
    {
        **_KINDS,
        "wait": (_waits,),
        "wait and do it again": (_waits,),
        "sign in": (_anyone,),
        "sign in by link": (_anyone,),
        "cancel what has happened": (_mostly_ana,),
        "move": (st.sampled_from(_NETWORKS),),
        "sweep": (st.sampled_from([1, 200]),),
        "batch": (st.lists(_act(_KINDS, _CALLS), min_size=1, max_size=4),),
    },
    # The simplest action is first, so that Hypothesis shrinks towards it.
    {"wait": 6, **_CALLS}
    | {"wait and do it again": 8, "sign in": 4, "sign in by link": 2, "cancel what has happened": 1}
    | {"move": 1, "sweep": 3, "batch": 2},
)


_STEPS: Final[dict[str, list[tuple[Any, ...]]]] = {
    "sign in": [("send a code",), ("log in", 0)],
    "sign in by link": [("send a link",), ("log in by link", 0)],
    "cancel what has happened": [("create", 0 * _DAY, [(0 * _DAY, 1, "Salary")]), ("amend", 0, [], [0], None)],
}
"""Actions that are several calls."""


class _Worlds:
    """Two worlds, one per database. All responses are compared."""

    def __init__(self, *worlds: World) -> None:
        self.worlds = worlds

    @property
    def now(self) -> datetime:
        return self.worlds[0].now

    def pass_time(self, amount: timedelta) -> None:
        for world in self.worlds:
            world.now += amount

    def move_to(self, network: str) -> None:
        for world in self.worlds:
            world.client = network

    async def sweep(self, limit: int) -> None:
        """Sweep both. The stores may sweep different numbers of rows."""
        for world in self.worlds:
            await world.store.sweep(world.now, limit)

    async def post(self, body: Any, token: str | None, **headers: str) -> tuple[HttpResponse, list[Any]]:
        """Return the common response, and the emails."""
        one, other = [await world.post(body, token, **headers) for world in self.worlds]
        assert _comparable(one) == _comparable(other)
        emails, same_emails = map(_new_emails, self.worlds)
        assert emails == same_emails
        return one, emails


def _comparable(response: HttpResponse) -> tuple[int, dict[str, str], bytes]:
    """The response without the request id, and without the date, which each server formats once a second."""
    headers = {**response.headers}
    assert headers.pop("x-request-id").startswith("req_")
    del headers["date"]
    return response.status, headers, response.body


def _new_emails(world: World) -> list[tuple[Any, ...]]:
    """Return the readable parts of emails, without random boundaries and ids."""
    emails = []
    for file in sorted(world.outbox.glob("*.eml")):
        email_message = message_from_bytes(file.read_bytes(), policy=policy.default)
        drawn = ("Message-ID", "Content-Type")
        headers = [(name, str(value)) for name, value in email_message.items() if name not in drawn]
        emails.append((*headers, *(part.get_content() for part in email_message.iter_parts())))
        file.unlink()
    return emails


class _Play:
    """Random actions of some people, starting with an empty server."""

    def __init__(self, worlds: _Worlds, example: int) -> None:
        self.outcomes: Counter[str] = Counter()
        """Count an action by its outcome."""
        self._worlds = worlds
        self._emails = [f"{name}-{example}@example.test" for name in ("ana", "o'neil+x", "ölaf", "nobody")]
        self._tokens: list[str | None] = [None, None, None, "tko_" + 43 * "x"]
        self._codes: dict[str, list[str]] = {email: ["no code"] for email in self._emails}
        self._links: dict[str, list[str]] = {email: ["wrong"] for email in self._emails}
        self._clocks: list[list[tuple[str, datetime]]] = [[], [], [], []]
        self._cursors = ["cursor_none"] * 4
        self._numbers = count(1)
        self._last: Sequence[tuple[Any, ...]] = ()

    async def begin(self) -> None:
        """Sign two of them in by code, and one by link."""
        for who in range(2):
            await self.act("sign in", who)
        await self.act("sign in by link", 2)

    async def act(self, act: str, *how: Any) -> None:
        match act, *how:
            case "wait", amount:
                self._worlds.pass_time(amount)
            case "wait and do it again", amount:
                self._worlds.pass_time(amount)
                await self._call(self._last)
            case (("sign in" | "sign in by link" | "cancel what has happened"), who):
                for name, *arguments in _STEPS[act]:
                    await self._call([(name, who, *arguments)])
            case "move", network:
                self._worlds.move_to(network)
            case "sweep", limit:
                await self._worlds.sweep(limit)
            case "batch", calls:
                await self._call(calls)
            case _:
                await self._call([(act, *how)])

    async def _call(self, acts: Sequence[tuple[Any, ...]]) -> None:
        # A batch has one token, so one person makes all its calls.
        whose = acts[0][1]
        acts = [(act, whose, *how) for act, _, *how in acts]
        self._last = acts
        calls = [call(*self._written(*act), id=number) for number, act in enumerate(acts)]
        single = acts[0] if len(acts) == 1 else ("several",)
        # Batches can't have a key.
        key = {"create once": f"key {single[-2]}", "amend": single[-1]}.get(single[0]) if len(single) > 2 else None
        headers = {"Idempotency-Key": key} if key else {}
        body = calls if len(calls) > 1 else calls[0]
        response, emails = await self._worlds.post(body, self._tokens[whose], **headers)
        for one in response.json if len(calls) > 1 else [response.json]:
            self._learn(one, *acts[one["id"]])
        for email_message in emails:
            headers = dict(email_message[:-2])
            code = headers["Subject"].split()[0]
            if code.isdigit():
                self._codes[headers["To"]].insert(0, code)

    def _written(self, act: str, who: int, *how: Any) -> tuple[str, Any]:
        """Return the method and its parameters."""
        if act in _OF_ONE_CLOCK:
            whose = (who + 1) % 2 if act in _IN_VAIN else who
            return _OF_ONE_CLOCK[act], self._named(whose, *how, time="frozenTime" if "advance" in act else "at")
        now = self._worlds.now
        match act, *how:
            case "create", start, items:
                return "createTestClock", _schedule(now + start, items)
            case "create once", _, is_large:
                # Independent of the time, so that a retry has the same parameters.
                return "createTestClock", {"goals": [goal()] if is_large else []}
            case "list", limit, page:
                cursor = {"": {}, "next": {"cursor": self._cursors[who]}, "wrong": {"cursor": "1"}}[page]
                return "listTestClocks", {"limit": limit} | cursor
            case "advance what is not there", kind:
                return "advanceTestClock", {"id": self._id_of_nothing(kind), "frozenTime": to_timestamp(now)}
            case _:
                return self._written_about_names(act, who, *how)

    def _written_about_names(self, act: str, who: int, *how: Any) -> tuple[str, Any]:
        match act, *how:
            case "update" | "update another's", which, changes:
                whose = (who + 1) % 2 if act in _IN_VAIN else who
                return "updateTestClock", self._named(whose, which, time="at") | changes
            case "amend", which, items, numbers, _:
                return "amendTestClock", self._amendment(who, which, items, numbers)
            case "search", labels:
                return "listTestClocks", {"labels": labels}
            case ("who am I",):
                return "getCurrentUser", {}
            case _:
                return self._written_to_sign_in(act, self._emails[who], *how)

    def _amendment(
        self, who: int, which: int, items: list[tuple[timedelta, float, str]], numbers: list[int]
    ) -> dict[str, Any]:
        id, start = (self._clocks[who] or [("none", self._worlds.now)])[which % (len(self._clocks[who]) or 1)]
        key = id.removeprefix("clock_").replace("-", "")
        added = _schedule(start, items)
        contributions = [{"goalId": f"goal_{key}_0", **item} for item in added["goals"][0]["contributions"][:1]]
        cancel = [f"ctb_{key}_0_0" if number == 3 else f"txn_{key}_{number}" for number in numbers]
        add = {"transactions": added["transactions"], "goals": added["goals"][: len(items)]}
        return {"id": id, "add": add | {"contributions": contributions}, "cancel": cancel}

    def _named(self, whose: int, which: int, after: timedelta | None = None, *, time: str) -> dict[str, str]:
        """Return the parameters with a clock's id, and `at` if it is set."""
        clocks = self._clocks[whose]
        id, start = clocks[which % len(clocks)] if clocks else ("none", self._worlds.now)
        return {"id": id} if after is None else {"id": id, time: to_timestamp(start + after)}

    def _written_to_sign_in(self, act: str, email: str, *how: Any) -> tuple[str, Any]:
        match act, *how:
            case "log in", age:
                return "loginByEmailVerification", login(_nth(self._codes[email], age), email)
            case "log in by link", age:
                return "loginByEmailLink", {"token": _nth(self._links[email], age)}
            case "send wrongly", changes:
                return "sendLoginCodeEmail", send(email) | changes
            case ("log out",):
                return "logout", {}
            case ("send a link",):
                return "sendLoginCodeEmail", send_link(email)
            case _:
                return "sendLoginCodeEmail", send(email)

    def _id_of_nothing(self, kind: str) -> str:
        now, drawn = self._worlds.now, next(self._numbers).to_bytes(10, "big")
        keys = {
            "new": ids.uuid7(now, drawn),
            "expired": ids.uuid7(now - 7 * _DAY, drawn),
            "of the future": b"\xff" * 6 + ids.uuid7(now, drawn)[6:],
        }
        return ids.write("clock", keys[kind]) if kind in keys else "clock_none"

    def _learn(self, response: Any, act: str, who: int, *_: Any) -> None:
        """Remember ids, codes and tokens for later actions."""
        result = response.get("result", {})
        self.outcomes[response["error"]["data"]["reason"] if "error" in response else act] += 1
        match act, result:
            case "create" | "create once" | "fork", {"clock": clock}:
                self._clocks[who].insert(0, (clock["id"], datetime.fromisoformat(clock["frozenTime"])))
            case "list", {"nextCursor": cursor}:
                self._cursors[who] = cursor
            case "log in" | "log in by link", {"token": token}:
                self._tokens[who] = token
            case "send a link", {"loginUrl": link}:
                self._links[self._emails[who]].insert(0, link.partition("#token=")[2])


def _nth(newest_first: list[str], nth: int) -> str:
    return newest_first[min(nth, len(newest_first) - 1)]


def _schedule(start: datetime, items: list[tuple[timedelta, float, str]]) -> dict[str, Any]:
    contributions = [contribution(at=to_timestamp(start + after), amount=amount) for after, amount, _ in items]
    return {
        "frozenTime": to_timestamp(start),
        "transactions": [
            transaction(at=to_timestamp(start + after), amount=amount, name=name) for after, amount, name in items
        ],
        "goals": [goal(contributions=contributions)],
    }


_OUTCOMES: Final = {
    *(_CALLS.keys() - _IN_VAIN),
    Reason.INVALID_PARAMS,
    Reason.UNAUTHENTICATED,
    Reason.CLOCK_NOT_FOUND,
    Reason.CLOCK_EXPIRED,
    Reason.ITEM_NOT_PENDING,
    Reason.TIME_BEFORE_CURRENT,
    Reason.TIME_AFTER_MAX,
    Reason.LOGIN_REFUSED,
    Reason.RESEND_TOO_SOON,
    Reason.RATE_LIMITED,
}
_POLICY: Final = Policy("https://tickover.example.test", max_clocks_per_user=2, client_burst=0)
_examples = count(1)


@pytest.fixture
async def stores(sqlite_url: str, postgres_url: str) -> AsyncIterator[list[Store]]:
    opened = [await open_checked_store(url) for url in (sqlite_url, postgres_url)]
    yield opened
    for store in opened:
        await store.close()


@pytest.fixture
def outcomes() -> Iterator[Counter[str]]:
    """Outcomes over all examples. Every possible outcome must have occurred."""
    counted: Counter[str] = Counter()
    yield counted
    if counted.total() > _ACTS:
        assert set(counted) == _OUTCOMES


@settings(
    deadline=None,
    derandomize=True,
    max_examples=_EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(acts=st.lists(_acts, min_size=_ACTS, max_size=_ACTS))
async def test_both_stores_give_the_same_responses(
    stores: list[Store], outcomes: Counter[str], tmp_path: Path, acts: list[tuple[Any, ...]]
) -> None:
    """Each example has its own two worlds, with its own people, ids and secrets."""
    example = next(_examples)
    worlds = []
    for number, store in enumerate(stores):
        outbox = tmp_path / f"{example}-{number}"
        mailer = Outbox(outbox, COMPOSER)
        worlds.append(World(store, mailer, outbox, _POLICY, seed=example))
    play = _Play(_Worlds(*worlds), example)
    await play.begin()
    for act in acts:
        await play.act(*act)
    outcomes += play.outcomes
