"""`make soak`: run the rows one after the other, on SQLite and then on PostgreSQL.

A full run writes report.md in this folder. A run of some rows updates only these rows. A quick run writes to .soak.
"""

import os
import platform
import signal
import stat
import sys
from pathlib import Path
from typing import NoReturn

import click

from lab.processes import processor
from lab.run_folder import open_run_folder
from lab.soak import (
    bad_input,
    bank_histories,
    failover,
    guessing,
    hostility,
    kills,
    load_held,
    power_loss,
    races,
    rolling_restart,
)
from lab.soak.faults import faults_row as faults
from lab.soak.linearizability import linearizability_row as linearizability
from lab.soak.rows import STORES, Row, StoreName
from lab.soak.run import Soak, write_report
from tests.support.repository import ROOT

SOAK = ROOT / ".soak"
ROWS: tuple[Row, ...] = (
    load_held.ROW,
    kills.ROW,
    power_loss.ROW,
    linearizability.ROW,
    races.ROW,
    faults.ROW,
    bad_input.ROW,
    guessing.ROW,
    hostility.ROW,
    failover.ROW,
    rolling_restart.ROW,
    bank_histories.ROW,
)
"""In the order in which they run."""


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _save(soak: Soak, is_quick: bool) -> None:
    file = (SOAK if is_quick else ROOT / "lab" / "soak") / "report.md"
    earlier = file.read_text("utf-8") if file.exists() else ""
    scale = "Quick run: counts are smaller than the targets." if is_quick else "Full counts."
    machine = f"{os.cpu_count()} cores, {processor()}, {platform.system()} {platform.machine()}"
    facts = f"{scale} {machine}, Python {platform.python_version()}."
    file.write_text(write_report(ROWS, soak.verdicts, facts, earlier), "utf-8")
    click.echo(f"\n{file.relative_to(ROOT)} was written.")


def _folder_closed_to_others() -> Path | None:
    """Return the first folder on the way to the project that only its owner may enter."""
    folders = (SOAK, *SOAK.parents)
    return next((folder for folder in folders if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH), None)


@click.command()
@click.option("--quick", is_flag=True, help="Smaller counts: about 11 minutes for all rows. The report goes to .soak.")
@click.option("--only", type=click.Choice([row.name for row in ROWS]), multiple=True, help="Run only this row.")
@click.option("--store", type=click.Choice(STORES), multiple=True, help="Run only on this store.")
def main(quick: bool, only: tuple[str, ...], store: tuple[StoreName, ...]) -> None:
    """Run Tickover's robustness targets, and report which are met."""
    if os.geteuid() == 0 and "postgres" in (store or STORES) and (closed := _folder_closed_to_others()):
        raise click.ClickException(
            f"PostgreSQL runs as its own user, who can't enter {closed}. Use a clone in another folder, or run "
            "`chmod o+x` on this one, or use --store sqlite (with make, STORE=sqlite)."
        )
    os.chdir(ROOT)
    # asyncio handles Ctrl-C only with Python's own handler.
    signal.signal(signal.SIGTERM, _interrupt)
    rows = [row for row in ROWS if row.name in only or not only]
    code = 0
    with open_run_folder(SOAK, keep_files=True) as folder:
        soak = Soak(rows, store or STORES, quick, folder)
        try:
            soak.run()
        except KeyboardInterrupt:
            code = 130
        soak.progress.end()
    if soak.verdicts:
        _save(soak, quick)
    sys.exit(code or int({*soak.verdicts.values()} != {"met"}))


if __name__ == "__main__":
    main()
