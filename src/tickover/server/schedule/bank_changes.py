"""What changed in what a bank shows, between two states."""

from collections.abc import Sequence
from typing import NamedTuple

from tickover.server.schedule.bank_rows import State
from tickover.server.schedule.bank_view import BankView, Changes


class Shown(NamedTuple):
    """What a bank shows in a state."""

    view: BankView
    state: State


def find_changes(before: Shown, now: Shown) -> Changes:
    """Return the rows that are shown now and weren't before, and the other way round."""
    if before.view is not now.view:
        return _compare(before, range(len(before.view.rows)), now, range(len(now.view.rows)))
    # The pages of a sync have the same changes.
    recent, states = now.view.recent_changes, (before.state, now.state)
    changes = recent.get(states)
    if changes is None:
        positions = now.view.differ_between(*states)
        changes = _compare(before, positions, now, positions)
        recent.put(states, changes)
    return changes


def _compare(before: Shown, earlier: Sequence[int], now: Shown, later: Sequence[int]) -> Changes:
    """Compare the rows at these positions, which are all that may differ."""
    rows = now.view.rows
    shown_before = before.state.shows
    left = {row.id: row for row in map(before.view.rows.__getitem__, earlier) if shown_before(row)}
    shown_now = now.state.shows
    added: list[int] = []
    modified: list[int] = []
    for position in later:
        row = rows[position]
        if shown_now(row):
            old = left.pop(row.id, None)
            if old is None:
                added.append(position)
            elif old.content != row.content:
                modified.append(position)
    return Changes(added, modified, list(left.values()))
