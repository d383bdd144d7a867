"""The models of clocks and sign-ins that the linearizability checker uses: small histories with known verdicts."""

from math import inf
from typing import Any

import pytest
from msgspec.structs import replace

from lab.soak.linearizability.checker import Verdict
from lab.soak.linearizability.clock_model import SCHEDULES, Clock, new_clock
from lab.soak.linearizability.history import NOT_EXECUTED, Call, Delivery, History
from lab.soak.linearizability.judge import judge, reduce

ANA = "ana@example.test"
NOT_FOUND = ("error", "CLOCK_NOT_FOUND")
TOO_SOON = ("error", "RESEND_TOO_SOON")
NOT_SENT = ("error", "MAIL_NOT_SENT")
REFUSED = ("error", "LOGIN_REFUSED")
OK = ("result", "ok")
NOT_PENDING = ("error", "ITEM_NOT_PENDING")
INVALID = ("error", "INVALID_PARAMS")
REUSED = ("error", "reused")
SALARY = SCHEDULES["salary"]

Row = tuple[float, float, str, dict[str, Any], Any]


def view(id: str, day: int = 0, params: str = "rent") -> Any:
    return "result", new_clock(id, "", params)._replace(day=day).view


def amended(id: str, day: int, *items: tuple[int, int, str]) -> Any:
    """Return the result of a clock with these transactions: day, number and name."""
    return "result", Clock(id, "", "", items, day, 0).view


def add(begin: float, end: float, id: str, day: int, outcome: Any, key: str = "") -> Row:
    return begin, end, "add", {"id": id, "day": day, "key": key}, outcome


def cancel(begin: float, end: float, id: str, number: int, outcome: Any, key: str = "") -> Row:
    return begin, end, "cancel", {"id": id, "number": number, "key": key}, outcome


def create(begin: float, end: float, outcome: Any, key: str = "k", params: str = "rent") -> Row:
    return begin, end, "create", {"key": key, "params": params}, outcome


def advance(begin: float, end: float, id: str, day: int, outcome: Any) -> Row:
    return begin, end, "advance", {"id": id, "day": day}, outcome


def get(begin: float, end: float, id: str, outcome: Any) -> Row:
    return begin, end, "get", {"id": id}, outcome


def delete(begin: float, end: float, id: str, outcome: Any = OK) -> Row:
    return begin, end, "delete", {"id": id}, outcome


def fork(begin: float, end: float, id: str, day: int, outcome: Any, key: str = "") -> Row:
    return begin, end, "fork", {"id": id, "day": day, "key": key}, outcome


def list_all(begin: float, end: float, **days: int) -> Row:
    return begin, end, "list", {}, ("result", frozenset(days.items()))


def send(begin: float, end: float, outcome: Any, kind: str = "code") -> Row:
    return begin, end, "send", {"address": ANA, "kind": kind}, outcome


def verify(begin: float, end: float, code: str, outcome: Any) -> Row:
    return begin, end, "verify", {"address": ANA, "code": code}, outcome


def open_link(begin: float, end: float, secret: str, outcome: Any) -> Row:
    return begin, end, "open_link", {"address": ANA, "secret": secret}, outcome


def clocks(*rows: Row) -> History:
    return History(1, "clocks", "no fault", _calls(rows))


def logins(deliveries: list[tuple[Any, str, Any]], *rows: Row) -> History:
    emails = {ANA: [Delivery(*delivery) for delivery in deliveries]}
    return History(1, "logins", "no fault", _calls(rows), emails)


def slow_logins(deliveries: list[tuple[Any, str, Any]], *rows: Row) -> History:
    """Return a history in which the mail server may have replied too late."""
    return replace(logins(deliveries, *rows), is_slow=True)


def _calls(rows: tuple[Row, ...]) -> list[Call]:
    return [
        Call(number, number, name, arguments, int(begin), end, outcome)
        for number, (begin, end, name, arguments, outcome) in enumerate(rows)
    ]


CODE = ("code", "111111", "accepted")
LOST = ("code", "222222", "none")
REJECTED = ("code", "333333", "rejected")
LINK = ("link", "secret", "accepted")
WRONG = [verify(10 * number, 10 * number + 1, "000000", REFUSED) for number in range(1, 6)]

