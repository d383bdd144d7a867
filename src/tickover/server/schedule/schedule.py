"""The stored form of a schedule, and the views that are joined from it.

A schedule is encoded once, when its clock is created, as the JSON of its items. A view at any instant joins these
pieces without decoding them. This is the hot path of the server, and measurements showed that string operations are
faster here. A property test compares the views with a plain computation, byte for byte.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from msgspec import UNSET, Struct, UnsetType, json, msgpack
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.arguments import int_if_whole
from tickover.api.clocks import AddEntry, ContributionEntry, GoalEntry, NewClock
from tickover.api.expectations import ExpectationEntry
from tickover.api.timestamps import Instant
from tickover.server.schedule.clocks import Clock
from tickover.server.schedule.items import (
    ENCODER,
    NO_ITEMS,
    AccountHead,
    ScheduledAccount,
    ScheduledItems,
    StoredTransaction,
    decode_items,
    encode_items,
    encode_transfers,
    item_id,
    schedule_accounts,
    sort_by,
    with_accounts,
    without_braces,
)
from tickover.server.schedule.money import Amount, Savings, compute_savings

Expectation = ExpectationEntry[Amount, Amount]


class GoalHead(Struct, frozen=True, rename="camel"):
    """The members of a goal that are the same at every instant."""

    id: str
    name: str
    target_amount: Amount


class ScheduledGoal(Struct, frozen=True, array_like=True, gc=False):
    head: bytes
    """A GoalHead in JSON, without braces."""
    savings: Savings
    contributions: ScheduledItems

    @property
    def id(self) -> str:
        return item_id(b"{%b" % self.head)


class WithdrawnPayment(Struct, frozen=True, array_like=True, gc=False):
    """A card payment that was cancelled after its authorization. A bank has shown it, and has to take it back."""

    id: str
    authorized_at: Instant
    account: str
    """The key of its account, or its currency if the clock has no accounts."""


class Schedule(Struct, frozen=True, array_like=True, gc=False):
    """The stored form. The names of its fields are not stored."""

    head: bytes
    """The members `id` and `status`."""
    bounds: bytes
    """The members `maxTime` and `expiresAt`."""
    transactions: ScheduledItems
    goals: list[ScheduledGoal]
    accounts: list[ScheduledAccount] = []
    transfers: ScheduledItems = NO_ITEMS
    opening_balances: bytes | None = None
    """A JSON object."""
    expectations: bytes | None = None
    """A JSON array."""
    withdrawn: list[WithdrawnPayment] = []
    """In the order of their cancellations."""
    former_currencies: list[str] = []
    """Those that cancelled transactions and replaced opening balances had. A bank has shown accounts for them."""

    @property
    def has_extensions(self) -> bool:
        """Whether the clock has more than the core operations know."""
        is_extended = self.opening_balances is not None or self.expectations is not None
        return bool(self.accounts or self.withdrawn or self.former_currencies or is_extended)


TRANSACTIONS: Final = 0
"""The group of transactions. The group of a goal's contributions is the goal's index plus 1."""
TRANSFERS: Final = -1
Cancelled = defaultdict[int, set[int]]
"""The positions of cancelled items, by their groups."""

_MAX_FORMER_CURRENCIES: Final = 200
"""The oldest ones beyond are forgotten, so that amendments can't grow the bank of a clock for ever."""
_EXTENDED: Final = b"\x01"
"""Precedes a stored schedule with extensions. Earlier releases can't decode it, so they can't amend it without them."""
_decode_balances: Final = json.Decoder(dict[str, Amount]).decode
_decode_expectations: Final = json.Decoder(list[Expectation]).decode
_encode_stored: Final = msgpack.Encoder().encode
_decode_stored: Final = msgpack.Decoder(Schedule).decode


def encode_stored(schedule: Schedule) -> bytes:
    """Return the bytes to store."""
    return _EXTENDED + _encode_stored(schedule) if schedule.has_extensions else _encode_stored(schedule)


def decode_stored(body: bytes) -> Schedule:
    return _decode_stored(memoryview(body)[1:] if body.startswith(_EXTENDED) else body)


def encode_schedule(clock: Clock, params: NewClock) -> Schedule:
    """Assign IDs to all items, sort them and encode them."""
    key = clock.key.hex()
    heads = [
        AccountHead(each.key, each.name, each.currency, each.type, int_if_whole(each.opening_balance))
        for each in params.accounts
    ]
    transactions = encode_items("txn", key, with_accounts(params.transactions, heads))
    goals = [_encode_goal(f"{key}_{index}", goal) for index, goal in enumerate(params.goals)]
    transfers = encode_transfers(key, params.transfers, heads)
    accounts = schedule_accounts(heads, transactions, transfers)
    schedule = Schedule(_encode_head(clock.key), _encode_bounds(clock), transactions, goals, accounts, transfers)
    return update_schedule(schedule, params.opening_balances, params.expectations)


