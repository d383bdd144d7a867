from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType, json
from msgspec.structs import replace

from tickover.api.clocks import ContributionEntry, GoalEntry, NewClock, OneClock, TransactionEntry, TransferEntry
from tickover.api.connections import BankSettings
from tickover.api.errors import Fault, Reason, invalid_params, reject, unauthenticated
from tickover.api.fields import ClockName, InitialAmount, Labels, Params, PositiveAmount, Text, doc
from tickover.api.limits import MAX_CLOCK_CURRENCIES, MAX_SCENARIO_BYTES
from tickover.api.suggestions import suggest
from tickover.api.timestamps import Instant, first_of_month
from tickover.server.isolated_calls import ExpandRequest, IsolatedRequest
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.schedule.clock import new_clock
from tickover.server.schedule.schedule import new_schedule

EXAMPLE: Final = """\
title = "Home"
currency = "EUR"
length = "1 month"

[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "month on the 3rd"

[[expect]]
never_below = -1000
"""


class FromScenarioEntry(Params, frozen=True):
    scenario: Annotated[Text | UnsetType, doc("The name of an included scenario. Pass either it or `text`.")] = UNSET
    text: Annotated[
        Annotated[Text, Meta(min_length=1, max_length=MAX_SCENARIO_BYTES)] | UnsetType,
        doc(f"A scenario in TOML, with at most {MAX_SCENARIO_BYTES:,} bytes in UTF-8."),
    ] = UNSET
    start: Annotated[
        Instant | UnsetType,
        doc("The start of the clock. Default: the start of the scenario, or else the first day of this month."),
    ] = UNSET
    name: Annotated[ClockName | UnsetType, doc("Your own name for the clock. Default: the scenario's title.")] = UNSET
    labels: Labels | UnsetType = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        from tickover.scenarios import toml_files

        if (self.scenario is UNSET) == (self.text is UNSET):
            yield Fault("scenario", "oneOf", "must be there if text isn't, and only then")
        elif isinstance(self.scenario, str) and self.scenario not in (names := toml_files.names()):
            hint = suggest(self.scenario, names, '"{}"')
            message = f"must be an included scenario ({', '.join(names)}){hint}"
            yield Fault("scenario", "existing", message)
        if isinstance(self.text, str) and len(self.text.encode()) > MAX_SCENARIO_BYTES:
            yield Fault("text", "maxLength", f"must have at most {MAX_SCENARIO_BYTES} bytes in UTF-8")


class _GrownGoal(GoalEntry[PositiveAmount, InitialAmount], frozen=True):
    contributions: Sequence[ContributionEntry[PositiveAmount]] = ()


class _GrownClock(NewClock, frozen=True):
    """Parameters of createTestClock with as many items as a clock can hold. The scenario's limits count."""

    transactions: Sequence[TransactionEntry[PositiveAmount]] = ()
    transfers: Sequence[TransferEntry[PositiveAmount]] = ()
    goals: Sequence[_GrownGoal] = ()


class _StoredScenario(Struct, frozen=True, rename="camel"):
    params: _GrownClock
    bank_defaults: BankSettings | None


@Operation(
    "createTestClockFromScenario",
    OneClock,
    needs=Permission.WRITE,
    takes_idempotency_key=True,
    reasons=(Reason.RATE_LIMITED,),
    examples={"A month of rent": {"text": EXAMPLE, "start": "2027-01-01T00:00:00Z"}},
)
async def create_test_clock_from_scenario(params: FromScenarioEntry, caller: Caller, services: Services) -> bytes:
    """Create a clock from a scenario.

    Expands an included scenario or your own in TOML, and creates a clock with as many items as a clock can hold. The
    clock keeps the scenario's title as its name, its opening balances, its expectations and its bank. Each fault of an
    invalid scenario has its `line`.
    """
    from tickover.scenarios import toml_files

    path = "text" if params.scenario is UNSET else "scenario"
    text = toml_files.included_text(params.scenario) if isinstance(params.scenario, str) else str(params.text)
    month = first_of_month(caller.now)
    request = ExpandRequest(text, params.start or None, month, is_stored=True)
    stored = json.decode(await expand(path, request, caller, services), type=_StoredScenario)
    given = replace(stored.params, labels=params.labels, name=params.name or stored.params.name)
    faults = [] if given.passes_fast_checks(caller.now) else list(given.faults(caller.now))
    currencies = len({item.currency for item in given.transactions})
    if currencies > MAX_CLOCK_CURRENCIES:
        faults.append(Fault("currencies", "count", f"must be at most {MAX_CLOCK_CURRENCIES}", currencies))
    clock = new_clock(services.mint.new_key(caller.now), given, caller.now)
    if not faults:
        schedule = replace(new_schedule(clock, given), bank_defaults=stored.bank_defaults)
        faults = await services.ledgers.expectation_faults(clock, schedule, given.opening_balances, given.expectations)
    reject([_of_scenario(fault, path) for fault in faults])
    return await services.clocks.create(clock, schedule, caller)


async def expand(path: str, request: IsolatedRequest, caller: Caller, services: Services) -> bytes:
    """Return the result of the isolated process.

    Raise a Rejection with the faults of the parameter at `path`, or with the parameter that is missing.
    """
    if await services.store.find_token(caller.token.digest, caller.now) is None:
        raise unauthenticated()
    async with services.isolated_process.turn():
        found = await services.isolated_process.run(request)
    if found.result is UNSET:
        path, rule = (found.missing, "required") if found.missing else (path, "scenario")
        faults = [Fault(path, rule, message.removesuffix("."), line=line or UNSET) for message, line in found.errors]
        raise invalid_params(faults)
    return bytes(found.result)


def _of_scenario(fault: Fault, path: str) -> Fault:
    """Return a fault of the clock as a fault of its scenario."""
    if fault.path == "frozenTime":
        return replace(fault, path="start")
    return Fault(path, "scenario", f"makes a clock whose {fault.path} {fault.message}")
