"""Arguments of calls become parameters of requests."""

import json
from datetime import date
from typing import Any

from tickover.client import BankFault
from tickover.client.calls import Call, connect_clock


def params(call: Call[Any]) -> Any:
    return json.loads(call.request.content)["params"]


def test_faults_of_a_bank_are_objects_or_dictionaries_with_any_times() -> None:
    day: Any = date(2027, 3, 3)
    down, limited = BankFault("INSTITUTION_DOWN", day), {"kind": "RATE_LIMITED", "from": "2027-03-04", "until": day}
    assert params(connect_clock("clock_1", "PLAID", faults=[down, limited]))["faults"] == [
        {"kind": "INSTITUTION_DOWN", "from": "2027-03-03T00:00:00Z"},
        {"kind": "RATE_LIMITED", "from": "2027-03-04T00:00:00Z", "until": "2027-03-03T00:00:00Z"},
    ]
    assert "faults" not in params(connect_clock("clock_1", "PLAID", faults=None))
