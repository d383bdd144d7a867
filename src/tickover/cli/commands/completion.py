"""The command `tickover completion`."""

import click
from click.shell_completion import get_completion_class

from tickover.cli.options import LocalCommand
from tickover.cli.root import COMPLETE_VARIABLE, root
from tickover.cli.session import Session


@click.command(cls=LocalCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(session: Session, shell: str) -> None:
    """Print a shell completion script.

    It completes commands, options and scenario names. To load it in every new shell, add the line to the file:

    \b
    bash   eval "$(tickover completion bash)"     ~/.bashrc
    zsh    eval "$(tickover completion zsh)"      ~/.zshrc, after compinit
    fish   tickover completion fish | source      ~/.config/fish/config.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None, "click supports all three shells"
    script = completion_class(root, {}, "tickover", COMPLETE_VARIABLE).source()
    session.output.write({"shell": shell, "script": script}, *script.split("\n"))
