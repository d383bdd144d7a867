"""The commands `tickover clock add` and `cancel`."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import click

from tickover.cli import formatting
from tickover.cli.commands.clocks import show_clock
from tickover.cli.errors import CliError, Exit
from tickover.cli.fault_names import name_inputs
from tickover.cli.options import complete_scenario, parse_amount, parse_time, shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from tickover.api.plans import PlannedItem
    from tickover.client import Clock, Contribution, Transaction, Transfer

_clock_option: Final = click.option("--clock", "id", metavar="ID", help="Clock to change. [default: the one used last]")
_Money = tuple[str, Decimal, str]


@click.command()
@click.argument("file", required=False, shell_complete=complete_scenario)
@click.option(
    "--expense", "expenses", type=(str, parse_amount, str), multiple=True, metavar="NAME AMOUNT CURRENCY",
    help="Add an expense. Repeatable.",
)  # fmt: skip
@click.option(
    "--income", "incomes", type=(str, parse_amount, str), multiple=True, metavar="NAME AMOUNT CURRENCY",
    help="Add income. Repeatable.",
)  # fmt: skip
@click.option(
    "--transfer", "transfers", type=(str, parse_amount, str, str), multiple=True, metavar="NAME AMOUNT FROM TO",
    help="Add a transfer between accounts. Repeatable.",
)  # fmt: skip
@click.option(
    "--account", metavar="KEY", help="Account of --expense and --income. [default: the first of the currency]"
)
@click.option(
    "--contribution", "contributions", type=(str, parse_amount), multiple=True, metavar="GOAL AMOUNT",
    help="Add a contribution. GOAL is a name or ID. Repeatable.",
)  # fmt: skip
@click.option(
    "--at", type=parse_time, metavar="TIME", help="Time of the items that options add. [default: the clock's time]"
)
@_clock_option
@shared_options
@pass_session
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

    if not (file or expenses or incomes or transfers or contributions):
        raise click.UsageError(
            "Use FILE, --expense, --income, --transfer or --contribution.", click.get_current_context()
        )
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
        time = at or clock.frozen_time
        items: list[PlannedItem] = [plans.expense(*money, time, account=account) for money in expenses]
        items += [plans.income(*money, time, account=account) for money in incomes]
        items += [plans.transfer(*transfer, time) for transfer in transfers]
        items += [plans.contribution(amount, time, goal) for goal, amount in contributions]
        items += _items_from_file(file, clock.frozen_time) if file else []
        if not items:
            raise CliError(Exit.WRONG_COMMAND, f"{file} has no items from {clock.frozen_time:%Y-%m-%d} on.")
        name_inputs({"add": file or "", **_option_names(expenses, incomes, transfers, contributions)})
        try:
            clock.add(*items)
        except ValueError as error:
            # The clock has no such goal.
            raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None
        remember_clock(session, clock.id)
        show_clock(session, client, clock, f"✓ Added {formatting.count(len(items), 'item')} to {clock.id}")


def _option_names(
    expenses: Sequence[_Money],
    incomes: Sequence[_Money],
    transfers: Sequence[tuple[str, Decimal, str, str]],
    contributions: Sequence[tuple[str, Decimal]],
) -> dict[str, str]:
    transactions = [*(f"--expense {name}" for name, *_ in expenses), *(f"--income {name}" for name, *_ in incomes)]
    names = {f"add.transactions[{index}]": name for index, name in enumerate(transactions)}
    names |= {f"add.transfers[{index}]": f"--transfer {name}" for index, (name, *_) in enumerate(transfers)}
    for index, (goal, _) in enumerate(contributions):
        names[f"add.contributions[{index}]"] = f"--contribution {goal}"
    return names


def _items_from_file(file: str, start: datetime) -> "list[PlannedItem]":
    """Return the items of a scenario that starts at this time. Accounts and balances are for new clocks only."""
    from tickover.cli.scenario_files import load_scenario, plan_scenario

    plan = plan_scenario(load_scenario(file), start, start)
    return [*plan.transactions, *plan.transfers, *plan.goals]


@click.command()
@click.argument("item", metavar="ITEM|NAME")
@click.option("--next", "only_next", is_flag=True, help="If several items match, cancel the next one.")
@click.option("--all", "every", is_flag=True, help="If several items match, cancel all of them.")
@_clock_option
@shared_options
@pass_session
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
        raise click.UsageError("Use either --next or --all.", click.get_current_context())
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
        items = _pending_items(clock, item)
        if len(items) > 1 and not every and not only_next:
            raise CliError(
                Exit.WRONG_COMMAND,
                f"{formatting.count(len(items), 'pending item')} match '{item}'.",
                "Use --next for the next one, or --all.",
            )
        cancelled = items[:1] if only_next else items
        clock.cancel(*cancelled)
        remember_clock(session, clock.id)
        show_clock(session, client, clock, f"✓ Cancelled {formatting.count(len(cancelled), 'item')} of {clock.id}")


def _pending_items(clock: "Clock", item: str) -> "list[Transaction | Transfer | Contribution]":
    """Return the items with this ID or name that haven't happened yet, in order of time."""
    items: list[tuple[Transaction | Transfer | Contribution, str]] = [
        (each, each.name) for each in clock.pending_transactions
    ]
    items += [(each, each.name) for each in clock.pending_transfers]
    items += [(each, goal.name) for goal in clock.goals for each in goal.upcoming_contributions]
    found = sorted((each for each, name in items if item in (each.id, name)), key=lambda each: each.at)
    if not found:
        names = sorted({name for _, name in items})
        hint = f"Pending: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else "Nothing is pending."
        raise CliError(Exit.NOT_FOUND, f"No pending item of this clock has the ID or the name '{item}'.", hint)
    return found