LINEARIZABLE = {
    "concurrent creations with one key": clocks(create(0, 2, view("A")), create(1, 3, view("A"))),
    "a retry returns the clock as it is now": clocks(
        create(0, 1, view("A")), advance(2, 3, "A", 4, view("A", 4)), create(4, 5, view("A", 4))
    ),
    "another schedule with a used key": clocks(
        create(0, 1, view("A")), create(2, 3, ("error", "reused"), params="salary")
    ),
    "a deletion frees the key": clocks(create(0, 1, view("A")), delete(2, 3, "A"), create(4, 5, view("B"))),
    "a creation without a response is found by its key": clocks(create(0, inf, None), create(2, 3, view("A"))),
    "a creation without a response is listed": clocks(create(0, inf, None, key=""), list_all(1, 2, A=0)),
    "a late advance": clocks(
        create(0, 1, view("A")), advance(2, inf, "A", 5, None), get(3, 4, "A", view("A")), get(5, 6, "A", view("A", 5))
    ),
    "an advance to an earlier day": clocks(
        create(0, 1, view("A")), advance(2, 5, "A", 5, view("A", 5)),
        advance(3, 4, "A", 4, ("error", "TIME_BEFORE_CURRENT", 5)),
    ),
    "a fork of a clock that is deleted meanwhile": clocks(
        create(0, 1, view("A")), fork(2, 9, "A", 6, view("B", 6)), delete(3, 4, "A"), list_all(5, 6),
        list_all(10, 11, B=6),
    ),
    "a call that was not executed": clocks(
        create(0, 1, view("A")), delete(2, 3, "A", NOT_EXECUTED), get(4, 5, "A", view("A"))
    ),
    "concurrent amendments in either order": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"),
        add(2, 5, "A", 6, amended("A", 0, *SALARY, (6, 2, "added"))),
        cancel(3, 6, "A", 0, amended("A", 0, SALARY[1], (6, 2, "added"))),
    ),
    "an advance posts an item before it is cancelled": clocks(
        create(0, 1, view("A")), advance(2, 5, "A", 4, view("A", 4)), cancel(3, 6, "A", 1, NOT_PENDING)
    ),
    "an item on the current day": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), advance(2, 3, "A", 3, view("A", 3, "salary")),
        add(4, 5, "A", 3, amended("A", 3, SALARY[0], (3, 2, "added"), SALARY[1])), add(6, 7, "A", 2, INVALID),
    ),
    "a fork of an amended clock": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 3, "A", 1, amended("A", 0, SALARY[0])),
        fork(4, 5, "A", 1, amended("B", 1, SALARY[0])), add(6, 7, "B", 1, amended("B", 1, (1, 2, "added"), SALARY[0])),
    ),
    "an amendment without a response": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, inf, "A", 1, None),
        get(3, 4, "A", view("A", 0, "salary")), get(5, 6, "A", amended("A", 0, SALARY[0])),
    ),
    "an amendment with a key is repeated": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 3, "A", 1, amended("A", 0, SALARY[0]), "a"),
        advance(4, 5, "A", 1, amended("A", 1, SALARY[0])), cancel(6, 7, "A", 1, amended("A", 1, SALARY[0]), "a"),
        add(8, 9, "A", 6, REUSED, "a"),
    ),
    "concurrent amendments with one key": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 5, "A", 1, amended("A", 0, SALARY[0]), "a"),
        cancel(3, 6, "A", 1, amended("A", 0, SALARY[0]), "a"),
    ),
    "a fork with a key is repeated": clocks(
        create(0, 1, view("A")), fork(2, 5, "A", 6, view("B", 6), "a"), fork(3, 6, "A", 6, view("B", 6), "a"),
        delete(7, 8, "A"), fork(9, 10, "A", 6, view("B", 6), "a"), fork(11, 12, "A", 5, REUSED, "a"),
    ),
    "a fork whose key another call uses until the original is deleted": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"),
        fork(2, 8, "A", 1, amended("B", 1, (1, 2, "added"), *SALARY), "a"),
        add(3, 4, "A", 1, amended("A", 0, (1, 2, "added"), *SALARY), "a"), delete(5, 6, "A"),
    ),
    "a fork without a response is found by its key": clocks(
        create(0, 1, view("A")), fork(2, inf, "A", 6, None, "a"), fork(4, 5, "A", 6, view("B", 6), "a"),
        list_all(6, 7, A=0, B=6),
    ),
    "a deletion frees the key of an amendment": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 3, "A", 1, amended("A", 0, SALARY[0]), "a"),
        delete(4, 5, "A"), cancel(6, 7, "A", 1, NOT_FOUND, "a"),
    ),
    "one of two emails": logins([CODE], send(0, 3, OK), send(1, 2, TOO_SOON)),
    "an email during a failed one": logins(
        [REJECTED, CODE], send(0, 5, NOT_SENT), send(1, 2, TOO_SOON), send(3, 7, OK)
    ),
    "a code without a reply of the mail server": logins(
        [LOST, CODE], send(0, 1, NOT_SENT), verify(2, 3, "222222", OK), send(4, 5, OK)
    ),
    "a rejected email restores the previous code": logins(
        [LOST, REJECTED], send(0, 1, NOT_SENT), send(2, 3, NOT_SENT), verify(4, 5, "222222", OK)
    ),
    "an email that was accepted too late": slow_logins(
        [CODE, ("code", "444444", "accepted")], send(0, 1, NOT_SENT), verify(2, 3, "111111", OK), send(4, 5, OK)
    ),
    "an email that was rejected too late": slow_logins(
        [REJECTED, CODE], send(0, 1, NOT_SENT), verify(2, 3, "333333", OK), send(4, 5, OK)
    ),
    "an email that never arrived": slow_logins(
        [LOST, CODE], send(0, 1, NOT_SENT), send(2, 3, NOT_SENT), verify(4, 5, "222222", OK), send(6, 7, OK)
    ),
    "an email without a response holds the slot": logins([], send(0, inf, None), send(2, 3, TOO_SOON)),
    "the fifth attempt": logins([CODE], send(0, 1, OK), *WRONG[:4], verify(60, 61, "111111", OK)),
    "an attempt without a response uses up the code": logins(
        [CODE], send(0, 1, OK), *WRONG[:4], verify(50, inf, "000000", None), verify(60, 61, "111111", REFUSED)
    ),
    "a sign-in without a response": logins(
        [CODE], send(0, 1, OK), verify(2, inf, "111111", None), verify(3, 4, "111111", REFUSED)
    ),
    "a link": logins([LINK], send(0, 1, OK, "link"), open_link(2, 3, "secret", OK), open_link(4, 5, "secret", REFUSED)),
}  # fmt: skip

