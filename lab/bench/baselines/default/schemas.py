"""The pydantic models of requests and responses."""

# mypy: disable-error-code=import-not-found, allow-subclassing-any, allow-untyped-decorators

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel

MAX_AMOUNT = 1_000_000_000
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def years_after(instant: datetime, years: int = 10) -> datetime:
    """Add calendar years. 29 February becomes 28 February."""
    try:
        return instant.replace(year=instant.year + years)
    except ValueError:
        return instant.replace(year=instant.year + years, day=28)


def _rfc3339(value: object) -> object:
    """pydantic alone also accepts numbers, dates and a space for the T."""
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise ValueError("must be an RFC 3339 timestamp with an offset")
    return value


def _utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie in the years 1 to 9999") from None


_NO_NUL = r"^[^\x00]*$"

Timestamp = Annotated[AwareDatetime, BeforeValidator(_rfc3339), AfterValidator(_utc)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=_NO_NUL)]
Category = Annotated[str, StringConstraints(max_length=80, pattern=_NO_NUL)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
PositiveAmount = Annotated[float, Field(strict=True, gt=0, le=MAX_AMOUNT, allow_inf_nan=False)]
InitialAmount = Annotated[float, Field(strict=True, ge=0, le=MAX_AMOUNT, allow_inf_nan=False)]
RpcId: TypeAlias = StrictStr | StrictInt | StrictFloat | None


class RpcCall(BaseModel):
    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, Any] = Field(default_factory=dict)
    id: RpcId = None


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True)


class TransactionEntry(Params):
    at: Timestamp
    name: Name
    amount: PositiveAmount
    currency: Currency
    type: Literal["INCOME", "EXPENSE"]
    category: Category | None = None


class ContributionEntry(Params):
    at: Timestamp
    amount: PositiveAmount


class GoalEntry(Params):
    name: Name
    target_amount: PositiveAmount
    initial_amount: InitialAmount = 0
    contributions: Annotated[list[ContributionEntry], Field(max_length=100)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _initial_amount_within_target(self) -> Self:
        if self.initial_amount > self.target_amount:
            raise ValueError("initialAmount must not exceed targetAmount")
        return self


class CreateClock(Params):
    frozen_time: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
    transactions: Annotated[list[TransactionEntry], Field(max_length=100)] = Field(default_factory=list)
    goals: Annotated[list[GoalEntry], Field(max_length=25)] = Field(default_factory=list)

    @property
    def max_time(self) -> datetime:
        return years_after(self.frozen_time)

    @model_validator(mode="after")
    def _times_in_range(self) -> Self:
        now = datetime.now(UTC)
        if not years_after(now, -10) <= self.frozen_time <= years_after(now):
            raise ValueError("frozenTime must lie within ten years of now")
        instants = [entry.at for entry in self.transactions]
        instants += [entry.at for goal in self.goals for entry in goal.contributions]
        latest = self.max_time
        if not all(self.frozen_time <= at <= latest for at in instants):
            raise ValueError("at must lie between frozenTime and maxTime")
        return self


class AdvanceClock(Params):
    id: str
    frozen_time: Timestamp


class Result(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class TransactionView(Result):
    id: str
    at: datetime
    name: str
    amount: float
    currency: str
    type: str
    source: Literal["SIMULATED_TEST_CLOCK"] = "SIMULATED_TEST_CLOCK"
    category: str | None = Field(default=None, exclude_if=lambda category: category is None)


class ContributionView(Result):
    id: str
    at: datetime
    amount: float


class GoalView(Result):
    id: str
    name: str
    target_amount: float
    current_amount: float
    remaining_amount: float
    progress_percent: float
    contributions: list[ContributionView]
    upcoming_contributions: list[ContributionView]


class ClockView(Result):
    id: str
    status: Literal["READY"] = "READY"
    frozen_time: datetime
    max_time: datetime
    expires_at: datetime
    transactions: list[TransactionView]
    pending_transactions: list[TransactionView]
    goals: list[GoalView]


class ClockResult(Result):
    clock: ClockView


class RpcResult(BaseModel):
    jsonrpc: Literal["2.0"] = "2.0"
    result: ClockResult
    id: RpcId
