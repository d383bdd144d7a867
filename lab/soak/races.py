"""R5: seven kinds of races, a thousand rounds each, fifty calls at once, with exact results.

Each round uses new addresses or clocks.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lab.soak.raw_connections import RawConnection, call_all_at_once, open_connections
from lab.soak.rows import Context, Figure, Row, at_least
from tests.support.program import Program, code_params, verify_params
from tests.support.world import HttpResponse

CROWD = 50


def outcomes(responses: Iterable[HttpResponse]) -> Counter[str]:
    """Count responses by reason; "ok" counts results."""
    return Counter(
        response.json["error"]["data"]["reason"] if "error" in response.json else "ok" for response in responses
    )


def wrong_guesses(email: str, code: str, amount: int) -> list[dict[str, str]]:
    """Return the parameters of this number of different wrong codes."""
    return [verify_params(email, f"{(int(code) + distance) % 1_000_000:06}") for distance in range(1, amount + 1)]


def written(moment: datetime) -> str:
    """Return a timestamp in UTC and whole seconds, so that texts sort like instants."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


START = datetime(2027, 1, 1, tzinfo=UTC)
SCHEDULE = {
    "frozenTime": written(START),
    "transactions": [
        {"at": written(START + timedelta(days=day)), "name": f"Day {day}", "amount": day, "currency": "EUR",
         "type": "INCOME"}
        for day in range(1, CROWD + 1)
    ],
}  # fmt: skip


ACCOUNTS = [{"key": key, "name": key, "currency": "EUR"} for key in ("main", "spare")]


class Call(NamedTuple):
    method: str
    params: dict[str, Any]
    key: str = ""


class Race(NamedTuple):
    """A program, a signed-in user of it, and fifty connections with that user's token."""

    program: Program
    token: str
    crowd: list[RawConnection]

    async def at_once(self, calls: list[Call]) -> list[HttpResponse]:
        """Send one call on each connection before the first response is read."""
        crowd = self.crowd[: len(calls)]
        for connection, call in zip(crowd, calls, strict=True):
            connection.send(call.method, call.params, key=call.key)
        return await asyncio.gather(*(connection.receive() for connection in crowd))

    def live_clocks(self) -> set[str]:
        page = self.program.result("listTestClocks", {"limit": 100}, self.token)
        assert "nextCursor" not in page
        return {clock["id"] for clock in page["clocks"]}

    def code_reason(self, email: str, code: str) -> str:
        """Sign in with a code, and return the reason of the error, or "ok"."""
        response = self.program.call("loginByEmailVerification", verify_params(email, code))
        return str(response["error"]["data"]["reason"]) if "error" in response else "ok"


def by_turns(first: list[Call], second: list[Call]) -> list[Call]:
    return [call for pair in zip(first, second, strict=True) for call in pair]


def clocks_in(responses: list[HttpResponse]) -> list[Any]:
    return [response.json["result"]["clock"] for response in responses if "clock" in response.json.get("result", {})]


async def send_one_email(race: Race, number: int) -> None:
    """One of fifty sends to the same address succeeds."""
    email = f"send{number}@example.test"
    emails = race.program.email_count
    responses = await call_all_at_once(race.crowd, "sendLoginCodeEmail", [code_params(email)] * CROWD)
    assert outcomes(responses) == {"ok": 1, "RESEND_TOO_SOON": CROWD - 1}
    rejected = [response for response in responses if "error" in response.json]
    waits = [response.json["error"]["data"]["retryAfterSeconds"] for response in rejected]
    assert all(1 <= wait <= 60 for wait in waits)
    assert [(response.status, response.headers["retry-after"]) for response in rejected] == [
        (429, str(wait)) for wait in waits
    ]
    assert race.program.email_count == emails + 1


async def sign_in_once(race: Race, number: int) -> None:
    """One of fifty sign-ins with the right code succeeds."""
    email = f"code{number}@example.test"
    params = verify_params(email, race.program.send_code(email))
    responses = await call_all_at_once(race.crowd, "loginByEmailVerification", [params] * CROWD)
    assert outcomes(responses) == {"ok": 1, "LOGIN_REFUSED": CROWD - 1}
    assert len({response.body for response in responses}) == 2, "all errors are the same, byte for byte"
    token = next(response.json["result"]["token"] for response in responses if "result" in response.json)
    assert "result" in race.program.call("listTestClocks", {}, token)


