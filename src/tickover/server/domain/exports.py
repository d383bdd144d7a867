"""The parameters of exportTestClock."""

from typing import Literal

from tickover.api.timestamps import Instant
from tickover.server.domain.ledger_params import OpeningBalances, is_currency
from tickover.server.domain.params import Params, Text

ExportFormat = Literal["csv", "json", "hledger", "beancount", "ofx", "camt053"]


class ExportTestClockParams(Params, frozen=True):
    """The parameters of exportTestClock."""

    id: Text
    format: ExportFormat
    pending: bool = False
    opening_balances: OpeningBalances = {}

    def passes_fast_checks(self, now: Instant) -> bool:
        return all(map(is_currency, self.opening_balances))
