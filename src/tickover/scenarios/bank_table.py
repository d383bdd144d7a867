"""The table `bank` of a scenario: how the bank behaves for connections that an app makes itself."""

from collections.abc import Sequence
from datetime import time, tzinfo
from typing import Annotated

from msgspec import UNSET, UnsetType, field

from tickover.api.connections import BankFault, BankFaultKind, BankSettings, Quirk, quirk_faults, to_quirks
from tickover.api.limits import MAX_BANK_FAULTS
from tickover.scenarios import readers
from tickover.scenarios.scenario_errors import Mistakes
from tickover.scenarios.timings import LocalTime, Point, Window
from tickover.scenarios.toml_tables import Limit, OneOrMore, Tables, TableValues


class FaultTable(TableValues, frozen=True, kw_only=True):
    kind: Annotated[BankFaultKind, readers.FAULT_KIND]
    from_: Annotated[Point, readers.POINT] = field(default=Point('"start"', "start"), name="from")
    until: Annotated[Point | None, readers.POINT] = None

    def plan(self, window: Window, local_time: LocalTime) -> BankFault:
        with self.table.wrap_errors():
            start = self.from_.instant(local_time, window)
            if self.until is None:
                return BankFault(self.kind, start)
            until = self.until.instant(local_time, window)
            if until <= start:
                raise ValueError(f"until {self.until.text} must be after from {self.from_.text}")
            return BankFault(self.kind, start, until)


class Bank(TableValues, frozen=True, kw_only=True):
    quirks: Annotated[tuple[str, ...] | UnsetType, OneOrMore(readers.QUIRK, minimum=0)] = UNSET
    bank_faults: Annotated[
        tuple[FaultTable, ...] | UnsetType, Tables(FaultTable, Limit("faults", MAX_BANK_FAULTS, "bank"))
    ] = field(default=UNSET, name="faults")
    consent_days: Annotated[int | UnsetType, readers.CONSENT_DAYS] = field(default=UNSET, name="consentDays")
    calls_per_day: Annotated[int | UnsetType, readers.CALLS_PER_DAY] = field(default=UNSET, name="callsPerDay")

    def check(self) -> None:
        for fault in quirk_faults(self._quirks):
            self.table.report(f"{fault.got} {fault.message}", "quirks")

    def plan(self, window: Window, timezone: tzinfo) -> BankSettings:
        """Return the settings. A day without a time of day begins at midnight."""
        local_time, mistakes = LocalTime(time(), timezone), Mistakes()
        faults: list[BankFault] = []
        for fault in self.bank_faults or ():
            with mistakes.collect():
                faults.append(fault.plan(window, local_time))
        mistakes.raise_all()
        return BankSettings(
            bank_faults=UNSET if self.bank_faults is UNSET else faults,
            quirks=self._quirks,
            consent_days=self.consent_days,
            calls_per_day=self.calls_per_day,
        )

    @property
    def _quirks(self) -> Sequence[Quirk] | UnsetType:
        return UNSET if self.quirks is UNSET else to_quirks(self.quirks)  # type: ignore[return-value]