async def count_wrong_codes(race: Race, number: int) -> None:
    """Concurrent wrong codes are each counted: after four, the right code works; after five or fifty, it fails."""
    email = f"wrong{number}@example.test"
    code = race.program.send_code(email)
    wrong, reason = [(4, "ok"), (5, "LOGIN_REFUSED"), (CROWD, "LOGIN_REFUSED")][number % 3]
    responses = await call_all_at_once(
        race.crowd[:wrong], "loginByEmailVerification", wrong_guesses(email, code, wrong)
    )
    assert outcomes(responses) == {"LOGIN_REFUSED": wrong}
    assert race.code_reason(email, code) == reason


async def create_one_clock_with_one_key(race: Race, number: int) -> None:
    """Fifty creations with the same idempotency key return the same clock."""
    responses = await race.at_once([Call("createTestClock", SCHEDULE, f"round {number}")] * CROWD)
    assert outcomes(responses) == {"ok": CROWD}
    assert len({response.body for response in responses}) == 1
    [clock] = clocks_in(responses[:1])
    assert race.live_clocks() == {clock["id"]}
    race.program.result("deleteTestClock", {"id": clock["id"]}, race.token)


async def delete_one_clock_during_advances(race: Race, _number: int) -> None:
    """One of 25 deletions succeeds. Each of 25 advances moves the whole clock, or fails."""
    clock = race.program.result("createTestClock", SCHEDULE, race.token)["clock"]
    days = [written(START + timedelta(days=day)) for day in range(1, CROWD // 2 + 1)]
    advances = [Call("advanceTestClock", {"id": clock["id"], "frozenTime": day}) for day in days]
    deletions = [Call("deleteTestClock", {"id": clock["id"]})] * len(days)
    responses = await race.at_once(by_turns(advances, deletions))
    assert outcomes(responses[1::2]) == {"ok": 1, "CLOCK_NOT_FOUND": len(days) - 1}
    assert set(outcomes(responses[::2])) <= {"ok", "CLOCK_NOT_FOUND", "TIME_BEFORE_CURRENT"}
    for moved in clocks_in(responses):
        day = datetime.fromisoformat(moved["frozenTime"]) - START
        assert (len(moved["transactions"]), len(moved["pendingTransactions"])) == (day.days, CROWD - day.days)
    assert race.live_clocks() == set()
    deleted = race.program.call("advanceTestClock", {"id": clock["id"], "frozenTime": days[-1]}, race.token)
    assert deleted["error"]["data"]["reason"] == "CLOCK_NOT_FOUND"


async def advance_one_clock_by_days(race: Race, number: int) -> None:
    """25 advances by a day add up with 25 that have one idempotency key, of which one moves the clock."""
    clock = race.program.result("createTestClock", SCHEDULE, race.token)["clock"]
    params = {"id": clock["id"], "by": "1d", "events": True}
    one_by_one = [Call("advanceTestClock", params, f"day {number} {day}") for day in range(CROWD // 2)]
    same = [Call("advanceTestClock", params, f"days {number}")] * (CROWD // 2)
    responses = await race.at_once(by_turns(one_by_one, same))
    assert outcomes(responses) == {"ok": CROWD}
    happened = [event["transaction"]["name"] for each in responses for event in each.json["result"]["events"]]
    assert sorted(happened) == sorted(f"Day {day}" for day in range(1, CROWD // 2 + 2)), "each happened in one advance"
    end = race.program.result("getTestClock", {"id": clock["id"]}, race.token)["clock"]
    assert end["frozenTime"] == written(START + timedelta(days=CROWD // 2 + 1))
    race.program.result("deleteTestClock", {"id": clock["id"]}, race.token)


async def amend_one_clock_during_advances(race: Race, number: int) -> None:
    """Of 25 cancellations of an item and 13 advances past it, one order holds for all.

    No addition is lost, and those with the same idempotency key are one. The balances of the accounts are those of the
    items, and the clock has the expectations of one of the updates.
    """
    clock = race.program.result("createTestClock", {**SCHEDULE, "accounts": ACCOUNTS}, race.token)["clock"]
    item = clock["pendingTransactions"][CROWD // 2]
    day = datetime.fromisoformat(item["at"]) - START
    late = written(START + timedelta(days=CROWD + 1))
    added = {"at": late, "name": "Added", "amount": 1, "from": "main", "to": "spare"}
    cancellations = [Call("amendTestClock", {"id": clock["id"], "cancel": [item["id"]]})] * (CROWD // 2)
    distinct = CROWD // 8
    params = {"id": clock["id"], "add": {"transfers": [added]}}
    additions = [Call("amendTestClock", params), Call("amendTestClock", params, f"addition {number}")] * distinct
    rules = [[{"posted": {"name": "Day 1", "by": late, "count": count}}] for count in range(1, distinct + 1)]
    updates = [Call("updateTestClock", {"id": clock["id"], "expectations": rule}) for rule in rules]
    moves = CROWD // 2 - len(additions) - len(updates)
    advances = [Call("advanceTestClock", {"id": clock["id"], "frozenTime": item["at"]})] * moves
    responses = await race.at_once(by_turns(cancellations, [*additions, *updates, *advances]))
    cancelled = outcomes(responses[::2])
    # Once it is cancelled, the item is unknown. Once it has happened, it stays.
    assert cancelled == (
        {"ok": 1, "INVALID_PARAMS": CROWD // 2 - 1} if cancelled["ok"] else {"ITEM_NOT_PENDING": CROWD // 2}
    )
    assert outcomes(responses[1::2]) == {"ok": CROWD // 2}
    end = race.program.result("getTestClock", {"id": clock["id"]}, race.token)["clock"]
    items = [*end["transactions"], *end["pendingTransactions"], *end["pendingTransfers"]]
    assert len(items) == len({each["id"] for each in items}) == CROWD + distinct + 1 - cancelled["ok"]
    assert len(end["transactions"]) == day.days - cancelled["ok"]
    assert end["expectations"] in rules
    balances = [account["balance"] for account in end["accounts"]]
    assert balances == [sum(each["amount"] for each in end["transactions"]), 0]
    race.program.result("deleteTestClock", {"id": clock["id"]}, race.token)


Round = Callable[[Race, int], Awaitable[None]]
KINDS: dict[str, Round] = {
    "one of fifty emails is sent": send_one_email,
    "one of fifty right codes signs in": sign_in_once,
    "every wrong code is counted": count_wrong_codes,
    "fifty creations with one key make one clock": create_one_clock_with_one_key,
    "a clock is deleted once, whole": delete_one_clock_during_advances,
    "advances by a day add up": advance_one_clock_by_days,
    "an item is cancelled before it happens, or not": amend_one_clock_during_advances,
}


def run(context: Context) -> Iterator[Figure]:
    rounds = context.scale(1_000, 12)
    # Two processes race for the same rows.
    workers = {} if context.store == "sqlite" else {"TICKOVER_WORKERS": "2"}
    with context.database() as settings, Program(context.folder, **settings, **workers) as program:
        token = program.sign_in()
        for place, name in enumerate(KINDS):
            numbers = context.rounds(rounds, f"{name}, round", place / len(KINDS), (place + 1) / len(KINDS))
            done = asyncio.run(_race(program, token, name, numbers))
            yield at_least(f"rounds with exact results: {name}", done, rounds)


async def _race(program: Program, token: str, name: str, numbers: Iterator[int]) -> int:
    """Run the rounds, and return their count."""
    done = 0
    async with open_connections(program.url, CROWD, token) as crowd:
        race = Race(program, token, crowd)
        for number in numbers:
            await KINDS[name](race, number)
            done += 1
    return done


ROW = Row(
    "R5",
    "Races",
    "7 kinds of races, 1,000 rounds of 50 concurrent calls each, with exact results",
    run,
    minutes=5,
    quick_minutes=0.2,
)
