"""`tickover mcp` as a process: the official inspector starts it, as an agent does."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.support.npm_packages import install_project
from tests.support.program import Program, run_tickover
from tests.support.repository import ROOT
from tests.system.shells import Shell

TOOLS = ROOT / "tests" / "node"
# mcp-inspector-cli starts it in a second process.
INSPECTOR = TOOLS / "node_modules" / "@modelcontextprotocol" / "inspector-cli" / "build" / "index.js"


def inspect(folder: Path, *arguments: str) -> Any:
    """Run the inspector's command line with this configuration folder, and return the response."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
    ran = subprocess.run(
        ["node", INSPECTOR, sys.executable, "-m", "tickover", "mcp", *arguments],
        cwd=folder, env=variables | {"XDG_CONFIG_HOME": str(folder)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def test_inspector_calls_a_tool_with_the_token_of_the_last_sign_in(program: Program, tmp_path: Path) -> None:
    """The inspector lists the tools first, because it needs the types of the arguments."""
    install_project(TOOLS)
    shell = Shell(tmp_path, program.url)
    assert shell("login", "inspector@example.test").code == 0
    clock = program.result("createTestClock", {"frozenTime": "2027-01-01T00:00:00Z"}, shell.token)["clock"]
    item = {"at": "2027-01-02T00:00:00Z", "name": "Coffee", "amount": 3, "currency": "EUR", "type": "EXPENSE"}
    amend = ("--method", "tools/call", "--tool-name", "amend_clock", "--tool-arg", f"id={clock['id']}")
    amended = inspect(tmp_path, *amend, f"transactions={json.dumps([item])}")["structuredContent"]
    assert (amended["frozenTime"], amended["pendingTransactions"]) == ("2027-01-01T00:00:00Z", 1)


def test_configurations_on_the_page_start_the_command() -> None:
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    blocks = dict.fromkeys(re.findall(r"^```(json|toml)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    configurations = [(tomllib if kind == "toml" else json).loads(text) for kind, text in blocks]
    assert [list(one) for one in configurations] == [["mcpServers"], ["servers"], ["mcp_servers"]]
    for configuration in configurations:
        [servers] = configuration.values()
        assert [servers["tickover"]["command"], *servers["tickover"]["args"]] == ["tickover", "mcp"]


def test_missing_extra_is_explained(program: Program, tmp_path: Path) -> None:
    # The package `mcp` of this folder has no module `server`.
    (tmp_path / "mcp.py").write_text("")
    ran = run_tickover(tmp_path, "mcp", PYTHONPATH=str(tmp_path))
    assert ran.returncode == 2
    assert "pip install 'PATH[mcp]'" in ran.stderr
