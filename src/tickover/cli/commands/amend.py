"""The commands `tickover clock add` and `cancel`."""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from tickover.cli import formatting
from tickover.cli.commands.clocks import show_clock
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import ClientCommand, F, clock_option, complete_scenario, parse_amount, time_option
from tickover.cli.select_clock import selected_clock
from tickover.cli.session import Session

if TYPE_CHECKING:
    from tickover.api.plans import PlannedItem
    from tickover.client import Clock

_Money = tuple[str, Decimal, str]


def _item_option(name: str, parameter: str, metavar: str, help: str) -> Callable[[F], F]:
    types = tuple(parse_amount if word == "AMOUNT" else str for word in metavar.split())
    return click.option(name, parameter, type=types, multiple=True, metavar=metavar, help=help)


@click.command(cls=ClientCommand)
@click.argument("file", required=False, shell_complete=complete_scenario)
@_item_option("--expense", "expenses", "NAME AMOUNT CURRENCY", "Add an expense. Repeatable.")
@_item_option("--income", "incomes", "NAME AMOUNT CURRENCY", "Add income. Repeatable.")
@_item_option("--transfer", "transfers", "NAME AMOUNT FROM TO", "Add a transfer between accounts. Repeatable.")
@click.option("--account", metavar="KEY", help="Account of --expense and --income. [default: the currency's first]")
@_item_option("--contribution", "contributions", "GOAL AMOUNT", "Add to a goal with this name or ID. Repeatable.")
@time_option("--at", help="Time of the items that options add. [default: the clock's time]")
@clock_option
def add(  # noqa: PLR0913 - one parameter for each option
    session: Session,
    file: str | None,
    *,
    expenses: Sequence[_Money],
    incomes: Sequence[_Money],
    transfers: Sequence[tuple[str, Decimal, str, str]],
    account: str | None,
    contributions: Sequence[tuple[str, Decimal]],
    at: datetime | None,
    id: str | None,
) -> None:
    """Add items to a clock. Items at the clock's time happen immediately.

    FILE is a scenario: a TOML file, or a name from `tickover scenarios`. Its items start at the clock's time.

    Examples:

    \b
    tickover clock add --expense Coffee 3.50 EUR
    tickover clock add --income Bonus 400 EUR --at 2027-03-01
    tickover clock add --transfer "To savings" 200 checking savings
    tickover clock add --contribution Trip 50
    tickover clock add more-bills.toml
    """
    from tickover.api import plans
    from tickover.cli.scenario_files import load_scenario, plan_scenario

    if not (file or expenses or incomes or transfers or contributions):
        raise click.UsageError("Use FILE, --expense, --income, --transfer or --contribution.")
    with selected_clock(session, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        time = at or clock.frozen_time
        added: dict[str, list[tuple[str, PlannedItem]]] = {
            "transactions": [
                *((f"--expense {each[0]}", plans.expense(*each, time, account=account)) for each in expenses),
                *((f"--income {each[0]}", plans.income(*each, time, account=account)) for each in incomes),
            ],
            "transfers": [(f"--transfer {each[0]}", plans.transfer(*each, time)) for each in transfers],
            "contributions": [
                (f"--contribution {goal}", plans.contribution(amount, time, goal)) for goal, amount in contributions
            ],
        }
        session.inputs = {"add": file or ""}
        for field, named in added.items():
            session.inputs |= {f"add.{field}[{index}]": name for index, (name, _) in enumerate(named)}
        items = [item for named in added.values() for _, item in named]
        if file:
            # Accounts and balances of a scenario are for new clocks only.
            plan = plan_scenario(load_scenario(file), clock.frozen_time, clock.frozen_time)
            items += [*plan.transactions, *plan.transfers, *plan.goals]
        if not items:
            raise CliError(Exit.WRONG_COMMAND, f"{file} has no items from {clock.frozen_time:%Y-%m-%d} on.")
        clock.add(*items)
        show_clock(session, client, clock, f"✓ Added {formatting.count(len(items), 'item')} to {clock.id}")


@click.command(cls=ClientCommand)
@click.argument("item", metavar="ITEM|NAME")
@click.option("--next", "only_next", is_flag=True, help="If several items match, cancel the next one.")
@click.option("--all", "every", is_flag=True, help="If several items match, cancel all of them.")
@clock_option
def cancel(session: Session, item: str, *, only_next: bool, every: bool, id: str | None) -> None:
    """Cancel items that haven't happened yet.

    Pass the ID of an item, or the name of a transaction or transfer. To cancel contributions, pass the name of their
    goal.

    Examples:

    \b
    tickover clock cancel Gym --all
    tickover clock cancel Rent --next
    """
    if only_next and every:
        raise click.UsageError("Use either --next or --all.")
    with selected_clock(session, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        ids = _pending_ids(clock, item)
        if len(ids) > 1 and not every and not only_next:
            message = f"{formatting.count(len(ids), 'pending item')} match '{item}'."
            raise CliError(Exit.WRONG_COMMAND, message, "Use --next for the next one, or --all.")
        cancelled = ids[:1] if only_next else ids
        clock.cancel(*cancelled)
        show_clock(session, client, clock, f"✓ Cancelled {formatting.count(len(cancelled), 'item')} of {clock.id}")


def _pending_ids(clock: "Clock", item: str) -> list[str]:
    """Return the IDs of the items with this ID or name that haven't happened yet, in order of time."""
    from tickover.client.timeline import clock_items

    pending = [each for each in clock_items(clock.snapshot) if not each.happened]
    found = [each.id for each in pending if item in (each.id, each.name)]
    if not found:
        names = sorted({each.name for each in pending})
        hint = f"Pending: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else "Nothing is pending."
        raise CliError(Exit.NOT_FOUND, f"No pending item of this clock has the ID or the name '{item}'.", hint)
    return found
