"""The command that prints what completes `tickover` in a shell."""

import click
from click.shell_completion import get_completion_class

from tickover.cli.options import output_options
from tickover.cli.root import COMPLETE_VARIABLE, root
from tickover.cli.session import Session, pass_session


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@output_options
@pass_session
def completion(session: Session, shell: str) -> None:
    """Print the script that completes commands, options and names of scenarios in SHELL.

    To have it in every new shell, add this line to the file named beside it:

    \b
    bash   eval "$(tickover completion bash)"     ~/.bashrc
    zsh    eval "$(tickover completion zsh)"      ~/.zshrc, below compinit
    fish   tickover completion fish | source      ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "the three shells are click's own"
    script = kind(root, {}, "tickover", COMPLETE_VARIABLE).source()
    session.output.say({"shell": shell, "script": script}, *script.split("\n"))
