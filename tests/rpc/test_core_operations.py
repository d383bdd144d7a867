"""The core operations, without additions, return exactly their own members, in their order."""

import re

from tests.rpc.builders import call
from tests.support.world import World

CREATE = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {"at": "2027-01-03T08:00:00Z", "name": "Rent", "amount": 1150.5, "currency": "EUR", "type": "EXPENSE"},
        {
            "at": "2027-01-01T00:00:00Z", "name": "Pay", "amount": 2, "currency": "EUR", "type": "INCOME",
            "category": "Work",
        },
    ],
    "goals": [
        {
            "name": "Trip", "targetAmount": 1000, "initialAmount": 200,
            "contributions": [{"at": "2027-01-02T00:00:00Z", "amount": 50}],
        },
    ],
}  # fmt: skip
PAY = (
    '{"id":"ID","at":"2027-01-01T00:00:00Z","name":"Pay","amount":2,"currency":"EUR","type":"INCOME",'
    '"category":"Work","source":"SIMULATED_TEST_CLOCK"}'
)
RENT = (
    '{"id":"ID","at":"2027-01-03T08:00:00Z","name":"Rent","amount":1150.5,"currency":"EUR","type":"EXPENSE",'
    '"source":"SIMULATED_TEST_CLOCK"}'
)
SAVED = '{"id":"ID","at":"2027-01-02T00:00:00Z","amount":50}'


def clock(frozen_time: str, transactions: str, pending: str, progress: str, contributions: str, upcoming: str) -> str:
    return (
        '{"jsonrpc":"2.0","result":{"clock":{"id":"ID","status":"READY",'
        f'"frozenTime":"{frozen_time}","maxTime":"2037-01-01T00:00:00Z","expiresAt":"EXPIRY",'
        f'"transactions":[{transactions}],"pendingTransactions":[{pending}],'
        f'"goals":[{{"id":"ID","name":"Trip","targetAmount":1000,{progress},'
        f'"contributions":[{contributions}],"upcomingContributions":[{upcoming}]}}]}}}},"id":1}}'
    )


def without_ids(body: bytes) -> str:
    text = re.sub(r'"(clock|txn|goal|ctb)_[^"]*"', '"ID"', body.decode())
    return re.sub(r'"expiresAt":"[^"]*"', '"expiresAt":"EXPIRY"', text)


async def test_create_and_advance_answer_byte_for_byte(world: World, token: str) -> None:
    created = await world.post(call("createTestClock", CREATE, id=1), token)
    before = '"currentAmount":200,"remainingAmount":800,"progressPercent":20'
    assert without_ids(created.body) == clock("2027-01-01T00:00:00Z", PAY, RENT, before, "", SAVED)
    advance = {"id": created.json["result"]["clock"]["id"], "frozenTime": "2027-01-03T08:00:00Z"}
    moved = await world.post(call("advanceTestClock", advance, id=1), token)
    after = '"currentAmount":250,"remainingAmount":750,"progressPercent":25'
    assert without_ids(moved.body) == clock("2027-01-03T08:00:00Z", f"{PAY},{RENT}", "", after, SAVED, "")
