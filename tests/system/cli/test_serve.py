"""Tests of the server commands: `--attached`, `--json`, and missing server packages."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.system.shells import Pipes, Result, Shell
from tickover.server.storage.migrations import newest_version


def start_server(shell: Shell, folder: Path, *flags: str) -> Pipes:
    return shell.start("serve", "--port", "0", *flags, folder=folder)


def test_attached_server_prints_its_url_and_stops_with_its_input(offline_shell: Shell, tmp_path: Path) -> None:
    with start_server(offline_shell, tmp_path, "--attached") as server:
        url = json.loads(server.stdout.readline())["url"]
        assert url.startswith("http://127.0.0.1:")
        assert offline_shell("login", "ana@example.test", "--url", url).code == 0
        # Input alone doesn't stop the server, only its end or a signal does.
        server.stdin.write("hello\n")
        server.stdin.flush()
        assert offline_shell("clock", "list", "--url", url).code == 0
        server.stdin.close()
        code, out, err = server.end()
        assert (code, out) == (0, "")
        # Text for people goes to standard error.
        assert "✉ ana@example.test" in err
        assert err.endswith("Tickover has stopped.\n")
        assert offline_shell("clock", "list", "--url", url).code == 7


def test_database_commands_print_json(offline_shell: Shell, tmp_path: Path) -> None:
    def run_json(*arguments: str) -> Any:
        result = offline_shell(*arguments, "--json")
        return result.json, result.err

    url = f"sqlite:///{tmp_path}/one.db"
    version = newest_version("sqlite")
    assert run_json("migrate", "--database-url", url) == ({"database": url, "schemaVersion": version}, "")


def test_database_commands_name_the_database(offline_shell: Shell, tmp_path: Path) -> None:
    def run_text(*arguments: str) -> Result:
        return offline_shell(*arguments, "--database-url", url)

    url = f"sqlite:///{tmp_path}/new/tickover.db"
    assert run_text("users", "list") == (
        2, "", f"tickover: The database {url} doesn't exist.\n  Pass --database-url URL.\n"
    )  # fmt: skip
    assert not (tmp_path / "new").exists()
    version = newest_version("sqlite")
    assert run_text("migrate")[1] == f"Created the database {url}: schema version {version}.\n"
    assert run_text("migrate")[1] == f"The database {url} is up to date: schema version {version}.\n"


def test_password_on_a_command_line_prints_a_warning(offline_shell: Shell) -> None:
    url = "postgresql://ana:pw@127.0.0.1:9/t"
    warning = "Warning: other users of this machine can read the password in "
    flag = offline_shell("migrate", "--database-url", url)
    assert flag.err.splitlines()[0] == (
        f"{warning}--database-url. Set TICKOVER_DATABASE_URL or TICKOVER_DATABASE_URL_FILE instead."
    )
    variable = offline_shell("migrate", TICKOVER_DATABASE_URL=url)
    assert "Warning" not in variable.err


SERVER_PACKAGES = ["uvloop", "apsw", "asyncpg", "httptools", "jinja2", "aiosmtplib", "email_validator"]
WITHOUT_SERVER_PACKAGES = f"""
import sys
sys.modules.update(dict.fromkeys({SERVER_PACKAGES!r}))
from tickover.cli.root import run
codes = [int(run(command.split())) for command in sys.argv[1:]]
print(codes, file=sys.stderr)
"""
COMMANDS_OF_THE_SERVER = ["serve", "migrate", "serve --check"]
OTHER_COMMANDS = ["--help", "scenarios", "clock list --help", "serve --help"]


def test_only_commands_of_the_server_need_its_packages(offline_shell: Shell, tmp_path: Path) -> None:
    """They say how to install the packages, and create no file."""
    command = [sys.executable, "-c", WITHOUT_SERVER_PACKAGES, *COMMANDS_OF_THE_SERVER, *OTHER_COMMANDS]
    result = subprocess.run(
        command,
        cwd=tmp_path, env=offline_shell.environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    missing = ["tickover: The server isn't installed.", "  Install it from a checkout: pip install 'PATH[server]'"]
    assert result.stderr.splitlines() == missing * len(COMMANDS_OF_THE_SERVER) + ["[2, 2, 2, 0, 0, 0, 0]"]
    assert result.stdout.startswith("Usage: ")
    assert list(tmp_path.glob("*.db")) == []
