"""Expectations about a clock's money on the wire, and functions that build and describe them.

As in `clocks`, amounts are doubles in the server and decimals in the client.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, UnsetType, field

from tickover.api import timestamps
from tickover.api.command_arguments import Amount, Amount_co, InstantLike, to_exact_decimal, to_instant
from tickover.api.errors import Fault
from tickover.api.fields import AccountKey, Category, Currency, Name, Params, Result, Timestamp, TransactionType, doc
from tickover.api.limits import MAX_POSTED_COUNT
from tickover.api.timestamps import Instant

Period = Literal["DAY", "WEEK", "MONTH", "ALL"]
Bound_co = TypeVar("Bound_co", covariant=True)
Total_co = TypeVar("Total_co", covariant=True)

_AT_LEAST: Final = doc("The smallest value that is allowed. You need `atLeast`, `atMost` or both.")
_AT_MOST: Final = doc("The largest value that is allowed.")
_By = Annotated[Instant, doc("An instant from the clock's start to `until` of the call.")]


class BalanceExpectationEntry(Params, Generic[Bound_co], frozen=True):
    """The balance stays within bounds at every instant from `from` to `until`."""

    currency: Currency | UnsetType = UNSET
    at_least: Annotated[Bound_co | UnsetType, _AT_LEAST] = UNSET
    at_most: Annotated[Bound_co | UnsetType, _AT_MOST] = UNSET
    from_: Annotated[Instant | UnsetType, doc("The start of the range. Default: the clock's start.")] = field(
        default=UNSET, name="from"
    )
    until: Annotated[Instant | UnsetType, doc("The end of the range. Default: `until` of the call.")] = UNSET
    account: Annotated[AccountKey | UnsetType, doc("The key of an account. Pass either it or `currency`.")] = UNSET

    def __str__(self) -> str:
        since = "" if self.from_ is UNSET else f" from {timestamps.write(self.from_)}"
        until = "" if self.until is UNSET else f" until {timestamps.write(self.until)}"
        what = f"balance of {self.account}" if self.currency is UNSET else f"{self.currency} balance"
        return f"the {what} is {_bounds(self.at_least, self.at_most)}{since}{until}"


class GoalReachedExpectationEntry(Params, frozen=True):
    """A goal is reached at or before `by`."""

    goal: Annotated[Name, doc("The ID of a goal, or a name that only one goal has.")]
    by: _By

    def __str__(self) -> str:
        return f'goal "{self.goal}" is reached by {timestamps.write(self.by)}'


class TotalExpectationEntry(Params, Generic[Total_co], frozen=True):
    """The total of transactions stays within bounds in every period."""

    type: Annotated[TransactionType, doc("Whether money comes in or goes out.")]
    currency: Currency
    per: Annotated[
        Period,
        doc("A period in UTC, or `ALL` for one total. Weeks start on Monday. Incomplete ones count only for `atMost`."),
    ]
    category: Annotated[Category | UnsetType, doc("Counts only transactions with this category.")] = UNSET
    at_least: Annotated[Total_co | UnsetType, _AT_LEAST] = UNSET
    at_most: Annotated[Total_co | UnsetType, _AT_MOST] = UNSET

    def __str__(self) -> str:
        category = "" if self.category is UNSET else f' for "{self.category}"'
        period = "" if self.per == "ALL" else f" in every {self.per.lower()}"
        bounds = _bounds(self.at_least, self.at_most)
        return f"the total {self.type.lower()} in {self.currency}{category} is {bounds}{period}"


class PostedExpectationEntry(Params, frozen=True):
    """At least `count` transactions with this name are posted at or before `by`."""

    name: Annotated[Name, doc("The name of the transactions.")]
    by: _By
    count: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_POSTED_COUNT)] | UnsetType,
        doc("The smallest number of transactions. Default: 1."),
    ] = UNSET

    def __str__(self) -> str:
        times = "" if self.count is UNSET or self.count == 1 else f" {self.count} times"
        return f'"{self.name}" is posted{times} by {timestamps.write(self.by)}'


_Rule = (
    BalanceExpectationEntry[Bound_co]
    | GoalReachedExpectationEntry
    | TotalExpectationEntry[Total_co]
    | PostedExpectationEntry
)


class ExpectationEntry(Params, Generic[Bound_co, Total_co], frozen=True):
    """One expectation. It has exactly one member."""

    balance: BalanceExpectationEntry[Bound_co] | UnsetType = UNSET
    goal_reached: GoalReachedExpectationEntry | UnsetType = UNSET
    total: TotalExpectationEntry[Total_co] | UnsetType = UNSET
    posted: PostedExpectationEntry | UnsetType = UNSET

    def __str__(self) -> str:
        """Return the expectation as a sentence."""
        text = str(self.rule)
        return f"{text[0].upper()}{text[1:]}."

    @property
    def rule(self) -> _Rule[Bound_co, Total_co]:
        """The only member."""
        rule = self.balance or self.goal_reached or self.total or self.posted
        assert rule is not UNSET, "an expectation has exactly one member"
        return rule

    def instants(self) -> Iterator[Instant]:
        """Return the instants that the expectation names."""
        for name in ("from_", "until", "by"):
            if at := getattr(self.rule, name, UNSET):
                yield at

    @property
    def currency(self) -> str | None:
        """The currency that the expectation names, if it names one."""
        return getattr(self.rule, "currency", None) or None

    def own_faults(self) -> Iterator[Fault]:
        """Return the faults that don't depend on a clock."""
        given = [self.balance, self.goal_reached, self.total, self.posted]
        if sum(member is not UNSET for member in given) != 1:
            yield Fault("", "oneOf", "must have exactly one of balance, goalReached, total and posted")
        for name, member in (("balance", self.balance), ("total", self.total)):
            if not isinstance(member, BalanceExpectationEntry | TotalExpectationEntry):
                continue
            bounds: list[Any] = [bound for bound in (member.at_least, member.at_most) if bound is not UNSET]
            if not bounds:
                yield Fault(name, "bound", "must have atLeast, atMost or both")
            elif None not in bounds and bounds[0] > bounds[-1]:
                yield Fault(f"{name}.atMost", "range", "must be at least atLeast")
        balance = self.balance
        if isinstance(balance, BalanceExpectationEntry) and (balance.currency is UNSET) == (balance.account is UNSET):
            yield Fault("balance", "oneOf", "must have either currency or account")