VIOLATIONS = {
    "two clocks with one key": clocks(create(0, 2, view("A")), create(1, 3, view("B"))),
    "a retry returns an old state": clocks(
        create(0, 1, view("A")), advance(2, 3, "A", 4, view("A", 4)), create(4, 5, view("A"))
    ),
    "another schedule with a free key is rejected": clocks(
        create(0, 1, view("A")), delete(2, 3, "A"), create(4, 5, ("error", "reused"), params="salary")
    ),
    "a lost advance": clocks(
        create(0, 1, view("A")), advance(2, 5, "A", 3, view("A", 3)), advance(3, 6, "A", 5, view("A", 5)),
        get(7, 8, "A", view("A", 3)),
    ),
    "an advance back": clocks(
        create(0, 1, view("A")), advance(2, 3, "A", 5, view("A", 5)), advance(4, 5, "A", 4, view("A", 4))
    ),
    "a half-posted view": clocks(
        create(0, 1, view("A")), advance(2, 3, "A", 4, ("result", view("A")[1]._replace(day=4)))
    ),
    "a deleted clock comes back": clocks(
        create(0, 1, view("A")), delete(2, 3, "A"), get(4, 5, "A", NOT_FOUND), get(6, 7, "A", view("A"))
    ),
    "two deletions": clocks(create(0, 1, view("A")), delete(2, 4, "A"), delete(3, 5, "A")),
    "a list without a live clock": clocks(create(0, 1, view("A")), create(2, 3, view("B"), "l"), list_all(4, 5, B=0)),
    "a list of two times": clocks(
        create(0, 1, view("A")), create(2, 3, view("B"), "l"), advance(4, 5, "A", 1, view("A", 1)),
        advance(6, 7, "B", 1, view("B", 1)), list_all(4, 8, A=0, B=1),
    ),
    "a call that was executed after all": clocks(
        create(0, 1, view("A")), delete(2, 3, "A", NOT_EXECUTED), get(4, 5, "A", NOT_FOUND)
    ),
    "a lost amendment": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"),
        add(2, 5, "A", 6, amended("A", 0, *SALARY, (6, 2, "added"))),
        cancel(3, 6, "A", 0, amended("A", 0, SALARY[1])), get(7, 8, "A", amended("A", 0, SALARY[1])),
    ),
    "an item that has happened is cancelled": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), advance(2, 3, "A", 2, view("A", 2, "salary")),
        cancel(4, 5, "A", 0, amended("A", 2, SALARY[1])),
    ),
    "an item is added to the past": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), advance(2, 3, "A", 3, view("A", 3, "salary")),
        add(4, 5, "A", 2, amended("A", 3, SALARY[0], (2, 2, "added"), SALARY[1])),
    ),
    "the number of a cancelled item is used again": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 3, "A", 1, amended("A", 0, SALARY[0])),
        add(4, 5, "A", 6, amended("A", 0, SALARY[0], (6, 1, "added"))),
    ),
    "a stale schedule after an amendment": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 3, "A", 0, amended("A", 0, SALARY[1])),
        advance(4, 5, "A", 3, view("A", 3, "salary")),
    ),
    "a repeated amendment is rejected": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"), cancel(2, 5, "A", 1, amended("A", 0, SALARY[0]), "a"),
        cancel(3, 6, "A", 1, INVALID, "a"),
    ),
    "an amendment with a key is applied twice": clocks(
        create(0, 1, view("A", 0, "salary"), params="salary"),
        add(2, 3, "A", 6, amended("A", 0, *SALARY, (6, 2, "added")), "a"),
        add(4, 5, "A", 6, amended("A", 0, *SALARY, (6, 2, "added"), (6, 3, "added")), "a"),
    ),
    "two forks with one key": clocks(
        create(0, 1, view("A")), fork(2, 4, "A", 6, view("B", 6), "a"), fork(3, 5, "A", 6, view("C", 6), "a")
    ),
    "an unexpected error": clocks(create(0, 1, ("error", "INTERNAL"))),
    "two emails": logins([CODE, CODE], send(0, 2, OK), send(1, 3, OK)),
    "too soon without an email": logins([], send(0, 1, TOO_SOON)),
    "an accepted email that is called not sent": logins([CODE], send(0, 1, NOT_SENT)),
    "too soon after an email that was accepted too late": slow_logins(
        [CODE], send(0, 1, NOT_SENT), send(2, 3, TOO_SOON)
    ),
    "a late email is called sent": slow_logins([LOST], send(0, 1, OK)),
    "too soon after a rejected email": logins([REJECTED], send(0, 1, NOT_SENT), send(2, 3, TOO_SOON)),
    "the sixth attempt": logins([CODE], send(0, 1, OK), *WRONG, verify(60, 61, "111111", OK)),
    "the fifth attempt is refused": logins([CODE], send(0, 1, OK), *WRONG[:4], verify(60, 61, "111111", REFUSED)),
    "an old code": logins([LOST, CODE], send(0, 1, NOT_SENT), send(2, 3, OK), verify(4, 5, "222222", OK)),
    "a rejected code": logins([REJECTED], send(0, 1, NOT_SENT), verify(2, 3, "333333", OK)),
    "a code that works twice": logins([CODE], send(0, 1, OK), verify(2, 4, "111111", OK), verify(3, 5, "111111", OK)),
    "a link after a sign-in with a code": logins(
        [("link", "secret", "none"), CODE], send(0, 1, NOT_SENT, "link"), send(2, 3, OK), verify(4, 5, "111111", OK),
        open_link(6, 7, "secret", OK),
    ),
    "an unexpected error of a sign-in": logins([CODE], send(0, 1, OK), verify(2, 3, "111111", ("error", "INTERNAL"))),
}  # fmt: skip


