"""The command `tickover doctor`."""

import asyncio
import os
from typing import Any

import click

from tickover.cli.commands.serve import setting_flags
from tickover.cli.database import read_server_settings, translate_errors
from tickover.cli.errors import Exit
from tickover.cli.options import LocalCommand
from tickover.cli.session import Session
from tickover.server.settings import SettingError

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


@click.command(cls=LocalCommand)
@setting_flags
def doctor(session: Session, /, **flags: Any) -> None:
    """Check everything that the server needs, and say how to fix problems.

    Run it with the same settings and as the same user as the server, while the server runs or before it starts. It
    checks the settings, database, schema, disk, mail server, clock, public URL, proxies and permissions. It sends no
    email and changes no data.

    The exit code is 0 if there are only warnings, and 9 if there is an error.
    """
    with translate_errors():
        from tickover.server import doctor as checks
        from tickover.server.web.handler import wall_clock

        found = []

        def report(name: str, check: checks.Check) -> None:
            found.append({"name": name, **check._asdict()})
            if not session.output.wants_json:
                advice = [f"  {'':13} {check.advice}"] if check.advice else []
                session.output.write(None, f"{_MARKS[check.status]} {name:13} {check.message}", *advice)

        async def report_all() -> None:
            async for name, check in checks.run_checks(settings, os.environ, wall_clock):
                report(name, check)

        try:
            settings = read_server_settings(session, flags)
        except SettingError as failure:
            report("settings", checks.wrong_setting(failure))
        else:
            asyncio.run(report_all())
        has_error = any(check["status"] == "error" for check in found)
    if session.output.wants_json:
        session.output.write_json({"ok": not has_error, "checks": found})
    click.get_current_context().exit(Exit.VIOLATED if has_error else Exit.DONE)