Expectation = ExpectationEntry[Decimal, Decimal]
"""An expectation as clients build it."""


class Cause(Result, Generic[Amount_co], frozen=True):
    """The item that caused a violation.

    For a balance, it is the item at the violation's `at` that moved the balance most in the wrong direction. For a
    total, it is the transaction that exceeded `atMost`.
    """

    id: Annotated[str, doc("The ID of the transaction or transfer.")]
    at: Annotated[Timestamp, doc("When it is posted.")]
    name: Annotated[str, doc("The name of the transaction or transfer.")]
    amount: Annotated[
        Amount_co, doc("What the item added to the balance or total. Negative if it lowered the balance.")
    ]
    before: Annotated[Amount_co, doc("The balance or total just before the item.")]
    after: Annotated[Amount_co, doc("The balance or total just after the item.")]


class WorstValue(Result, Generic[Amount_co], frozen=True):
    """The balance or total that is farthest beyond the bound."""

    at: Annotated[Timestamp, doc("The first time with this value.")]
    actual: Annotated[Amount_co, doc("The balance or total.")]


class Violation(Result, Generic[Amount_co], frozen=True):
    """The first violation of an expectation."""

    at: Annotated[
        Timestamp,
        doc(
            "The first violation: for `goalReached` and `posted`, `by`; for a total below `atLeast`, the last "
            "microsecond of the period."
        ),
    ]
    message: Annotated[str, doc("The violation in words.")]
    actual: Annotated[Amount_co, doc("The balance, total, amount or count.")]
    item_ids: Annotated[Sequence[str], doc("IDs of the transactions or contributions that `actual` depends on.")]
    cause: Annotated[
        Cause[Amount_co] | None,
        doc("Absent if no item caused it: the balance was too low before the range, or a total stays below `atLeast`."),
    ] = None
    until: Annotated[
        Timestamp | None,
        doc(
            "When the balance is within the bounds again. For a total above `atMost`, the last microsecond of the "
            "period. Absent if that isn't within the range."
        ),
    ] = None
    worst: Annotated[
        WorstValue[Amount_co] | None, doc("The worst value before `until`. Absent for `goalReached` and `posted`.")
    ] = None


