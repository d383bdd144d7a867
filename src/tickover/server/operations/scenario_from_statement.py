from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from tickover.api.errors import Fault
from tickover.api.fields import Currency, Params, Text, doc
from tickover.api.limits import MAX_BANK_FILE_UPLOAD, MAX_FILE_NAME
from tickover.api.plans import StatementScenario
from tickover.api.timestamps import Instant
from tickover.server.isolated_calls import BankFileRequest
from tickover.server.operations.create_test_clock_from_scenario import expand
from tickover.server.operations.operation import Caller, Operation, Permission, Services

_BANK_FILE: Final = b"""\
Date,Description,Amount
03/01/2027,Rent,-840.50
25/01/2027,Salary,2350.00
03/02/2027,Rent,-840.50
03/03/2027,Rent,-840.50
"""


class StatementEntry(Params, frozen=True):
    content: Annotated[
        Text,
        Meta(min_length=1, max_length=(MAX_BANK_FILE_UPLOAD + 2) // 3 * 4),
        doc(f"The file in Base64: CSV or OFX with at most {MAX_BANK_FILE_UPLOAD:,} bytes."),
    ]
    file_name: Annotated[
        Annotated[Text, Meta(min_length=1, max_length=MAX_FILE_NAME)],
        doc("The name of the file. Messages and the title of the scenario use it."),
    ] = "Statement"
    currency: Annotated[Currency | UnsetType, doc("The currency of a CSV file that doesn't name it.")] = UNSET
    day_first: Annotated[bool | UnsetType, doc("Whether 03/04/2027 is 3 April. Ambiguous dates need it.")] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        try:
            size = len(b64decode(self.content or "", validate=True))
        except ValueError:
            yield Fault("content", "base64", "must be Base64")
            return
        if size > MAX_BANK_FILE_UPLOAD:
            yield Fault("content", "base64", f"must have at most {MAX_BANK_FILE_UPLOAD:,} bytes")


@Operation(
    "scenarioFromStatement",
    StatementScenario,
    needs=Permission.READ,
    examples={
        "A rent and a salary": {
            "content": b64encode(_BANK_FILE).decode(),
            "fileName": "checking.csv",
            "currency": "EUR",
            "dayFirst": True,
        }
    },
)
async def scenario_from_statement(params: StatementEntry, caller: Caller, services: Services) -> bytes:
    """Turn the file of a bank into a scenario.

    Reads a bank statement in CSV or OFX, as the command `tickover scenarios from` does, and creates nothing. Regular
    payments become recurrences, and all others keep their dates. Pass `text` to `createTestClockFromScenario`.
    """
    is_day_first = None if params.day_first is UNSET else params.day_first
    request = BankFileRequest(b64decode(params.content), params.file_name, params.currency or "", is_day_first)
    return await expand("content", request, caller, services)
