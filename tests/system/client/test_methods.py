"""Every method of the client, against a real server."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.support.cases import each_case
from tests.support.program import Program
from tests.system.client.clients import Client, OpenClient, catch, collect, resolve
from tests.system.client.servers import Step, reject, respond_normally, respond_with, scripted_server
from tickover.client import NoCode, NothingLeft, Plan, Reason, Rejection, contribution, expense, goal, income
from tickover.scenarios import load

START = datetime(2027, 1, 1, tzinfo=UTC)
RENT = datetime(2027, 1, 3, 8, tzinfo=UTC)
SAVED = datetime(2027, 1, 26, 8, tzinfo=UTC)
SALARY = datetime(2027, 1, 25, 8, tzinfo=UTC)

PLAN = Plan(
    frozen_time=START,
    transactions=[
        income("Salary", Decimal("2800.10"), "EUR", at="2027-01-25T09:00:00+01:00"),
        expense("Rent", 1150, "EUR", RENT, category="Home"),
    ],
    goals=[
        goal("Trip", 3000, 500, [contribution(0.1, SAVED), contribution(0.2, SAVED + timedelta(days=30))]),
        goal("Bike", target=400),
    ],
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


async def catch_rejection(call: Any) -> Rejection:
    rejection: Rejection = await catch(Rejection, call)
    return rejection


# Sign-in


async def test_sign_in_with_a_code(open_client: OpenClient, program: Program, email: str) -> None:
    async with open_client(program.url) as client:
        assert await resolve(client.latest_email(email)) is None
        assert await resolve(client.send_code(email)) is None
        received = await resolve(client.latest_email(email))
        assert (received.to, received.subject) == (email, f"{received.code} is your Tickover code")
        assert received.code in received.text
        assert received.login_url is None
        assert abs(datetime.now(UTC) - received.sent_at) < timedelta(minutes=1)
        signed_in = await resolve(client.log_in(email, received.code))
        assert signed_in.user_id.startswith("user_")
        assert client.token == signed_in.token
        assert await collect(client.list_clocks()) == []
        user = await resolve(client.current_user())
        assert (user.user_id, user.email, user.token.type) == (signed_in.user_id, email, "SESSION")
        assert timedelta(days=29) < user.token.expires_at - datetime.now(UTC) <= timedelta(days=30)


async def test_sign_in_uses_the_unused_code_of_the_last_minute(
    open_client: OpenClient, program: Program, email: str
) -> None:
    async with open_client(program.url) as client:
        await resolve(client.send_code(email))
        signed_in = await resolve(client.sign_in(email))
        assert (await resolve(client.current_user())).user_id == signed_in.user_id
        rejection = await catch_rejection(lambda: client.sign_in(email))
        assert rejection.reason is Reason.RESEND_TOO_SOON
        await resolve(client.log_out())
        assert (await resolve(client.sign_in(email))).user_id == signed_in.user_id


NO_MAILBOX = respond_with("No.", 404, "text/plain")


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        pytest.param([respond_normally, NO_MAILBOX], NoCode, id="real emails"),
        pytest.param([respond_normally, respond_normally], NoCode, id="email without a code"),
        pytest.param([reject("RESEND_TOO_SOON"), NO_MAILBOX], Rejection, id="too soon, with real emails"),
        pytest.param([reject("RATE_LIMITED")], Rejection, id="rate limit"),
    ],
)
async def test_sign_in_without_a_code_raises(
    open_client: OpenClient, steps: list[Step], error: type[Exception]
) -> None:
    with scripted_server(*steps) as server:
        async with open_client(server.url) as client:
            await catch(error, lambda: client.sign_in("ana@example.test"))
        assert len(server.requests) == len(steps)


async def test_access_tokens(open_client: OpenClient, program: Program, email: str) -> None:
    async with open_client(program.url) as client:
        await resolve(client.sign_in(email))
        created = await resolve(client.create_access_token("CI", expires_in_days=7, read_only=True))
        assert created.token not in repr(created)
        async with open_client(program.url, created.token) as job:
            assert await collect(job.list_clocks()) == []
            assert (await catch_rejection(job.create_clock)).reason == Reason.FORBIDDEN
        (listed,) = await resolve(client.list_access_tokens())
        assert (listed.id, listed.name, listed.read_only) == (created.id, "CI", True)
        assert (listed.expires_at - listed.created_at, listed.expires_at) == (timedelta(days=7), created.expires_at)
        assert listed.last_used_on is not None
        await resolve(client.revoke_access_token(created.id))
        assert list(await resolve(client.list_access_tokens())) == []


@pytest.mark.parametrize("part", ["link", "secret"])
async def test_sign_in_with_a_link(open_client: OpenClient, program: Program, email: str, part: str) -> None:
    async with open_client(program.url) as client:
        link = await resolve(client.send_link(email))
        assert (await resolve(client.latest_email(email))).login_url == link
        argument = link if part == "link" else link.partition("#token=")[2]
        assert client.token is None
        assert client.token != (await resolve(client.log_in_by_link(argument))).token
        assert await collect(client.list_clocks()) == []


async def test_latest_email_is_none_for_an_invalid_address(open_client: OpenClient, program: Program) -> None:
    async with open_client(program.url) as client:
        assert await resolve(client.latest_email("nobody at all")) is None


async def test_a_wrong_code_is_rejected(open_client: OpenClient, program: Program, email: str) -> None:
    async with open_client(program.url) as client:
        assert (await catch_rejection(lambda: client.log_in(email, "000000"))).reason is Reason.LOGIN_REFUSED
        assert client.token is None


async def test_log_out_revokes_and_removes_the_token(client: Client) -> None:
    token = client.token
    await resolve(client.log_out())
    assert client.token is None
    client.token = token
    assert (await catch_rejection(client.list_page)).reason is Reason.UNAUTHENTICATED


async def test_create_clock_without_a_token_is_rejected(open_client: OpenClient, program: Program) -> None:
    async with open_client(program.url) as client:
        assert (await catch_rejection(client.create_clock)).reason is Reason.UNAUTHENTICATED


# Create


async def test_a_clock_contains_its_plan(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    assert clock.id.startswith("clock_")
    assert (clock.status, clock.frozen_time, clock.max_time) == ("READY", START, utc(2037, 1, 1))
    assert timedelta(days=6) < clock.expires_at - datetime.now(UTC) <= timedelta(days=7)
    assert list(clock.transactions) == []
    rent, salary = clock.pending_transactions
    assert (rent.name, rent.at, rent.amount, rent.currency, rent.type) == ("Rent", RENT, 1150, "EUR", "EXPENSE")
    assert (rent.category, salary.category) == ("Home", None)
    assert (salary.type, salary.at, salary.amount) == ("INCOME", SALARY, Decimal("2800.1"))
    trip, bike = clock.goals
    assert (trip.name, trip.target_amount, trip.current_amount, trip.remaining_amount) == ("Trip", 3000, 500, 2500)
    assert trip.progress_percent == Decimal("16.67")
    assert [str(item.amount) for item in trip.upcoming_contributions] == ["0.1", "0.2"]
    assert (bike.current_amount, list(bike.contributions), list(bike.upcoming_contributions)) == (0, [], [])
    assert clock.next_at == RENT


async def test_a_clock_from_parts_equals_a_clock_from_a_plan(client: Client) -> None:
    planned = await resolve(client.create_clock(PLAN))
    made = await resolve(
        client.create_clock(frozen_time="2027-01-01T01:00:00+01:00", transactions=PLAN.transactions, goals=PLAN.goals)
    )
    assert made.frozen_time == planned.frozen_time
    assert [item.name for item in made.pending_transactions] == ["Rent", "Salary"]
    assert [item.name for item in made.goals] == ["Trip", "Bike"]


async def test_an_empty_clock_starts_now(client: Client) -> None:
    clock = await resolve(client.create_clock())
    assert abs(datetime.now(UTC) - clock.frozen_time) < timedelta(minutes=1)
    assert clock.next_at is None


@each_case("part", ["frozen_time", "transactions", "goals"])
async def test_a_plan_with_parts_is_rejected(client: Client, part: str) -> None:
    with pytest.raises(ValueError, match="pass either a plan or frozen_time, transactions and goals"):
        await resolve(client.create_clock(Plan(), **{part: getattr(PLAN, part)}))


async def test_a_scenario_is_not_accepted_as_a_plan(client: Client) -> None:
    for wrong in (load("trip"), "trip"):
        with pytest.raises(ValueError, match=r"use scenarios\.load\(NAME\)\.plan\(START\)$"):
            await resolve(client.create_clock(wrong))


async def test_the_same_idempotency_key_returns_the_same_clock(client: Client) -> None:
    first = await resolve(client.create_clock(PLAN, idempotency_key="a key"))
    again = await resolve(client.create_clock(PLAN, idempotency_key="a key"))
    other = await resolve(client.create_clock(PLAN))
    assert first.id == again.id != other.id


@each_case("length", [1, 255])
async def test_idempotency_keys_of_minimum_and_maximum_length(client: Client, length: int) -> None:
    assert await resolve(client.create_clock(idempotency_key="k" * length))


@each_case("key", ["", "k" * 256, "ключ", "a\nb", " k", "k ", "a\x7fb"])
async def test_an_invalid_idempotency_key_is_rejected_by_the_client(client: Client, key: str) -> None:
    with pytest.raises(ValueError, match="an idempotency key must have 1 to 255 printable ASCII characters"):
        await resolve(client.create_clock(idempotency_key=key))


async def test_all_faults_are_reported_at_once(client: Client) -> None:
    plan = Plan(START, [income("", -5, "EUR", START)], [goal("Trip", 10, initial=20)])
    rejection = await catch_rejection(lambda: client.create_clock(plan))
    assert rejection.reason is Reason.INVALID_PARAMS
    assert rejection.message == "3 fields of createTestClock are invalid."
    assert str(rejection).splitlines() == [
        rejection.message,
        *(f"  {fault.path} {fault.message}" for fault in rejection.faults),
    ]
    assert {fault.path: fault.got for fault in rejection.faults} == {
        "transactions[0].name": "",
        "transactions[0].amount": -5,
        "goals[0].initialAmount": 20,
    }


# Advance


async def test_advance_returns_posted_items_in_order_of_time(client: Client) -> None:
    plan = Plan(
        START,
        [income("Second", 1, "EUR", RENT + timedelta(hours=2)), expense("First", 1, "EUR", RENT)],
        [
            goal("One", 10, 0, [contribution(1, RENT + timedelta(hours=3)), contribution(2, RENT)]),
            goal("Two", 10, 0, [contribution(3, RENT + timedelta(hours=1))]),
        ],
    )
    clock = await resolve(client.create_clock(plan))
    result = await resolve(clock.advance(RENT + timedelta(hours=3)))
    assert (result.before, result.after) == (START, RENT + timedelta(hours=3))
    assert [item.name for item in result.transactions] == ["First", "Second"]
    assert [(of.name, item.amount) for of, item in result.contributions] == [("One", 2), ("Two", 3), ("One", 1)]
    assert [of.current_amount for of, _ in result.contributions] == [3, 3, 3]
    later = await resolve(clock.advance(days=1))
    assert (later.before, later.transactions, later.contributions) == (result.after, [], [])


@each_case(
    ("duration", "expected"),
    [
        ({"years": 1}, utc(2028, 1, 31, 8)),
        ({"months": 1}, utc(2027, 2, 28, 8)),
        ({"weeks": 1}, utc(2027, 2, 7, 8)),
        ({"days": 1}, utc(2027, 2, 1, 8)),
        ({"hours": 16}, utc(2027, 2, 1)),
        ({"minutes": 1}, utc(2027, 1, 31, 8, 1)),
        ({"seconds": 1}, utc(2027, 1, 31, 8, 0, 1)),
        ({"months": 1, "days": 1}, utc(2027, 3, 1, 8)),
    ],
)
async def test_advance_by_a_duration(client: Client, duration: dict[str, int], expected: datetime) -> None:
    clock = await resolve(client.create_clock(frozen_time="2027-01-31T08:00:00Z"))
    await resolve(clock.advance(**duration))
    assert clock.frozen_time == clock.snapshot.frozen_time == expected


@each_case(
    "to",
    [
        utc(2027, 2, 1),
        datetime(2027, 2, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        "2027-02-01T00:00:00Z",
        "2027-02-01T05:30:00+05:30",
        "2027-02-01",
        date(2027, 2, 1),
    ],
)
async def test_advance_to_an_instant(client: Client, to: datetime | str) -> None:
    clock = await resolve(client.create_clock(PLAN))
    await resolve(clock.advance(to))
    assert clock.frozen_time == utc(2027, 2, 1)
    assert clock.frozen_time.tzinfo is UTC


@each_case(
    ("to", "duration", "message"),
    [
        (None, {}, "advance takes either an instant or a duration"),
        (None, {"days": 0}, "advance takes either an instant or a duration"),
        (utc(2028, 1, 1), {"days": 1}, "advance takes either an instant or a duration"),
        (datetime(2028, 1, 1), {}, "2028-01-01T00:00:00 has no time zone"),  # noqa: DTZ001 - the time zone is missing on purpose
        ("2028-01", {}, "'2028-01' must be an RFC 3339 timestamp"),
        (None, {"years": 7973}, "plus this duration is after the year 9999"),
    ],
)
async def test_advance_rejects_invalid_arguments(
    client: Client, to: Any, duration: dict[str, int], message: str
) -> None:
    clock = await resolve(client.create_clock(PLAN))
    with pytest.raises(ValueError, match=message):
        await resolve(clock.advance(to, **duration))


@each_case(
    ("to", "reason", "detail"),
    [
        (START - timedelta(microseconds=1), Reason.TIME_BEFORE_CURRENT, {"currentFrozenTime": "2027-01-01T00:00:00Z"}),
        (utc(2037, 1, 1, 0, 0, 1), Reason.TIME_AFTER_MAX, {"maxTime": "2037-01-01T00:00:00Z"}),
    ],
)
async def test_advance_outside_the_range_of_the_clock_is_rejected(
    client: Client, to: datetime, reason: Reason, detail: dict[str, str]
) -> None:
    clock = await resolve(client.create_clock(PLAN))
    rejection = await catch_rejection(lambda: clock.advance(to))
    assert (rejection.reason, rejection.details) == (reason, detail)
    assert clock.frozen_time == START


async def test_advance_to_next_until_nothing_is_left(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    visited = []
    while clock.next_at is not None:
        result = await resolve(clock.advance_to_next())
        visited.append(result.after)
        assert len(result.transactions) + len(result.contributions) == 1
    assert visited == [RENT, SALARY, SAVED, SAVED + timedelta(days=30)]
    error = await catch(NothingLeft, clock.advance_to_next)
    assert str(error) == f"Nothing is pending or upcoming on {clock.id}."


async def test_preview_does_not_move_the_clock(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    snapshot = await resolve(clock.preview(SALARY))
    assert (snapshot.frozen_time, [item.name for item in snapshot.transactions]) == (SALARY, ["Rent", "Salary"])
    await resolve(clock.refresh())
    assert clock.frozen_time == START


async def test_refresh_loads_the_current_state(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    other = await resolve(client.get_clock(clock.id))
    await resolve(other.advance(SALARY))
    assert clock.frozen_time == START
    assert await resolve(clock.refresh()) is None
    assert (clock.frozen_time, clock.snapshot) == (SALARY, other.snapshot)


async def test_advance_returns_everything_since_the_last_response(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    await resolve((await resolve(client.get_clock(clock.id))).advance(RENT))
    assert [item.name for item in (await resolve(clock.advance(SALARY))).transactions] == ["Rent", "Salary"]


# Get, fork, delete, list


async def test_get_a_clock_by_id(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN))
    assert (await resolve(client.get_clock(clock.id))).snapshot == clock.snapshot
    assert (await resolve(client.get_clock(clock.id, RENT))).snapshot == await resolve(clock.preview(RENT))


@each_case("through", ["client", "clock"])
async def test_a_fork_starts_at_the_requested_instant(client: Client, through: str) -> None:
    clock = await resolve(client.create_clock(PLAN))
    await resolve(clock.advance(years=1))
    fork = clock.fork if through == "clock" else lambda *at: client.fork_clock(clock.id, *at)
    copy, later = await resolve(fork()), await resolve(fork("2027-01-03T08:00:00Z"))
    assert len({clock.id, copy.id, later.id}) == 3
    assert (copy.frozen_time, later.frozen_time) == (START, RENT)
    assert [item.name for item in (await resolve(copy.advance_to_next())).transactions] == ["Rent"]


@each_case("through", ["client", "clock"])
async def test_a_deleted_clock_is_not_found(client: Client, through: str) -> None:
    clock = await resolve(client.create_clock(PLAN))
    assert await resolve(clock.delete() if through == "clock" else client.delete_clock(clock.id)) is None
    assert (await catch_rejection(clock.refresh)).reason is Reason.CLOCK_NOT_FOUND
    assert (await catch_rejection(clock.delete)).reason is Reason.CLOCK_NOT_FOUND


async def test_clocks_are_listed_newest_first(client: Client) -> None:
    made = [(await resolve(client.create_clock(PLAN))).id for _ in range(3)]
    assert [clock.id for clock in await collect(client.list_clocks())] == made[::-1]
    page = await resolve(client.list_page(2))
    assert [clock.id for clock in page.clocks] == made[:0:-1]
    rest = await resolve(client.list_page(2, page.next_cursor))
    assert ([clock.id for clock in rest.clocks], rest.next_cursor) == (made[:1], None)
    assert (rest.clocks[0].frozen_time, rest.clocks[0].max_time) == (START, utc(2037, 1, 1))


async def test_names_and_labels_are_set_changed_and_removed(client: Client) -> None:
    clock = await resolve(client.create_clock(PLAN, name="Budget", labels={"ci": "1"}))
    assert (clock.name, clock.labels) == ("Budget", {"ci": "1"})
    fork = await resolve(clock.fork(labels={"ci": "2"}))
    assert (fork.name, fork.labels) == ("Budget", {"ci": "2"})
    await resolve(clock.rename("Home"))
    assert (clock.name, clock.labels) == ("Home", {"ci": "1"})
    assert [each.id for each in await collect(client.list_clocks({"ci": "1"}))] == [clock.id]
    assert [each.name for each in (await resolve(client.list_page(labels={"ci": "2"}))).clocks] == ["Budget"]
    await resolve(clock.update(name=None, labels=None))
    assert (clock.name, clock.labels) == (None, {})


async def test_list_clocks_loads_all_pages(client: Client, program: Program) -> None:
    responses = program.batch("createTestClock", [{}] * 101, client.token)
    listed = [clock.id for clock in await collect(client.list_clocks())]
    assert sorted(listed) == sorted(response["result"]["clock"]["id"] for response in responses)


async def test_discover_returns_the_openrpc_document(open_client: OpenClient, program: Program) -> None:
    async with open_client(program.url) as client:
        document = await resolve(client.discover())
    assert {"createTestClock", "advanceTestClock"} <= {method["name"] for method in document["methods"]}
