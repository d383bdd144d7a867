"""Registers tools and resources, and serves them on standard input and output."""

from functools import partial
from importlib.resources import files
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tickover import __version__
from tickover.api.suggestions import suggest
from tickover.cli.cli_run import CliRun
from tickover.cli.mcp.mcp_tools import Tools, argument_error
from tickover.scenarios import load, names
from tickover.scenarios.toml_files import included_text

_GUIDE: Final = files("tickover.cli.mcp") / "guide.md"
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CREATES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_CHANGES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
"""A change can't be undone on the same clock."""
_DELETES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class _Server(MCPServer):
    """An MCP server that explains invalid arguments in its own words, and whose errors are JSON alone."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        known = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}.get(name, arguments)
        if unknown := [argument for argument in arguments if argument not in known]:
            raise argument_error(name, known, [(each, f"is unknown{suggest(each, known)}") for each in unknown])
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            # The library puts a sentence before the text of an error.
            if isinstance(error.__cause__, ToolError):
                raise error.__cause__ from None
            if isinstance(error.__cause__, ValidationError):
                raise argument_error(name, known, map(_describe, error.__cause__.errors())) from None
            raise


def _describe(error: ErrorDetails) -> tuple[str, str]:
    """Return the path and the message of an invalid argument."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    message = "is missing" if error["type"] == "missing" else error["msg"].replace("Input should", "must")
    return path.removeprefix("."), message


def build_server(run: CliRun) -> MCPServer:
    server: MCPServer = _Server(
        "tickover", version=__version__, instructions=_GUIDE.read_text("utf-8"), log_level="WARNING"
    )
    tools = Tools(run)
    for tool, title, annotations in (
        (tools.list_scenarios, "List scenarios", _READS),
        (tools.create_clock, "Create a clock", _CREATES),
        (tools.list_clocks, "List clocks", _READS),
        (tools.show_clock, "Show or preview a clock", _READS),
        (tools.advance_clock, "Move a clock forward", _CHANGES),
        (tools.list_events, "List events", _READS),
        (tools.get_balances, "Get balances", _READS),
        (tools.check_clock, "Check expectations", _READS),
        (tools.reconcile_clock, "Compare the books of an app", _READS),
        (tools.amend_clock, "Add and cancel items", _CHANGES),
        (tools.fork_clock, "Copy a clock at any time", _CREATES),
        (tools.connect_clock, "Connect an app to a clock", _CREATES),
        (tools.delete_clock, "Delete a clock", _DELETES),
    ):
        server.add_tool(tool, title=title, annotations=annotations)
    for name in names():
        scenario = load(name)
        register = server.resource(
            f"tickover://scenarios/{name}",
            name=name,
            title=scenario.title,
            description=scenario.about,
            mime_type="application/toml",
        )
        register(partial(included_text, name))
    return server
