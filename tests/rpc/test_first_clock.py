"""Sign in, create a clock and advance it."""

from tests.support.world import World


async def test_signed_in_user_advances_a_clock(world: World, token: str) -> None:
    salary = {"at": "2027-01-25T09:00:00Z", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"}
    clock = await world.create(token, transactions=[salary])
    assert [item["name"] for item in clock["pendingTransactions"]] == ["Salary"]
    moved = await world.advance(token, clock["id"], "2027-02-01T00:00:00Z")
    assert [item["name"] for item in moved["transactions"]] == ["Salary"]
    assert moved["pendingTransactions"] == []
