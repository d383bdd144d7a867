"""Accounts, transfers and expectations about them in scenario files."""

from decimal import Decimal
from typing import Any

import pytest

from tests.unit.scenarios.strategies import to_toml
from tickover.api.limits import MAX_ACCOUNTS, MAX_TRANSFERS
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.scenario import ONE_CALL

START = "2027-01-01T00:00:00Z"
CHECKING = {"key": "checking", "name": "Everyday", "opening_balance": 100.5}
CARD = {"key": "card", "name": "Card", "type": "Credit card", "opening_balance": -20}
DOLLARS = {"key": "usd", "name": "Dollars", "currency": "USD", "type": "savings"}
PAY_CARD = {"name": "Pay card", "amount": 20, "from_account": "checking", "to_account": "card", "at": "+1 day"}
EXCHANGE = {
    "name": "Exchange", "from_account": "checking", "to_account": "usd",
    "amount": [10, 20], "received": [11, 22.5], "at": ["+2 days", "+1 day"],
}  # fmt: skip
LUNCH = {"name": "Lunch", "amount": 8, "type": "expense", "account": "card", "at": "+1 day"}


def scenario_values(**changes: Any) -> dict[str, Any]:
    parts = {"accounts": [CHECKING, CARD, DOLLARS], "transactions": [LUNCH], "transfers": [PAY_CARD, EXCHANGE]}
    return {"currency": "EUR", "length": "1 month", **parts, **changes}


def error_message(**changes: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(to_toml(scenario_values(**changes)), "f").plan(START)
    assert caught.value.line
    return str(caught.value)


def test_accounts_and_transfers_are_in_the_plan() -> None:
    plan = read(to_toml(scenario_values())).plan(START)
    assert [(one.key, one.currency, one.type, one.opening_balance) for one in plan.accounts] == [
        ("checking", "EUR", "CHECKING", Decimal("100.5")),
        ("card", "EUR", "CREDIT_CARD", Decimal(-20)),
        ("usd", "USD", "SAVINGS", Decimal(0)),
    ]
    # In order of time; a list of received amounts belongs to the list of amounts.
    assert [(one.name, one.from_, one.to, one.amount, one.received or None) for one in plan.transfers] == [
        ("Pay card", "checking", "card", Decimal(20), None),
        ("Exchange", "checking", "usd", Decimal(20), Decimal("22.5")),
        ("Exchange", "checking", "usd", Decimal(10), Decimal(11)),
    ]
    assert [item.account for item in plan.transactions] == ["card"]


def test_item_has_the_currency_of_its_account() -> None:
    plan = read(to_toml(scenario_values(transactions=[{**LUNCH, "account": "usd"}]))).plan(START)
    assert [item.currency for item in plan.transactions] == ["USD"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"accounts": [CHECKING, {**CARD, "key": "checking"}]}, 'another account has the key "checking"'),
        ({"accounts": [{**CHECKING, "key": "Checking"}]}, "key must be 1 to 40 lower-case letters, digits and hyphens"),
        ({"accounts": [{**CHECKING, "type": "bank"}]}, 'type must be "checking", "savings", "credit card"'),
        ({"accounts": [{**CHECKING, "opening_balance": 10**12 + 1}]}, "opening_balance must be a number from -1,000,"),
        (
            {"accounts": [{**CHECKING, "key": f"a{index}"} for index in range(MAX_ACCOUNTS + 1)]},
            "21 accounts exceed the limit of 20 per scenario",
        ),
        ({"opening": {"EUR": 5}}, "opening can't be used with accounts"),
        ({"transactions": [{**LUNCH, "account": "crd"}]}, 'no account has the key "crd"; did you mean "card"?'),
        ({"transactions": [{**LUNCH, "currency": "USD"}]}, 'the account "card" is in EUR, not in USD'),
        ({"transfers": [{**PAY_CARD, "to_account": "checking"}]}, "to_account must be another account"),
        ({"transfers": [{**PAY_CARD, "from_account": "saving"}]}, 'no account has the key "saving"'),
        ({"transfers": [{**PAY_CARD, "received": 5}]}, "received is only for accounts with different currencies"),
        ({"transfers": [{**PAY_CARD, "to_account": "usd"}]}, "received is missing; it is the amount that arrives in"),
        ({"transfers": [{**EXCHANGE, "received": 11}]}, "received must have an amount for each amount that leaves"),
        ({"transfers": [{**PAY_CARD, "from": "+1 day"}]}, "from requires every or rrule"),
        ({"expect": [{"never_below": 0, "account": "visa"}]}, 'no account has the key "visa"'),
        (
            {"expect": [{"never_below": 0, "account": "card", "currency": "EUR"}]},
            "must have either account or currency",
        ),
        ({"expect": [{"total": "expense", "account": "card", "at_most": 5}]}, "account can't be used with total"),
    ],
)
def test_mistakes(changes: dict[str, Any], problem: str) -> None:
    assert problem in error_message(**changes)


def test_currency_without_an_account() -> None:
    lunch = {key: value for key, value in LUNCH.items() if key != "account"}
    assert "no account is in CHF" in error_message(transactions=[{**lunch, "currency": "CHF"}])


def every_day(item: dict[str, Any], times: int) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "at"} | {"every": "day", "times": times}


def test_limit_of_transfers_in_one_call() -> None:
    text = to_toml(scenario_values(transfers=[every_day(PAY_CARD, MAX_TRANSFERS + 1)], length="1 year"))
    assert len(read(text).plan(START).transfers) == MAX_TRANSFERS + 1
    with pytest.raises(ScenarioError, match=r"101 transfers .* exceed the limit of 100 per call"):
        read(text).plan(START, ONE_CALL)


def test_transfers_count_as_transactions() -> None:
    lunches = scenario_values(
        length="5 years", transactions=[every_day(LUNCH, 1000)], transfers=[every_day(PAY_CARD, 1000)]
    )
    assert len(read(to_toml(lunches)).plan(START).transfers) == 1000
    one_more = {**lunches, "transfers": [every_day(PAY_CARD, 1001)]}
    with pytest.raises(ScenarioError, match="2,001 transactions and transfers exceed the limit of 2,000"):
        read(to_toml(one_more)).plan(START)
