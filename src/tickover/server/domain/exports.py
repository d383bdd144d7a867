"""The parameters of exportTestClock."""

from typing import Annotated, Literal

from tickover.api.fields import ClockId, OpeningBalances, Params, doc

ExportFormat = Literal["csv", "json", "hledger", "beancount", "ofx", "camt053"]


class ExportEntry(Params, frozen=True):
    """The parameters of exportTestClock."""

    id: ClockId
    format: Annotated[ExportFormat, doc("The format of the file.")]
    pending: Annotated[bool, doc("Whether to include transactions after the clock's `frozenTime`.")] = False
    opening_balances: OpeningBalances = {}
