"""Arguments of the tools, described for the model. Items and expectations derive from the types of the API."""

from functools import cache
from typing import Annotated, Any, Literal, NotRequired, get_origin

from msgspec import inspect
from pydantic import ConfigDict, Field, GetCoreSchemaHandler, with_config
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from tickover.api.clocks import AccountEntry, AddedContributionEntry, GoalEntry, TransactionEntry, TransferEntry
from tickover.api.connections import BankFault
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import Bound, InitialAmount, OpeningBalance, PositiveAmount, TotalBound
from tickover.api.reconciliation import ObservedEntry

Json = dict[str, Any]
Timestamp = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class _Read:
    """Makes pydantic read a list of objects as a list of this type of the API. The server checks their values."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(list[_input(inspect.type_info(self._kind))])  # type: ignore[misc]


def _input(info: inspect.Type) -> Any:
    match info:
        case inspect.Metadata():
            text = (info.extra_json_schema or {}).get("description")
            return Annotated[_input(info.type), Field(description=text)] if text else _input(info.type)
        case inspect.StructType():
            return _object(info.cls)
        case inspect.ListType():
            return list[_input(info.item_type)]  # type: ignore[misc]
        case inspect.LiteralType():
            return Literal[info.values]
    plain = {inspect.StrType: str, inspect.IntType: int, inspect.DateTimeType: Timestamp}
    # The union of an integer and a float is a number.
    return plain.get(type(info), float)


@cache
def _object(kind: Any) -> Any:
    """Return a dictionary with the members of this type. A misspelled member is an error."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    members = {
        field.encode_name: _input(field.type) if field.required else NotRequired[_input(field.type)]
        for field in info.fields
    }
    described: Any = TypedDict(kind.__name__, members)  # type: ignore[misc]
    described.__doc__ = (get_origin(kind) or kind).__doc__
    return with_config(ConfigDict(extra="forbid"))(described)


ClockId = Annotated[str, Field(description="The clock's ID. It starts with clock_.")]
Time = Annotated[str, Field(description="RFC 3339 with an offset, such as 2027-01-31T09:00:00Z, or a date in UTC.")]
OpeningBalances = Annotated[
    dict[str, float] | None, Field(description="The balance of each currency before the clock's start: {'EUR': 1200}.")
]
Labels = Annotated[dict[str, str] | None, Field(description="Your own labels, for example {'test': 'overdraft'}.")]
Transactions = Annotated[list[Json], _Read(TransactionEntry[PositiveAmount])]
Accounts = Annotated[list[Json], _Read(AccountEntry[OpeningBalance])]
Transfers = Annotated[list[Json], _Read(TransferEntry[PositiveAmount])]
Goals = Annotated[list[Json], _Read(GoalEntry[PositiveAmount, InitialAmount])]
AddedContributions = Annotated[list[Json], _Read(AddedContributionEntry)]
Expectations = Annotated[list[Json], _Read(ExpectationEntry[Bound, TotalBound])]
BankFaults = Annotated[list[Json], _Read(BankFault)]
ObservedTransactions = Annotated[list[Json], _Read(ObservedEntry)]
