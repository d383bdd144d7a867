"""The command `tickover bank env`."""

import shlex
from typing import Any

import click

from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import LocalCommand
from tickover.cli.server_database import read_server_settings, translate_errors


@click.command(cls=LocalCommand)
@click.option("--bank-https", metavar="VALUE", help="As for `tickover serve`. [TICKOVER_BANK_HTTPS]")
@click.option("--data-dir", metavar="VALUE", help="As for `tickover serve`. [TICKOVER_DATA_DIR]")
def env(run: CliRun, /, **flags: Any) -> None:
    """Print what lets an unmodified app reach the bank under the names of real banks.

    Run it on the server's machine with the server's settings. The output sets variables in a shell, by which programs
    trust the bank's certificate. Its comments are lines for /etc/hosts, which lead the names to the server.

    Examples:

    \b
    eval "$(tickover bank env)"
    tickover bank env --json | jq -r '.hosts[]' | sudo tee -a /etc/hosts
    """
    with translate_errors():
        settings = read_server_settings(run, flags)
        if settings.bank_https is None:
            raise CliError(
                Exit.WRONG_COMMAND,
                "The bank's own names are off.",
                "Set TICKOVER_BANK_HTTPS for the server and this command, for example to 127.0.0.1:443.",
            )
        from tickover.server.bank.bank_names import PREFIXES
        from tickover.server.bank_certificate import open_certificates
        from tickover.server.listeners import client_host
        from tickover.server.logs import open_log

        files = open_certificates(settings, open_log(settings.log_level, settings.log_format))
    host, port = settings.bank_https
    hosts = [f"{client_host(host)} {name}" for name in PREFIXES if name != "localhost"]
    variables = {
        "NODE_EXTRA_CA_CERTS": str(files.authority),
        "SSL_CERT_FILE": str(files.bundle),
        "REQUESTS_CA_BUNDLE": str(files.bundle),
    }
    run.output.write(
        {"hosts": hosts, "env": variables, "port": port},
        "# For /etc/hosts:",
        *[f"# {line}" for line in hosts],
        *[f"export {name}={shlex.quote(value)}" for name, value in variables.items()],
    )
    if port != 443:
        run.output.note(f"The bank listens on port {port}. Apps whose address is fixed need port 443.")
