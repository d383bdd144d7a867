"""Tests of `tickover login` and `tickover logout`."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.program import Program, link_params
from tests.system.shells import Shell
from tickover.client import Tickover


def test_last_used_clock_survives_sign_in_of_the_same_user_only(shell: Shell, email: str, program: Program) -> None:
    shell("clock", "create")
    clock = shell.clock
    assert clock
    shell("login", f"other-{email}")
    assert shell.clock == ""
    shell("clock", "create")
    assert shell.clock not in ("", clock)


def test_login_at_a_terminal_prompts_for_the_code(tmp_path: Path) -> None:
    """The server has no development mailbox, and a fixed code for a domain."""
    settings = {"TICKOVER_MAIL_URL": "smtp://127.0.0.1:9", "TICKOVER_TEST_CODES": "codes.test=271828"}
    with Program(tmp_path, **settings) as program:
        shell = Shell(tmp_path / "config", program.url)
        with shell.open_terminal("login", "ana@codes.test") as terminal:
            terminal.wait_for("Code from the email to ana@codes.test: ")
            terminal.type("12345\n")
            terminal.wait_for("A code has six digits.")
            # Spaces and hyphens are allowed, as in a pasted code.
            terminal.type(" 271 -828 \n")
            assert terminal.end() == 0
            assert "Signed in as ana@codes.test" in terminal.text
        assert shell("clock", "list").code == 0
        with shell.open_terminal("login", "ana@codes.test") as terminal:
            terminal.type("314159\n" * 3)
            assert terminal.end() == 3
            assert "Sign-in failed after 3 attempts." in terminal.text


def test_link_from_an_email_signs_in_once(
    signed_out_shell: Shell, email: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a server that sends real mail.
    monkeypatch.setattr(Tickover, "send_link", lambda *_: None)
    result = signed_out_shell("login", email, "--link")
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines() == [
        f"tickover: The server has sent a login link to {email}.",
        f"  Sign in with it: tickover login {email} --link 'LINK'",
    ]
    link = program.result("sendLoginCodeEmail", link_params(email))["loginUrl"]
    assert signed_out_shell("login", email, "--link", link).code == 0
    assert signed_out_shell("clock", "list").code == 0
    assert signed_out_shell("login", email, "--link", link).code == 3


def test_only_a_sign_in_changes_the_default_server(tmp_path: Path, program: Program, email: str) -> None:
    other_url = program.url.replace("127.0.0.1", "localhost")
    shell = Shell(tmp_path / "config", program.url)
    del shell.variables["TICKOVER_URL"]
    for url in (other_url, program.url):
        assert shell("login", f"{urlsplit(url).hostname}-{email}", "--url", url).code == 0
    clock = shell("clock", "create", "--url", other_url, "--json").json["id"]
    for command in (["show", clock], ["rename", "Other"], ["fork"], ["delete", clock]):
        assert shell("clock", *command, "--url", other_url).code == 0
    # Its clocks are those of the other server.
    assert shell("clock", "list", "--json").json["clocks"] == []
    assert shell("clock", "create", "--json").code == 0
    assert shell.clock


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


def test_logout_deletes_the_user_after_a_confirmation(shell: Shell, email: str) -> None:
    clock = shell("clock", "create", "--json").json["id"]
    assert shell("logout", "--delete-user").code == 2
    assert shell("clock", "show", clock).code == 0
    assert shell("logout", "--delete-user", "--yes").out == f"✓ Deleted your user at {shell.url}.\n"
    assert shell("login", email).code == 0
    assert shell("clock", "show", clock).code == 5
    assert shell("logout", "--everywhere").code == 0
    assert shell("logout", "--everywhere").code == 3


def test_logout_keeps_the_token_if_the_server_is_unavailable(shell: Shell, program: Program) -> None:
    token = shell.token
    stored = json.loads(shell.credentials_file.read_text())
    stored["servers"]["http://127.0.0.1:9"] = stored["servers"][shell.url]
    shell.credentials_file.write_text(json.dumps(stored))
    assert shell("logout", "--url", "http://127.0.0.1:9").code == 7
    assert json.loads(shell.credentials_file.read_text())["servers"]["http://127.0.0.1:9"]["token"] == token


# TICKOVER_TOKEN, and no token


def test_environment_token_overrides_the_stored_token(signed_out_shell: Shell, shell: Shell, program: Program) -> None:
    other_token = program.sign_in("other-token@example.test")
    clock = shell("clock", "create", "--json").json["id"]
    ids = [one["id"] for one in shell("clock", "list", "--json", TICKOVER_TOKEN=other_token).json["clocks"]]
    assert clock not in ids
    assert shell("logout", TICKOVER_TOKEN=other_token).code == 0
    refused = shell("clock", "list", TICKOVER_TOKEN=other_token)
    assert (refused.code, refused.err.splitlines()[1]) == (
        3,
        "  The token comes from TICKOVER_TOKEN. Unset the variable or change it.",
    )
    assert shell("clock", "list").code == 0
