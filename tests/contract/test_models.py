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
    DAY,
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
    digest,
    key,
    letter,
    session,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CODE_LIFETIME, RESEND_INTERVAL
from tickover.api.timestamps import Instant
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import Kind, Send, Try
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

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

    def claim(self, send: Send) -> Instant | None:
        held_by = [one.send.sent_at for one in self._to(send.email) if one.holds_slot][-1:]
        for last in held_by:
            # A time stamp further ahead is one from before the wall clock was set back.
            if send.sent_at - RESEND_INTERVAL < last < send.sent_at + 10 * MINUTE:
                return last
        self.letters.append(_Letter(send))
        return None

    def undo(self, send: Send) -> None:
        self.letters = [one for one in self.letters if one.send != send]

    def free(self, send: Send) -> None:
        for one in self.letters:
            one.holds_slot = one.holds_slot and one.send != send

    def count_try(self, email: str, limit: int, now: Instant) -> Try | None:
        newest = self.newest_code(email)
        if newest is None or newest.spent or newest.tries >= limit or newest.send.expires_at <= now:
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


_login_acts = [
    st.tuples(st.just("wait"), _steps),
    st.tuples(st.just("claim"), _of_two, st.sampled_from(Kind)),
    st.tuples(st.just("undo"), _which),
    st.tuples(st.just("free"), _which),
    st.tuples(st.just("try"), _of_two, st.integers(1, 5)),
    st.tuples(st.just("redeem"), _which),
]
_sweep = st.tuples(st.just("sweep"), st.integers(1, 3))
_set_back = st.tuples(st.just("set back"), _steps)


@_one_store_for_all
@given(
    acts=st.lists(st.one_of(*_login_acts, _sweep), max_size=40)
    | st.lists(st.one_of(*_login_acts, _set_back), max_size=40)
)
async def test_logins_are_as_the_model_has_them(store: Store, acts: list[tuple[Any, ...]]) -> None:
    model, now, example = _Logins(), NOW, next(_fresh)
    emails = [f"{name}-{example}@example.test" for name in ("ana", "ben")]
    sends: list[Send] = []
    for act, *how in acts:
        now += INSTANT
        match act, *how:
            case "wait", step:
                now += step
            case "set back", step:
                now -= step
            case "claim", who, kind:
                send = letter(next(_fresh), kind, now, emails[who])
                assert await claim(store, send) == model.claim(send)
                sends.append(send)
            case "try", who, limit:
                assert await store.count_try(emails[who], allowing(limit), now) == model.count_try(
                    emails[who], limit, now
                )
            case "sweep", limit:
                await store.sweep(now, limit)
            case _, which if sends:
                await _act_on_letter(store, model, act, sends[-1 - which % len(sends)], now)


async def _act_on_letter(store: Store, model: _Logins, act: str, send: Send, now: Instant) -> None:
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

_targets: list[Callable[[Clock], Instant]] = [
    lambda clock: clock.frozen_time - INSTANT,
    lambda clock: clock.frozen_time,
    lambda clock: clock.frozen_time + INSTANT,
    lambda clock: clock.frozen_time + WEEK,
    lambda clock: clock.start_time,
    lambda clock: clock.max_time,
    lambda clock: clock.max_time + INSTANT,
]

_pauses = st.sampled_from([timedelta(milliseconds=1), HOUR, DAY, 3 * DAY, WEEK - timedelta(milliseconds=1), WEEK])
_quotas = st.builds(Quota, clocks=st.integers(0, 3), bytes=st.sampled_from([0, 0, 10, 30, 40]))
_clock_acts = st.lists(
    st.one_of(
        st.tuples(st.just("create"), _of_two, _quotas, st.binary(max_size=20)),
        st.tuples(st.just("create once"), _of_two, _quotas, _of_two, st.binary(max_size=1)),
        st.tuples(st.just("find creation"), _of_two, _of_two),
        st.tuples(st.just("advance"), _of_two, _which, st.sampled_from(_targets)),
        st.tuples(st.just("find"), _of_two, _which, st.booleans()),
        st.tuples(st.just("delete"), _of_two, _which),
        st.tuples(st.just("list"), _of_two, st.none() | _which, st.integers(1, 4)),
        st.tuples(st.just("wait"), _pauses),
        st.tuples(st.just("sweep"), st.integers(1, 3)),
    ),
    max_size=40,
)


