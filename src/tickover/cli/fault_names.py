"""Names what a command's user typed where the server names parameters of the API."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import click
from msgspec.structs import replace

from tickover.api.errors import Fault

_KEY: Final = "tickover.inputs"
_PARAMETERS: Final = {"frozenTime": "start", "openingBalances": "opening_balances"}
"""Parameters of the API that have another name in the commands."""
_BOUNDARY: Final = re.compile(r"[.\[]|$")
_WORD: Final = re.compile("(?<=[a-z])[A-Z]")


def name_inputs(names: Mapping[str, str]) -> None:
    """Set what the user typed for paths of the API. Options of the command that have a path's name need no entry."""
    click.get_current_context().meta[_KEY] = names


def name_faults(faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults with the user's own words, if the user didn't type the names of the API."""
    context = click.get_current_context(silent=True)
    return [_name_fault(fault, context) for fault in faults] if context else list(faults)


def _name_fault(fault: Fault, context: click.Context) -> Fault:
    # The longest prefix counts.
    for end in reversed([match.start() for match in _BOUNDARY.finditer(fault.path)]):
        if name := _name(fault.path[:end], context):
            field = _spaced(fault.path[end:].rpartition(".")[2])
            return replace(fault, path=f"{name}: {field}" if field else name)
    return fault


def _name(path: str, context: click.Context) -> str:
    if found := context.meta.get(_KEY, {}).get(path):
        return str(found)
    parameter = _PARAMETERS.get(path, path)
    for each in context.command.params:
        if each.name == parameter and context.params.get(parameter):
            return each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
    return ""


def _spaced(name: str) -> str:
    """Return `target amount` for `targetAmount`."""
    return _WORD.sub(lambda match: f" {match[0].lower()}", name)
