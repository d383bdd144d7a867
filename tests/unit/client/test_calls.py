"""Arguments of calls become parameters of requests."""

import json
from datetime import date
from typing import Any

import pytest

from tickover.client import BankFault, never_below
from tickover.client.calls import Call, check_clock, connect_clock, fork_clock, update_clock


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


@pytest.mark.parametrize("expectations", [["EUR"], [never_below], [[never_below("EUR", 0)]]])
def test_what_is_no_expectation_is_rejected(expectations: Any) -> None:
    with pytest.raises(ValueError, match=r'^pass expectations, such as never_below\("EUR", 0\)$'):
        check_clock("clock_1", expectations)


@pytest.mark.parametrize("change", [fork_clock, update_clock])
def test_unknown_changes_of_a_clock_are_rejected(change: Any) -> None:
    with pytest.raises(TypeError, match=r"^unexpected keyword argument 'nam'$"):
        change("clock_1", nam="Trip")