def update_schedule(
    schedule: Schedule,
    opening_balances: Mapping[str, Amount] | UnsetType | None,
    expectations: Sequence[Expectation] | UnsetType | None,
) -> Schedule:
    """Return a schedule with other opening balances and expectations. UNSET keeps the old ones, None removes them."""
    if not isinstance(opening_balances, UnsetType):
        whole = {currency: int_if_whole(amount) for currency, amount in (opening_balances or {}).items()}
        schedule = replace(
            schedule,
            opening_balances=None if opening_balances is None else ENCODER.encode(whole),
            former_currencies=_add_former(schedule, decode_opening_balances(schedule).keys() - whole),
        )
    if not isinstance(expectations, UnsetType):
        encoded = None if expectations is None else ENCODER.encode([_with_whole_numbers(each) for each in expectations])
        schedule = replace(schedule, expectations=encoded)
    return schedule


def _with_whole_numbers(expectation: Expectation) -> Expectation:
    """Return the expectation as it was sent, except that whole numbers have no fraction."""
    for name, rule in (("balance", expectation.balance), ("total", expectation.total)):
        if rule:
            given = {"at_least": rule.at_least, "at_most": rule.at_most}
            whole = {bound: int_if_whole(amount) for bound, amount in given.items() if amount is not UNSET}
            return replace(expectation, **{name: replace(rule, **whole)})
    return expectation


def fork_schedule(schedule: Schedule, original_key: bytes, fork: Clock) -> Schedule:
    """Return the schedule of a fork: the same items with IDs that contain the fork's key."""
    old, new = original_key.hex().encode(), fork.key.hex().encode()

    # Every item begins with its ID. Later occurrences of the key are in the caller's own text and stay.
    def replace_keys(items: ScheduledItems) -> ScheduledItems:
        return ScheduledItems(items.instants, [item.replace(old, new, 1) for item in items.encoded], items.cancelled)

    goals = [
        ScheduledGoal(goal.head.replace(old, new, 1), goal.savings, replace_keys(goal.contributions))
        for goal in schedule.goals
    ]
    expectations = schedule.expectations
    if expectations:
        for goal in schedule.goals:
            # A goal's name can begin like its ID.
            named = b'"goal":"%b"' % goal.id.encode()
            expectations = expectations.replace(named, named.replace(old, new))
    return replace(
        schedule,
        head=_encode_head(fork.key),
        bounds=_encode_bounds(fork),
        transactions=replace_keys(schedule.transactions),
        goals=goals,
        transfers=replace_keys(schedule.transfers),
        expectations=expectations,
        # A fork has no connections, so nobody has seen them.
        withdrawn=[],
    )


def amend_schedule(
    schedule: Schedule,
    key: bytes,
    add: AddEntry,
    cancelled: Cancelled,
    withdrawn: list[WithdrawnPayment],
) -> Schedule:
    """Return the next schedule of the clock with this key."""
    suffix = key.hex()
    contributions = defaultdict[str, list[ContributionEntry[Amount]]](list)
    for item in add.contributions:
        contributions[item.goal_id].append(ContributionEntry(item.at, item.amount))
    heads = [account.head for account in schedule.accounts]
    kept = schedule.transactions.without(cancelled[TRANSACTIONS])
    added = encode_items("txn", suffix, with_accounts(add.transactions, heads), kept.next_number)
    transactions = kept.merge(added)
    kept = schedule.transfers.without(cancelled[TRANSFERS])
    transfers = kept.merge(encode_transfers(suffix, add.transfers, heads, kept.next_number))
    goals = [
        _amend_goal(f"{suffix}_{index}", goal, contributions[goal.id], cancelled[index + 1])
        for index, goal in enumerate(schedule.goals)
    ]
    for index, goal in enumerate(add.goals, start=len(goals)):
        goals.append(_encode_goal(f"{suffix}_{index}", goal))
    accounts = schedule_accounts(heads, transactions, transfers)
    return replace(
        schedule,
        transactions=transactions,
        goals=goals,
        accounts=accounts,
        transfers=transfers,
        withdrawn=withdrawn,
        former_currencies=_add_former(schedule, _currencies(schedule.transactions, cancelled[TRANSACTIONS])),
    )


