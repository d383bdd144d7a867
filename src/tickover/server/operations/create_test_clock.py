from tickover.api.clocks import NewClock, OneClock
from tickover.api.errors import Reason, reject
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.schedule.clock import new_clock
from tickover.server.schedule.schedule import new_schedule


@Operation(
    "createTestClock",
    OneClock,
    needs=Permission.WRITE,
    is_core=True,
    takes_idempotency_key=True,
    reasons=(Reason.RATE_LIMITED,),
    examples={
        "Salary, rent, and a trip to save for": {
            "frozenTime": "2027-01-01T00:00:00Z",
            "transactions": [
                {
                    "at": "2027-01-25T09:00:00+01:00",
                    "name": "Salary",
                    "amount": 2800,
                    "currency": "EUR",
                    "type": "INCOME",
                },
                {
                    "at": "2027-01-03T08:00:00Z",
                    "name": "Rent",
                    "amount": 1150.5,
                    "currency": "EUR",
                    "type": "EXPENSE",
                    "category": "home",
                },
            ],
            "goals": [
                {
                    "name": "Trip",
                    "targetAmount": 3000,
                    "initialAmount": 500,
                    "contributions": [
                        {"at": "2027-01-26T08:00:00Z", "amount": 310},
                        {"at": "2027-02-26T08:00:00Z", "amount": 310},
                    ],
                }
            ],
        },
        "A clock with nothing on it, at the real now": {},
        "With a name and a label": {"name": "Nightly run", "labels": {"ci": "1"}},
    },
)
async def create_test_clock(params: NewClock, caller: Caller, services: Services) -> bytes:
    """Create a clock with its schedule.

    You own the clock, and it expires seven days after its creation. All parameters are optional. Items dated exactly at
    `frozenTime` have already happened.
    """
    clock = new_clock(services.mint.new_key(caller.now), params, caller.now)
    schedule = new_schedule(clock, params)
    reject(await services.ledgers.expectation_faults(clock, schedule, params.opening_balances, params.expectations))
    return await services.clocks.create(clock, schedule, caller)
