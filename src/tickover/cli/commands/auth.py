"""The commands that sign in and out."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec.structs import replace

from tickover.cli.errors import Exit, Trouble, of_rejection
from tickover.cli.options import shared_options
from tickover.cli.session import Session, pass_session
from tickover.core.errors import Reason, Rejection

if TYPE_CHECKING:
    from tickover.cli.credentials import Kept
    from tickover.client import SignedIn, Tickover

_TRIES: Final = 3
_CODE: Final = re.compile("[0-9]{6}")
_NEW: Final = "a new one"
"""What `--link` is when it names no link."""


@click.command()
@click.argument("email")
@click.option("--code", metavar="CODE", help="The code of a letter that came already.")
@click.option(
    "--link",
    metavar="[LINK]",
    is_flag=False,
    flag_value=_NEW,
    help="Sign in by a login link: have one sent, or give the one that came, in quotes.",
)
@shared_options
@pass_session
def login(session: Session, email: str, code: str | None, link: str | None) -> None:
    """Sign in with a code that is sent to EMAIL.

    A server that keeps its mail to itself, as it does in development, is asked for the code; otherwise you are. The
    token that the code buys is kept in a file that only you can read, and is good for 30 days.

    \b
    tickover login ana@example.test
    tickover login ana@example.test --code 481920
    """
    if code and link:
        raise click.UsageError("Give --code or --link, and not both.")
    with session.server() as server:
        try:
            if link:
                signed_in = server.log_in_by_link(_sent_link(server, email) if link == _NEW else link)
            else:
                signed_in = server.log_in(email, code) if code else _by_letter(session, server, email)
        except Rejection as rejection:
            raise of_rejection(rejection, email) from None
    _keep(session, email, signed_in)
    session.output.say(
        {"email": email, "userId": signed_in.user_id, "url": session.url},
        f"✓ Signed in as {email}.",
        f"  The token is kept in {_from_home(session.credentials.path)}.",
        "  Next: tickover clock create salary-and-rent",
    )


def _from_home(path: Path) -> str:
    """The path as a person would write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _by_letter(session: Session, server: "Tickover", email: str) -> "SignedIn":
    server.send_code(email)
    letter = server.latest_email(email)
    if letter is not None and letter.code is not None:
        session.output.remark(f"✓ Code {letter.code} found in the server's development mailbox.")
        return server.log_in(email, letter.code)
    if not sys.stdin.isatty():
        raise Trouble(
            Exit.NOT_SIGNED_IN,
            f"A code is on its way to {email}.",
            f"Sign in with it: tickover login {email} --code CODE",
            reason="CODE_NEEDED",
        )
    return _by_asking(session, server, email)


def _sent_link(server: "Tickover", email: str) -> str:
    """Have a link sent. A server that keeps its mail to itself gives it here as well."""
    link = server.send_link(email)
    if link is None:
        raise Trouble(
            Exit.NOT_SIGNED_IN,
            f"A login link is on its way to {email}.",
            f"Open it, or sign in here with: tickover login {email} --link 'LINK'",
            reason="LINK_NEEDED",
        )
    return link


def _by_asking(session: Session, server: "Tickover", email: str) -> "SignedIn":
    for _ in range(_TRIES):
        typed = click.prompt(f"Code from the letter to {email}", err=True)
        code = re.sub(r"[\s-]", "", typed)
        if not _CODE.fullmatch(code):
            session.output.remark("A code has six digits.")
            continue
        try:
            return server.log_in(email, code)
        except Rejection as rejection:
            if rejection.reason != Reason.LOGIN_REFUSED:
                raise
            session.output.remark("That is not the code, or it is used or too old.")
    raise Trouble(
        Exit.NOT_SIGNED_IN,
        f"Not signed in after {_TRIES} tries.",
        f"Try the letter's code again with: tickover login {email} --code CODE",
        reason=Reason.LOGIN_REFUSED,
    )


def _keep(session: Session, email: str, signed_in: "SignedIn") -> None:
    def change(kept: "Kept") -> "Kept":
        # Another user has other clocks.
        clock = kept.clock if kept.user_id == signed_in.user_id else ""
        return replace(kept, email=email, user_id=signed_in.user_id, token=signed_in.token, clock=clock)

    session.credentials.change(session.url, change)
    if session.token_of_environment:
        session.output.remark("TICKOVER_TOKEN is set, and goes before the token that is now kept.")


@click.command()
@shared_options
@pass_session
def logout(session: Session) -> None:
    """Sign out: have the server forget the token, and forget it here.

    With TICKOVER_TOKEN that token is revoked, and what is kept here stays.
    """
    token = session.token_of_environment or session.kept.token
    if not token:
        session.output.say({"signedOut": False}, f"You are not signed in at {session.url}.")
        return
    with session.server(token) as server:
        try:
            server.log_out()
        except Rejection as rejection:
            # A token that is no good any more has nothing to be revoked.
            if rejection.reason != Reason.UNAUTHENTICATED:
                raise
    if not session.token_of_environment:
        session.credentials.change(session.url, lambda kept: replace(kept, email="", token=""))
    session.output.say({"signedOut": True}, f"✓ Signed out of {session.url}.")
