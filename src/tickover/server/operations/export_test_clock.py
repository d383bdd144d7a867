from typing import Annotated

from msgspec import UNSET, Raw, UnsetType

from tickover.api.clocks import ExportedClock, unknown_account
from tickover.api.errors import Fault, invalid_params, reject
from tickover.api.fields import AccountKey, ExportFormat, OpeningBalances, doc
from tickover.server.isolated_calls import ExportRequest
from tickover.server.operations.ledgers import opening_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.clock import encode_start
from tickover.server.schedule.view import view


class ExportEntry(ClockParams, frozen=True):
    format: Annotated[ExportFormat, doc("The format of the file.")]
    pending: Annotated[bool, doc("Whether to include transactions after the clock's `frozenTime`.")] = False
    opening_balances: OpeningBalances | UnsetType = UNSET
    account: Annotated[AccountKey | UnsetType, doc("The key of an account. Default: all.")] = UNSET


@Operation(
    "exportTestClock",
    ExportedClock,
    needs=Permission.READ,
    examples={"As CSV": {"id": EXAMPLE_CLOCK, "format": "csv", "openingBalances": {"EUR": 1000}}},
)
async def export_test_clock(params: ExportEntry, caller: Caller, services: Services) -> bytes:
    """Export a clock as account statements for other programs.

    Returns a file with one statement for each account, or for each currency of a clock without any, the same as
    `tickover clock export`. `ofx` and `camt053` need at least one account, transaction or opening balance. `camt053`
    allows 5 decimals, and `hledger` 255.
    """
    process = services.isolated_process
    # A call that waits for its turn holds no clock in memory.
    async with process.turn():
        clock, schedule = await services.clocks.find(params.id, caller)
        faults = opening_faults(schedule, params.opening_balances)
        accounts = [account.key for account in schedule.accounts]
        if params.account and params.account not in accounts:
            faults.append(unknown_account("account", params.account, accounts))
        reject(faults)
        snapshot = Raw(view(clock.frozen_time, schedule, encode_start(clock)))
        opening = (schedule.opening_balances or {}) if params.opening_balances is UNSET else params.opening_balances
        request = ExportRequest(snapshot, params.format, params.pending, opening, params.account or "")
        found = await process.run(request)
    if found.result is UNSET:
        raise invalid_params([Fault("format", "export", found.errors[0][0], params.format)])
    return bytes(found.result)
