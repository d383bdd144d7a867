"""Tests of `tickover login` and `tickover logout`."""

import json

from tests.support.program import Program
from tests.system.cli.conftest import SmtpServer
from tests.system.shells import Shell


def stored_credentials(shell: Shell) -> object:
    return json.loads(shell.credentials_file.read_bytes()) if shell.credentials_file.exists() else None


# With the development mailbox


def test_last_used_clock_survives_sign_in_of_the_same_user_only(shell: Shell, email: str, program: Program) -> None:
    shell("clock", "create")
    clock = shell.clock
    assert clock
    shell("login", f"other-{email}")
    assert shell.clock == ""
    shell("clock", "create")
    assert shell.clock not in ("", clock)


# With real mail


def test_login_at_a_terminal_prompts_for_the_code(smtp_server: SmtpServer, smtp_shell: Shell, email: str) -> None:
    with smtp_shell.open_terminal("login", email) as terminal:
        terminal.wait_for(f"Code from the email to {email}: ")
        code = smtp_server.code(email)
        terminal.type("12345\n")
        terminal.wait_for("A code has six digits.")
        # Spaces are allowed, as in a pasted code.
        terminal.type(f" {code[:3]} {code[3:]} \n")
        assert terminal.end() == 0
        assert f"Signed in as {email}" in terminal.text
    assert smtp_shell("clock", "list").code == 0


def test_link_from_an_email_signs_in_once(smtp_server: SmtpServer, smtp_shell: Shell, email: str) -> None:
    result = smtp_shell("login", email, "--link")
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines() == [
        f"tickover: The server has sent a login link to {email}.",
        f"  Open it, or sign in here: tickover login {email} --link 'LINK'",
    ]
    link = smtp_server.link(email)
    assert smtp_shell("login", email, "--link", link).code == 0
    assert smtp_shell("clock", "list").code == 0
    assert smtp_shell("login", email, "--link", link).code == 3


# Signing out


def test_logout_revokes_and_deletes_the_token(shell: Shell, email: str, program: Program) -> None:
    token = shell.token
    result = shell("logout")
    assert (result.code, result.out, result.err) == (0, f"✓ Signed out of {shell.url}.\n", "")
    assert program.call("listTestClocks", {}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"
    assert token not in shell.credentials_file.read_text()
    assert shell("clock", "list").code == 3
    assert shell("logout", "--json").json == {"signedOut": False}
    # A development server allows the next email at once.
    assert shell("login", email).code == 0


def test_logout_keeps_the_token_if_the_server_is_unavailable(shell: Shell, program: Program) -> None:
    token = shell.token
    stored = json.loads(shell.credentials_file.read_text())
    stored["servers"]["http://127.0.0.1:9"] = stored["servers"][shell.url]
    shell.credentials_file.write_text(json.dumps(stored))
    assert shell("logout", "--url", "http://127.0.0.1:9").code == 7
    assert json.loads(shell.credentials_file.read_text())["servers"]["http://127.0.0.1:9"]["token"] == token


# TICKOVER_TOKEN, and no token


def test_environment_token_overrides_the_stored_token(signed_out_shell: Shell, shell: Shell, program: Program) -> None:
    other = program.sign_in("other-token@example.test")
    mine = shell("clock", "create", "--json").json["id"]
    ids = [one["id"] for one in shell("clock", "list", "--json", TICKOVER_TOKEN=other).json["clocks"]]
    assert mine not in ids
    assert shell("logout", TICKOVER_TOKEN=other).code == 0
    refused = shell("clock", "list", TICKOVER_TOKEN=other)
    assert (refused.code, refused.err.splitlines()[1]) == (
        3,
        "  The token comes from TICKOVER_TOKEN. Unset the variable or change it.",
    )
    assert shell("clock", "list").code == 0
