"""The contract of every store against a model of a few lines: whatever is done, in whatever order, both answer alike.

One store serves all examples; each has addresses, owners and keys of its own. A model knows nothing of sweeping, so
these tests also show that a sweep cannot be noticed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.values import (
    END,
    HOUR,
    INSTANT,
    MINUTE,
    NOW,
    SECOND,
    START,
    WEEK,
    advance,
    allowing,
    claim,
    key,
    letter,
    schedule_of,
    session,
    user,
)
from tickover.core.clocks import Clock
from tickover.core.limits import CODE_LIFETIME, RESEND_INTERVAL
from tickover.core.logins import Kind, Send, Try
from tickover.core.moments import Moment
from tickover.ports import Store

_fresh = count(1_000)
_steps = st.sampled_from([INSTANT, SECOND, RESEND_INTERVAL - INSTANT, RESEND_INTERVAL, 5 * MINUTE, CODE_LIFETIME, HOUR])
_of_two = st.integers(0, 1)
_which = st.integers(0, 9)
_one_store_for_all = settings(
    deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


# Logins


@dataclass
class _Letter:
    send: Send
    tries: int = 0
    spent: bool = False
    holds_slot: bool = True


@dataclass
class _Logins:
    """What the port promises of letters, codes and users."""

    letters: list[_Letter] = field(default_factory=list)
    users: dict[str, bytes] = field(default_factory=dict)

    def claim(self, send: Send) -> Moment | None:
        free_before = send.sent_at - RESEND_INTERVAL
        for one in reversed(self._to(send.email)):
            if one.holds_slot and one.send.sent_at > free_before:
                return one.send.sent_at
        self.letters.append(_Letter(send))
        return None

    def undo(self, send: Send) -> None:
        self.letters = [one for one in self.letters if one.send != send]

    def free(self, send: Send) -> None:
        for one in self.letters:
            one.holds_slot = one.holds_slot and one.send != send

    def count_try(self, email: str, most: int, now: Moment) -> Try | None:
        newest = self.newest_code(email)
        if newest is None or newest.spent or newest.tries >= most or newest.send.expires_at <= now:
            return None
        newest.tries += 1
        return Try(newest.send.digest, newest.send.sent_at)

    def redeem(self, send: Send, user_key: bytes) -> bytes | None:
        newest = self.newest_code(send.email)
        if newest is None or newest.send != send or newest.spent:
            return None
        for one in self._to(send.email):
            one.spent = True
        return self.users.setdefault(send.email, user_key)

    def newest_code(self, email: str) -> _Letter | None:
        codes = [one for one in self._to(email) if one.send.kind is Kind.CODE]
        return codes[-1] if codes else None

    def _to(self, email: str) -> list[_Letter]:
        return [one for one in self.letters if one.send.email == email]


_login_acts = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), _steps),
        st.tuples(st.just("claim"), _of_two, st.sampled_from(Kind)),
        st.tuples(st.just("undo"), _which),
        st.tuples(st.just("free"), _which),
        st.tuples(st.just("try"), _of_two, st.integers(1, 5)),
        st.tuples(st.just("redeem"), _which),
        st.tuples(st.just("sweep"), st.integers(1, 3)),
    ),
    max_size=40,
)


@_one_store_for_all
@given(acts=_login_acts)
async def test_logins_are_as_the_model_has_them(store: Store, acts: list[tuple[Any, ...]]) -> None:
    model, now, example = _Logins(), NOW, next(_fresh)
    emails = [f"{name}-{example}@example.test" for name in ("ana", "ben")]
    sends: list[Send] = []
    for act, *how in acts:
        # Time never stands still, so of two letters one is always the newer.
        now += INSTANT
        match act, *how:
            case "wait", step:
                now += step
            case "claim", who, kind:
                send = letter(next(_fresh), kind, now, emails[who])
                assert await claim(store, send) == model.claim(send)
                sends.append(send)
            case "try", who, most:
                assert await store.count_try(emails[who], allowing(most), now) == model.count_try(
                    emails[who], most, now
                )
            case "sweep", most:
                await store.sweep(now, most)
            case _, which if sends:
                await _act_on_letter(store, model, act, sends[-1 - which % len(sends)], now)


async def _act_on_letter(store: Store, model: _Logins, act: str, send: Send, now: Moment) -> None:
    if act == "undo":
        await store.undo_send(send)
        model.undo(send)
    elif act == "free":
        await store.free_slot(send)
        model.free(send)
    elif now < send.expires_at:  # what has expired meets no counted try, and so is never redeemed
        new = session(next(_fresh), now)
        opened = await store.redeem_code(send.email, send.digest, new)
        assert opened == model.redeem(send, new.user_key)
        assert await store.user_of_token(new.token_digest, now) == opened


# Clocks

_targets: list[Callable[[Clock], Moment]] = [
    lambda clock: clock.frozen_time - INSTANT,
    lambda clock: clock.frozen_time,
    lambda clock: clock.frozen_time + INSTANT,
    lambda clock: clock.frozen_time + WEEK,
    lambda clock: clock.start_time,
    lambda clock: clock.max_time,
    lambda clock: clock.max_time + INSTANT,
]

_clock_acts = st.lists(
    st.one_of(
        st.tuples(st.just("create"), _of_two, st.integers(0, 3), st.binary(max_size=20)),
        st.tuples(st.just("advance"), _of_two, _which, st.sampled_from(_targets)),
        st.tuples(st.just("schedule"), _which),
        st.tuples(st.just("sweep"), st.integers(1, 3)),
    ),
    max_size=40,
)


@dataclass
class _Clocks:
    """What the port promises of clocks; in the order in which they were made, which is that of their keys."""

    clocks: dict[bytes, Clock] = field(default_factory=dict)
    owners: dict[bytes, bytes] = field(default_factory=dict)
    schedules: dict[bytes, bytes] = field(default_factory=dict)

    def create(self, clock: Clock, owner: bytes, schedule: bytes, most: int) -> bytes | None:
        owned = [key for key in self.clocks if self.owners[key] == owner]
        if most and len(owned) >= most:
            return owned[0]
        self.clocks[clock.key], self.owners[clock.key], self.schedules[clock.key] = clock, owner, schedule
        return None

    def advance(self, key: bytes, owner: bytes, to: Moment) -> Clock | None:
        clock = self.clocks.get(key)
        if clock is None or self.owners[key] != owner:
            return None
        if clock.frozen_time <= to <= clock.max_time:
            clock = self.clocks[key] = Clock(key, clock.start_time, to, clock.max_time)
        return clock


@_one_store_for_all
@given(acts=_clock_acts)
async def test_clocks_are_as_the_model_has_them(store: Store, acts: list[tuple[Any, ...]]) -> None:
    model, example = _Clocks(), next(_fresh)
    owners = [user(2 * example), user(2 * example + 1)]
    made: list[Clock] = []
    for act, *how in acts:
        match act, *how:
            case "create", who, most, schedule:
                clock = Clock(key(next(_fresh)), START, START, END)
                kept = await store.create_clock(clock, owners[who], schedule, bytes(16), most)
                assert kept == model.create(clock, owners[who], schedule, most)
                made.append(clock)
            case "sweep", most:
                await store.sweep(NOW + timedelta(days=6), most)
            case "advance", who, which, target if made:
                named = made[which % len(made)]
                to = target(model.clocks.get(named.key, named))
                moved = await advance(store, named.key, owners[who], to)
                assert moved == model.advance(named.key, owners[who], to)
            case "schedule", which if made:
                named = made[which % len(made)]
                owner = model.owners.get(named.key, owners[0])
                assert await schedule_of(store, named.key, owner) == model.schedules.get(named.key)
