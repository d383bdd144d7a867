"""Arguments of the tools, described for the model. Items and expectations derive from the types of the API."""

from inspect import cleandoc
from typing import Annotated, Any, get_origin

from msgspec import inspect
from pydantic import Field, WithJsonSchema

from tickover.api.clocks import AccountEntry, AddedContributionEntry, GoalEntry, TransactionEntry, TransferEntry
from tickover.api.connections import BankFault, Quirk
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import Bound, InitialAmount, OpeningBalance, PositiveAmount, TotalBound
from tickover.api.reconciliation import ObservedEntry

Json = dict[str, Any]


def _list_of(kind: Any) -> WithJsonSchema:
    """Return the schema of a list of objects of this type. The server checks the objects."""
    return WithJsonSchema({"type": "array", "items": _schema(inspect.type_info(kind))})


def _schema(info: inspect.Type) -> Json:
    match info:
        case inspect.Metadata():
            return _schema(info.type) | (info.extra_json_schema or {})
        case inspect.StructType():
            return {
                "type": "object",
                "description": cleandoc((get_origin(info.cls) or info.cls).__doc__ or ""),
                "properties": {field.encode_name: _schema(field.type) for field in info.fields},
                "required": [field.encode_name for field in info.fields if field.required],
                "additionalProperties": False,
            }
        case inspect.ListType():
            return {"type": "array", "items": _schema(info.item_type)}
        case inspect.LiteralType():
            return {"enum": list(info.values)}
        case inspect.DateTimeType():
            return {"type": "string", "format": "date-time"}
    # The union of an integer and a float is a number.
    return {"type": {inspect.StrType: "string", inspect.IntType: "integer"}.get(type(info), "number")}


ClockId = Annotated[str, Field(description="The clock's ID. It starts with clock_.")]
Time = Annotated[str, Field(description="RFC 3339 with an offset, such as 2027-01-31T09:00:00Z, or a date in UTC.")]
OpeningBalances = Annotated[
    dict[str, float] | None, Field(description="The balance of each currency before the clock's start: {'EUR': 1200}.")
]
Labels = Annotated[dict[str, str] | None, Field(description="Your own labels, for example {'test': 'overdraft'}.")]
Transactions = Annotated[list[Json], _list_of(TransactionEntry[PositiveAmount])]
Accounts = Annotated[list[Json], _list_of(AccountEntry[OpeningBalance])]
Transfers = Annotated[list[Json], _list_of(TransferEntry[PositiveAmount])]
Goals = Annotated[list[Json], _list_of(GoalEntry[PositiveAmount, InitialAmount])]
AddedContributions = Annotated[list[Json], _list_of(AddedContributionEntry)]
Expectations = Annotated[list[Json], _list_of(ExpectationEntry[Bound, TotalBound])]
BankFaults = Annotated[list[Json], _list_of(BankFault)]
BankQuirks = Annotated[list[Quirk], Field(description="Habits of real banks that apps stumble over.")]
ObservedTransactions = Annotated[list[Json], _list_of(ObservedEntry)]
