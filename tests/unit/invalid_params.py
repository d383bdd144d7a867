"""Valid parameters, and the faults of parameters."""

from datetime import UTC, datetime
from typing import Any

from msgspec import json

from tickover.api.clocks import NewClock
from tickover.api.errors import Fault
from tickover.api.explain import explain
from tickover.api.fields import Params
from tickover.server.operations.advance_test_clock import AdvanceEntry
from tickover.server.operations.delete_test_clock import DeleteEntry
from tickover.server.operations.fork_test_clock import ForkEntry
from tickover.server.operations.get_test_clock import GetEntry

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
EXPECTED_TIME = "must be an RFC 3339 timestamp with an offset, such as 2027-01-31T09:00:00Z"
EXPECTED_ADDRESS = "must be one email address, such as ana@example.com"
EXPECTED_TEXT = "must be text without U+0000 and lone surrogates"
NO_TEXT = "must be a string"

SEND = {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
VERIFICATION = {"email": "ana@example.test", "code": "012345", "authenticationMethod": "EMAIL_CODE"}
GET = {"id": "clock_x", "at": "2027-01-31T09:00:00Z"}
DELETE: dict[str, Any] = {"id": "clock_x"}
ADVANCE = {"id": "clock_x", "frozenTime": "2027-01-31T09:00:00Z"}
TRANSACTION = {"at": "2027-01-31T09:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"}
CONTRIBUTION = {"at": "2027-01-31T09:00:00Z", "amount": 50}
GOAL = {"name": "Bike", "targetAmount": 1000, "initialAmount": 100, "contributions": [CONTRIBUTION]}
OF_ONE_CLOCK: list[tuple[type[Params], dict[str, Any]]] = [
    (AdvanceEntry, ADVANCE),
    (GetEntry, GET),
    (ForkEntry, GET),
    (DeleteEntry, DELETE),
]
SCHEDULE = {"frozenTime": "2027-01-01T12:00:00Z", "transactions": [TRANSACTION], "goals": [GOAL]}


def faults_of(kind: type[Params], params: Any) -> list[Fault]:
    """Return all faults of these parameters."""
    found, read = explain(kind, params if isinstance(params, bytes) else json.encode(params))
    return [*found, *(read.faults(NOW) if read is not None else ())]


def of_transaction(**fields: Any) -> list[Fault]:
    return faults_of(NewClock, {"transactions": [TRANSACTION | fields]})


def of_goal(**fields: Any) -> list[Fault]:
    return faults_of(NewClock, {"goals": [GOAL | fields]})


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {stored: value for stored, value in fields.items() if stored != name}
