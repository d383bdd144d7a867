"""`tickover mcp` as a process that an agent starts."""

import json
import re
import sys
import tomllib
from pathlib import Path

from tests.support.program import Program, run_tickover
from tests.support.repository import ROOT
from tests.system.shells import Shell


async def test_tool_uses_the_token_of_the_last_sign_in(program: Program, tmp_path: Path) -> None:
    # Importing the SDK takes a second.
    from mcp import Client, StdioServerParameters

    shell = Shell(tmp_path, program.url)
    assert shell("login", "agent-at-stdio@example.test").code == 0
    clock = program.result("createTestClock", {"frozenTime": "2027-01-01T00:00:00Z"}, shell.token)["clock"]
    environment = shell.environment()
    del environment["TICKOVER_URL"]
    command = StdioServerParameters(command=sys.executable, args=["-m", "tickover", "mcp"], env=environment)
    async with Client(command) as client:
        result = await client.call_tool("advance_clock", {"id": clock["id"], "by": "1d"})
    assert result.structured_content
    assert result.structured_content["frozenTime"] == "2027-01-02T00:00:00Z"


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
