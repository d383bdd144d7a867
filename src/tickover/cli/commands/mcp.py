"""The command `tickover mcp`."""

import click

from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand


@click.command(cls=ClientCommand)
def mcp(run: CliRun) -> None:
    """They use MCP on standard input and output.

    Add this command to the configuration of your agent. The agent starts it. The token comes from TICKOVER_TOKEN, or
    from `tickover login`, and the model never sees it.

    Examples:

    \b
    tickover mcp
    tickover mcp --url http://127.0.0.1:8000
    """
    try:
        from tickover.cli.mcp.mcp_server import build_server
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "tickover":
            raise
        raise CliError(
            Exit.WRONG_COMMAND, "The MCP server isn't installed.", "Install it from a checkout: pip install 'PATH[mcp]'"
        ) from None

    build_server(run).run("stdio")
