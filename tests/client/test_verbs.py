"""Every verb of the client, against the real program."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.client.driving import Client, Opener, done, every, raised
from tests.program import Program
from tickover.client import NothingLeft, Plan, Reason, Rejection, contribution, expense, goal, income
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


async def refused(ask: Any) -> Rejection:
    rejection: Rejection = await raised(Rejection, ask)
    return rejection


# Signing in


async def test_a_code_signs_in(opened: Opener, program: Program, email: str) -> None:
    async with opened(program.url) as client:
        assert await done(client.latest_letter(email)) is None
        assert await done(client.send_code(email)) is None
        letter = await done(client.latest_letter(email))
        assert (letter.to, letter.subject) == (email, f"{letter.code} is your Tickover code")
        assert letter.code in letter.text
        assert letter.login_url is None
        assert abs(datetime.now(UTC) - letter.sent_at) < timedelta(minutes=1)
        signed_in = await done(client.log_in(email, letter.code))
        assert signed_in.user_id.startswith("user_")
        assert client.token == signed_in.token
        assert await every(client.list_clocks()) == []


@pytest.mark.parametrize("part", ["link", "secret"])
async def test_a_link_signs_in(opened: Opener, program: Program, email: str, part: str) -> None:
    async with opened(program.url) as client:
        link = await done(client.send_link(email))
        assert (await done(client.latest_letter(email))).login_url == link
        given = link if part == "link" else link.partition("#token=")[2]
        assert client.token is None
        assert client.token != (await done(client.log_in_by_link(given))).token
        assert await every(client.list_clocks()) == []


async def test_what_is_no_address_has_no_letters(opened: Opener, program: Program) -> None:
    async with opened(program.url) as client:
        assert await done(client.latest_letter("nobody at all")) is None


async def test_a_wrong_code_leaves_nobody_signed_in(opened: Opener, program: Program, email: str) -> None:
    async with opened(program.url) as client:
        assert (await refused(lambda: client.log_in(email, "000000"))).reason is Reason.LOGIN_REFUSED
        assert client.token is None


async def test_logging_out_revokes_the_token_and_forgets_it(client: Client) -> None:
    token = client.token
    await done(client.log_out())
    assert client.token is None
    client.token = token
    assert (await refused(client.list_page)).reason is Reason.UNAUTHENTICATED


async def test_without_a_token_clocks_are_refused(opened: Opener, program: Program) -> None:
    async with opened(program.url) as client:
        assert (await refused(client.create_clock)).reason is Reason.UNAUTHENTICATED


# Creating


async def test_a_clock_shows_what_was_planned(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
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


async def test_parts_make_the_same_clock_as_their_plan(client: Client) -> None:
    planned = await done(client.create_clock(PLAN))
    made = await done(
        client.create_clock(frozen_time="2027-01-01T01:00:00+01:00", transactions=PLAN.transactions, goals=PLAN.goals)
    )
    assert made.frozen_time == planned.frozen_time
    assert [item.name for item in made.pending_transactions] == ["Rent", "Salary"]
    assert [item.name for item in made.goals] == ["Trip", "Bike"]


async def test_a_clock_of_nothing_starts_now(client: Client) -> None:
    clock = await done(client.create_clock())
    assert abs(datetime.now(UTC) - clock.frozen_time) < timedelta(minutes=1)
    assert clock.next_at is None


@pytest.mark.parametrize("part", ["frozen_time", "transactions", "goals"])
async def test_a_plan_and_its_parts_are_too_much(client: Client, part: str) -> None:
    with pytest.raises(ValueError, match="give a plan or its parts, and not both"):
        await done(client.create_clock(Plan(), **{part: getattr(PLAN, part)}))


async def test_a_scenario_is_no_plan_yet(client: Client) -> None:
    for wrong in (load("trip"), "trip"):
        with pytest.raises(ValueError, match=r"it is scenarios\.load\(NAME\)\.plan\(START\)$"):
            await done(client.create_clock(wrong))


async def test_the_same_key_gives_the_same_clock(client: Client) -> None:
    first = await done(client.create_clock(PLAN, idempotency_key="a key"))
    again = await done(client.create_clock(PLAN, idempotency_key="a key"))
    other = await done(client.create_clock(PLAN))
    assert first.id == again.id != other.id


@pytest.mark.parametrize("length", [1, 255])
async def test_a_key_may_be_so_long(client: Client, length: int) -> None:
    assert await done(client.create_clock(idempotency_key="k" * length))


@pytest.mark.parametrize("key", ["", "k" * 256, "ключ", "a\nb", " k", "k ", "a\x7fb"])
async def test_a_key_that_no_header_can_carry_is_refused_here(client: Client, key: str) -> None:
    with pytest.raises(ValueError, match="an idempotency key must have 1 to 255 printable ASCII characters"):
        await done(client.create_clock(idempotency_key=key))


async def test_all_faults_are_told_at_once(client: Client) -> None:
    plan = Plan(START, [income("", -5, "EUR", START)], [goal("Trip", 10, initial=20)])
    rejection = await refused(lambda: client.create_clock(plan))
    assert rejection.reason is Reason.INVALID_PARAMS
    assert rejection.message == "3 fields of createTestClock were refused."
    assert str(rejection).splitlines() == [
        rejection.message,
        *(f"  {fault.path} {fault.message}" for fault in rejection.faults),
    ]
    assert {fault.path: fault.got for fault in rejection.faults} == {
        "transactions[0].name": "",
        "transactions[0].amount": -5,
        "goals[0].initialAmount": 20,
    }


# Moving


async def test_an_advance_tells_what_it_made_happen_in_order_of_time(client: Client) -> None:
    plan = Plan(
        START,
        [income("Second", 1, "EUR", RENT + timedelta(hours=2)), expense("First", 1, "EUR", RENT)],
        [
            goal("One", 10, 0, [contribution(1, RENT + timedelta(hours=3)), contribution(2, RENT)]),
            goal("Two", 10, 0, [contribution(3, RENT + timedelta(hours=1))]),
        ],
    )
    clock = await done(client.create_clock(plan))
    happened = await done(clock.advance(RENT + timedelta(hours=3)))
    assert (happened.before, happened.after) == (START, RENT + timedelta(hours=3))
    assert [item.name for item in happened.transactions] == ["First", "Second"]
    assert [(of.name, item.amount) for of, item in happened.contributions] == [("One", 2), ("Two", 3), ("One", 1)]
    assert [of.current_amount for of, _ in happened.contributions] == [3, 3, 3]
    later = await done(clock.advance(days=1))
    assert (later.before, later.transactions, later.contributions) == (happened.after, [], [])


@pytest.mark.parametrize(
    ("amounts", "reached"),
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
async def test_a_clock_moves_by_an_amount(client: Client, amounts: dict[str, int], reached: datetime) -> None:
    clock = await done(client.create_clock(frozen_time="2027-01-31T08:00:00Z"))
    await done(clock.advance(**amounts))
    assert clock.frozen_time == clock.snapshot.frozen_time == reached


@pytest.mark.parametrize(
    "to",
    [
        utc(2027, 2, 1),
        datetime(2027, 2, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        "2027-02-01T00:00:00Z",
        "2027-02-01T05:30:00+05:30",
    ],
    ids=str,
)
async def test_a_clock_moves_to_an_instant(client: Client, to: datetime | str) -> None:
    clock = await done(client.create_clock(PLAN))
    await done(clock.advance(to))
    assert clock.frozen_time == utc(2027, 2, 1)
    assert clock.frozen_time.tzinfo is UTC


@pytest.mark.parametrize(
    ("to", "amounts", "message"),
    [
        (None, {}, "advance to an instant or by an amount, and not both"),
        (None, {"days": 0}, "advance to an instant or by an amount, and not both"),
        (utc(2028, 1, 1), {"days": 1}, "advance to an instant or by an amount, and not both"),
        (datetime(2028, 1, 1), {}, "2028-01-01T00:00:00 has no time zone"),  # noqa: DTZ001 - that is the fault
        ("2028-01-01", {}, "'2028-01-01' must be an RFC 3339 timestamp"),
        (None, {"years": 7973}, "the calendar ends before"),
    ],
)
async def test_a_move_that_makes_no_sense_is_refused_here(
    client: Client, to: Any, amounts: dict[str, int], message: str
) -> None:
    clock = await done(client.create_clock(PLAN))
    with pytest.raises(ValueError, match=message):
        await done(clock.advance(to, **amounts))


@pytest.mark.parametrize(
    ("to", "reason", "detail"),
    [
        (START - timedelta(microseconds=1), Reason.TIME_BEFORE_CURRENT, {"currentFrozenTime": "2027-01-01T00:00:00Z"}),
        (utc(2037, 1, 1, 0, 0, 1), Reason.TIME_AFTER_MAX, {"maxTime": "2037-01-01T00:00:00Z"}),
    ],
)
async def test_a_move_beyond_the_clock_is_refused_there(
    client: Client, to: datetime, reason: Reason, detail: dict[str, str]
) -> None:
    clock = await done(client.create_clock(PLAN))
    rejection = await refused(lambda: clock.advance(to))
    assert (rejection.reason, rejection.details) == (reason, detail)
    assert clock.frozen_time == START


async def test_from_one_thing_to_the_next_until_nothing_is_left(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
    visited = []
    while clock.next_at is not None:
        happened = await done(clock.advance_to_next())
        visited.append(happened.after)
        assert len(happened.transactions) + len(happened.contributions) == 1
    assert visited == [RENT, SALARY, SAVED, SAVED + timedelta(days=30)]
    nothing = await raised(NothingLeft, clock.advance_to_next)
    assert str(nothing) == f"Nothing is pending or upcoming on {clock.id}."


async def test_a_preview_moves_nothing(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
    snapshot = await done(clock.preview(SALARY))
    assert (snapshot.frozen_time, [item.name for item in snapshot.transactions]) == (SALARY, ["Rent", "Salary"])
    await done(clock.refresh())
    assert clock.frozen_time == START


async def test_refreshing_shows_what_others_have_moved(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
    other = await done(client.get_clock(clock.id))
    await done(other.advance(SALARY))
    assert clock.frozen_time == START
    assert await done(clock.refresh()) is None
    assert (clock.frozen_time, clock.snapshot) == (SALARY, other.snapshot)


async def test_an_advance_tells_what_has_happened_since_the_clock_was_last_seen(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
    await done((await done(client.get_clock(clock.id))).advance(RENT))
    assert [item.name for item in (await done(clock.advance(SALARY))).transactions] == ["Rent", "Salary"]


# Finding, copying, deleting


async def test_a_clock_is_found_by_its_id(client: Client) -> None:
    clock = await done(client.create_clock(PLAN))
    assert (await done(client.get_clock(clock.id))).snapshot == clock.snapshot
    assert (await done(client.get_clock(clock.id, RENT))).snapshot == await done(clock.preview(RENT))


@pytest.mark.parametrize("through", ["client", "clock"])
async def test_a_fork_stands_where_it_is_told_to(client: Client, through: str) -> None:
    clock = await done(client.create_clock(PLAN))
    await done(clock.advance(years=1))
    fork = clock.fork if through == "clock" else lambda *at: client.fork_clock(clock.id, *at)
    copy, later = await done(fork()), await done(fork("2027-01-03T08:00:00Z"))
    assert len({clock.id, copy.id, later.id}) == 3
    assert (copy.frozen_time, later.frozen_time) == (START, RENT)
    assert [item.name for item in (await done(copy.advance_to_next())).transactions] == ["Rent"]


@pytest.mark.parametrize("through", ["client", "clock"])
async def test_what_is_deleted_is_gone(client: Client, through: str) -> None:
    clock = await done(client.create_clock(PLAN))
    assert await done(clock.delete() if through == "clock" else client.delete_clock(clock.id)) is None
    assert (await refused(clock.refresh)).reason is Reason.CLOCK_NOT_FOUND
    assert (await refused(clock.delete)).reason is Reason.CLOCK_NOT_FOUND


async def test_clocks_are_listed_newest_first(client: Client) -> None:
    made = [(await done(client.create_clock(PLAN))).id for _ in range(3)]
    assert [clock.id for clock in await every(client.list_clocks())] == made[::-1]
    page = await done(client.list_page(2))
    assert [clock.id for clock in page.clocks] == made[:0:-1]
    rest = await done(client.list_page(2, page.next_cursor))
    assert ([clock.id for clock in rest.clocks], rest.next_cursor) == (made[:1], None)
    assert (rest.clocks[0].frozen_time, rest.clocks[0].max_time) == (START, utc(2037, 1, 1))


async def test_all_pages_are_listed(client: Client, program: Program) -> None:
    answers = program.batch("createTestClock", [{}] * 101, client.token)
    listed = [clock.id for clock in await every(client.list_clocks())]
    assert sorted(listed) == sorted(answer["result"]["clock"]["id"] for answer in answers)


async def test_the_server_describes_itself(opened: Opener, program: Program) -> None:
    async with opened(program.url) as client:
        document = await done(client.discover())
    assert {"createTestClock", "advanceTestClock"} <= {method["name"] for method in document["methods"]}