@pytest.mark.parametrize("name", LINEARIZABLE)
def test_allowed_history_is_accepted(name: str) -> None:
    assert judge(LINEARIZABLE[name]) is Verdict.LINEARIZABLE


@pytest.mark.parametrize("name", VIOLATIONS)
def test_impossible_history_is_found(name: str) -> None:
    assert judge(VIOLATIONS[name]) is Verdict.VIOLATION


@pytest.mark.parametrize("name", VIOLATIONS)
def test_reduced_history_is_still_a_violation(name: str) -> None:
    reduced = reduce(VIOLATIONS[name])
    assert judge(reduced) is Verdict.VIOLATION
    assert len(str(reduced).splitlines()) == 1 + sum(map(len, reduced.emails.values())) + len(reduced.calls)


def test_reduction_leaves_out_what_does_not_matter() -> None:
    noise = [get(20 * number, 20 * number + 1, "A", view("A")) for number in range(1, 5)]
    after = [advance(200, 201, "A", 1, view("A", 1)), get(202, 203, "A", view("A", 1))]
    history = clocks(create(0, 1, view("A")), *noise, delete(120, 121, "A"), get(140, 141, "A", view("A")), *after)
    names = [call.name for call in reduce(history).calls]
    assert sorted(names) == ["create", "delete", "get"]