def _currencies(transactions: ScheduledItems, positions: Iterable[int]) -> set[str]:
    encoded = [transactions.encoded[position] for position in positions]
    return {item.currency for item in decode_items(StoredTransaction, encoded)}


def _add_former(schedule: Schedule, currencies: Set[str]) -> list[str]:
    """Return the former currencies with these. The currencies of a clock with accounts are those of its accounts."""
    if schedule.accounts:
        return []
    return list(dict.fromkeys([*schedule.former_currencies, *sorted(currencies)]))[-_MAX_FORMER_CURRENCIES:]


def _amend_goal(
    suffix: str, goal: ScheduledGoal, new: Sequence[ContributionEntry[Amount]], cancelled: set[int]
) -> ScheduledGoal:
    if not new and not cancelled:
        return goal
    kept = goal.contributions.without(cancelled)
    target, initial, old_amounts = goal.savings.amounts()
    amounts = [amount for position, amount in enumerate(old_amounts) if position not in cancelled]
    amounts += [item.amount for item in new]
    amounts = sort_by([*kept.instants, *(item.at for item in new)], amounts)
    added = encode_items("ctb", suffix, new, kept.next_number)
    return ScheduledGoal(goal.head, compute_savings(target, initial, amounts), kept.merge(added))


def decode_opening_balances(schedule: Schedule) -> dict[str, Amount]:
    """Return the stored opening balances of a clock."""
    return _decode_balances(schedule.opening_balances or b"{}")


def decode_expectations(schedule: Schedule) -> list[Expectation]:
    """Return the stored expectations of a clock."""
    return _decode_expectations(schedule.expectations or b"[]")


def view(frozen_time: Instant, schedule: Schedule, names: bytes = b"", *, details: bool = False) -> bytes:
    """Return the clock at `frozen_time` as JSON. `names` has the members of `encode_names`.

    With `details`, each goal has its initial amount.
    """
    visible, pending = schedule.transactions.split(schedule.transactions.count_until(frozen_time))
    # One join of all pieces is faster than formatting each goal.
    pieces = [b"{", schedule.head, b',"frozenTime":', ENCODER.encode(frozen_time), b",", schedule.bounds, names]
    if schedule.accounts or schedule.opening_balances is not None or schedule.expectations is not None:
        pieces += _encode_extensions(schedule, frozen_time)
    pieces += (b',"transactions":[', visible, b'],"pendingTransactions":[', pending, b'],"goals":[')
    before = b"{"
    for goal in schedule.goals:
        count = goal.contributions.count_until(frozen_time)
        posted, upcoming = goal.contributions.split(count)
        progress = without_braces(ENCODER.encode(goal.savings.progress(count)))
        pieces += (before, goal.head, b",", progress)
        pieces += (b',"contributions":[', posted, b'],"upcomingContributions":[', upcoming, b"]")
        if details:
            pieces += (b',"initialAmount":', ENCODER.encode(goal.savings.initial_amount))
        before = b"},{"
    pieces.append(b"}]}" if schedule.goals else b"]}")
    return b"".join(pieces)


def _encode_extensions(schedule: Schedule, frozen_time: Instant) -> list[bytes]:
    """Return the members that the core operations don't know, with a comma before each."""
    pieces: list[bytes] = []
    if schedule.opening_balances is not None:
        pieces += (b',"openingBalances":', schedule.opening_balances)
    if schedule.expectations is not None:
        pieces += (b',"expectations":', schedule.expectations)
    if schedule.accounts:
        posted, pending = schedule.transfers.split(schedule.transfers.count_until(frozen_time))
        pieces += (b',"accounts":[', b",".join([account.encode_at(frozen_time) for account in schedule.accounts]))
        pieces += (b'],"transfers":[', posted, b'],"pendingTransfers":[', pending, b"]")
    return pieces


def _encode_head(key: bytes) -> bytes:
    return b'"id":"%b","status":"READY"' % ids.write("clock", key).encode()


def _encode_bounds(clock: Clock) -> bytes:
    expires_at = ENCODER.encode(ids.expires_at(clock.key))
    return b'"maxTime":%b,"expiresAt":%b' % (ENCODER.encode(clock.max_time), expires_at)


def _encode_goal(suffix: str, goal: GoalEntry[Amount, Amount]) -> ScheduledGoal:
    head = GoalHead(f"goal_{suffix}", goal.name, int_if_whole(goal.target_amount))
    amounts = sort_by([item.at for item in goal.contributions], [item.amount for item in goal.contributions])
    savings = compute_savings(goal.target_amount, goal.initial_amount, amounts)
    return ScheduledGoal(without_braces(ENCODER.encode(head)), savings, encode_items("ctb", suffix, goal.contributions))