@dataclass
class _Clocks:
    """What the port promises of clocks. Of those that have expired it promises nothing, and nobody asks for them."""

    kept: dict[bytes, StoredClock] = field(default_factory=dict)
    owners: dict[bytes, bytes] = field(default_factory=dict)
    creations: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    """The parameters and the clock for which a digest was used last."""

    def create(
        self, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        living = self.listed(owner, min_live_key)
        oldest = living[-1].key if living else clock.key
        stored = sum(len(self.kept[one.key].schedule) for one in living)
        if quota.clocks and len(living) >= quota.clocks:
            return QuotaExceeded("clocks", oldest)
        if quota.bytes and stored + len(schedule) > quota.bytes:
            return QuotaExceeded("bytes", oldest)
        self.kept[clock.key], self.owners[clock.key] = StoredClock(clock, schedule), owner
        return Created()

    def create_once(
        self, once: IdempotencyRecord, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> ExistingClock | Created | QuotaExceeded:
        earlier = self.find_creation(once.digest, owner, min_live_key)
        if earlier is not None:
            return earlier
        outcome = self.create(clock, owner, schedule, min_live_key, quota)
        if isinstance(outcome, Created):
            self.creations[once.digest] = once.params, clock.key
        return outcome

    def find_creation(self, digest: bytes, owner: bytes, min_live_key: bytes) -> ExistingClock | None:
        params, key = self.creations.get(digest, (b"", b""))
        kept = self.find(key, owner)
        return ExistingClock(params, kept) if kept and key >= min_live_key else None

    def find(self, key: bytes, owner: bytes) -> StoredClock | None:
        return self.kept.get(key) if self.owners.get(key) == owner else None

    def advance(self, key: bytes, owner: bytes, to: Instant) -> Clock | None:
        found = self.find(key, owner)
        if found is None:
            return None
        clock = found.clock
        if clock.frozen_time <= to <= clock.max_time:
            clock = Clock(key, clock.start_time, to, clock.max_time)
            self.kept[key] = StoredClock(clock, found.schedule)
        return clock

    def delete(self, key: bytes, owner: bytes) -> bool:
        if self.find(key, owner) is None:
            return False
        del self.kept[key], self.owners[key]
        return True

    def listed(self, owner: bytes, min_live_key: bytes, before: bytes = b"\xff" * 16) -> list[Clock]:
        keys = [key for key, whose in self.owners.items() if whose == owner and min_live_key <= key < before]
        return [self.kept[key].clock for key in sorted(keys, reverse=True)]


class _Play:
    """An example: two owners with two keys each, a store, and the model of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._model = _Clocks()
        self._now = NOW
        self._made: list[Clock] = []
        self._owners = [user(next(_fresh)) for _ in range(2)]
        self._digests = [[digest(next(_fresh)) for _ in range(2)] for _ in self._owners]

    async def act(self, act: str, *how: Any) -> None:
        match act, *how:
            case "wait", pause:
                self._now += pause
            case "sweep", limit:
                await self._store.sweep(self._now, limit)
            case "create", who, quota, schedule:
                told = self._new(), self._owners[who], schedule, self._min_live_key, quota
                assert await self._store.create_clock(*told) == self._model.create(*told)
            case "create once", who, quota, which, params:
                once = IdempotencyRecord(self._digests[who][which], params)
                asked = once, self._new(), self._owners[who], b"schedule of " + params, self._min_live_key, quota
                assert await self._store.create_clock_once(*asked) == self._model.create_once(*asked)
            case "find creation", who, which:
                sought = self._digests[which][0], self._owners[who], self._min_live_key
                assert await self._store.find_creation(*sought) == self._model.find_creation(*sought)
            case "list", who, which, limit:
                cursor = None if which is None or not self._made else self._made[which % len(self._made)].key
                found = await self._store.list_clocks(self._owners[who], self._min_live_key, cursor, limit)
                assert (
                    found == self._model.listed(self._owners[who], self._min_live_key, cursor or b"\xff" * 16)[:limit]
                )
            case _, who, which, *more if self._living():
                living = self._living()
                await self._act_on_clock(act, self._owners[who], living[which % len(living)], *more)

    async def _act_on_clock(self, act: str, owner: bytes, named: Clock, *how: Any) -> None:
        match act, *how:
            case "advance", target:
                stands = self._model.kept.get(named.key)
                to = target(stands.clock if stands else named)
                moved = await advance(self._store, named.key, owner, to)
                assert moved == self._model.advance(named.key, owner, to)
            case "find", with_schedule:
                found = await self._store.find_clock(named.key, owner, with_schedule=with_schedule)
                expected = self._model.find(named.key, owner)
                bare = None if expected is None else StoredClock(expected.clock, b"")
                assert found == (expected if with_schedule else bare)
            case _:
                deleted = await self._store.delete_clock(named.key, owner)
                assert deleted == self._model.delete(named.key, owner)

    @property
    def _min_live_key(self) -> bytes:
        return first_live_key(self._now)

    def _living(self) -> list[Clock]:
        """Those that have not expired, whether they were kept, refused or deleted."""
        return [clock for clock in self._made if clock.key >= self._min_live_key]

    def _new(self) -> Clock:
        self._made.append(Clock(key(next(_fresh), self._now), START, START, END))
        return self._made[-1]


@_one_store_for_all
@given(acts=_clock_acts)
async def test_clocks_are_as_the_model_has_them(store: Store, acts: list[tuple[Any, ...]]) -> None:
    play = _Play(store)
    for act in acts:
        await play.act(*act)