class ExpectationResult(Result, frozen=True):
    """Whether one expectation holds."""

    ok: Annotated[bool, doc("Whether the expectation holds.")]
    violation: Violation[Decimal] | None = None


class CheckResult(Result, frozen=True):
    """The results of all expectations."""

    ok: Annotated[bool, doc("Whether all expectations hold.")]
    until: Annotated[Timestamp, doc("The end of the check.")]
    results: Annotated[Sequence[ExpectationResult], doc("One for each expectation, in the order of the request.")]
    expectations: Annotated[Sequence[Expectation], doc("The expectations of the clock, if the call had none.")] = ()

    def __bool__(self) -> bool:
        return self.ok


def never_below(
    currency: str | None = None,
    amount: Amount = 0,
    *,
    account: str | None = None,
    from_: InstantLike | None = None,
    until: InstantLike | None = None,
) -> Expectation:
    """Expect that the balance of a currency or of an account is at least `amount` at every instant of the range."""
    return _balance(currency, account, from_, until, at_least=to_exact_decimal(amount))


def never_above(
    currency: str | None = None,
    amount: Amount = 0,
    *,
    account: str | None = None,
    from_: InstantLike | None = None,
    until: InstantLike | None = None,
) -> Expectation:
    """Expect that the balance of a currency or of an account is at most `amount` at every instant of the range."""
    return _balance(currency, account, from_, until, at_most=to_exact_decimal(amount))


def _balance(
    currency: str | None,
    account: str | None,
    from_: InstantLike | None,
    until: InstantLike | None,
    **bound: Decimal,
) -> Expectation:
    if (currency is None) == (account is None):
        raise ValueError("pass either a currency or an account")
    rule = BalanceExpectationEntry(
        currency=UNSET if currency is None else currency,
        account=UNSET if account is None else account,
        from_=_optional(from_),
        until=_optional(until),
        **bound,
    )
    return ExpectationEntry(balance=rule)


def goal_reached(goal: str, by: InstantLike) -> Expectation:
    """Expect that a goal, named by its ID or its unique name, is reached at or before `by`."""
    return ExpectationEntry(goal_reached=GoalReachedExpectationEntry(goal, to_instant(by)))


def total(
    type: TransactionType,
    currency: str,
    *,
    per: Period = "ALL",
    category: str | None = None,
    at_least: Amount | None = None,
    at_most: Amount | None = None,
) -> Expectation:
    """Expect that the total of incomes or expenses is within bounds: in every day, week or month in UTC, or in all."""
    if at_least is None and at_most is None:
        raise ValueError("total requires at_least, at_most or both")
    rule = TotalExpectationEntry(
        type,
        currency,
        per,
        category=UNSET if category is None else category,
        at_least=UNSET if at_least is None else to_exact_decimal(at_least),
        at_most=UNSET if at_most is None else to_exact_decimal(at_most),
    )
    return ExpectationEntry(total=rule)


def posted(name: str, by: InstantLike, count: int = 1) -> Expectation:
    """Expect that at least `count` transactions with this name are posted at or before `by`."""
    return ExpectationEntry(posted=PostedExpectationEntry(name, to_instant(by), UNSET if count == 1 else count))


def _optional(value: InstantLike | None) -> datetime | UnsetType:
    return UNSET if value is None else to_instant(value)


def _bounds(at_least: Any, at_most: Any) -> str:
    bounds = []
    if at_least is not UNSET:
        bounds.append(f"never below {at_least:f}")
    if at_most is not UNSET:
        bounds.append(f"never above {at_most:f}")
    return " and ".join(bounds)
