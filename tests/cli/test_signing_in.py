"""Signing in and out: by the development mailbox, by a code that is typed, and in all the ways that fail."""

import json
import stat

import pytest

from tests.cli.conftest import RealMail
from tests.cli.shells import Shell
from tests.program import Program


def kept_by(shell: Shell) -> object:
    return json.loads(shell.kept.read_bytes()) if shell.kept.exists() else None


# With the development mailbox


def test_the_code_is_taken_from_the_servers_mailbox(stranger: Shell, email: str, program: Program) -> None:
    ran = stranger("login", email)
    code = program.letters()[-1]["Subject"].split()[0]
    assert (ran.code, ran.err) == (0, f"✓ Code {code} found in the server's development mailbox.\n")
    assert ran.out.splitlines() == [
        f"✓ Signed in as {email}.",
        f"  The token is kept in {stranger.kept}.",
        "  Next: tickover clock create salary-and-rent",
    ]
    assert stat.S_IMODE(stranger.kept.stat().st_mode) == 0o600


def test_a_file_below_ones_home_is_named_from_there(stranger: Shell, email: str) -> None:
    ran = stranger("login", email, HOME=str(stranger.home.parent))
    assert f"  The token is kept in ~/{stranger.home.name}/tickover/credentials.json.\n" in ran.out


def test_the_token_is_good_and_never_shown(stranger: Shell, email: str, program: Program) -> None:
    runs = [stranger("login", email), stranger("clock", "create"), stranger("clock", "list", "--json")]
    assert [ran.code for ran in runs] == [0, 0, 0]
    assert program.result("listTestClocks", {}, stranger.token)["clocks"]
    assert not any(stranger.token in ran.out + ran.err for ran in runs)


def test_a_program_is_told_who_signed_in(stranger: Shell, email: str) -> None:
    ran = stranger("login", email, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {"email": email, "userId": ran.json["userId"], "url": stranger.url}
    assert ran.json["userId"].startswith("user_")


def test_a_second_letter_too_soon_says_how_long_to_wait_and_that_a_code_still_works(shell: Shell, email: str) -> None:
    ran = shell("login", email)
    assert (ran.code, ran.out) == (8, "")
    first, second = ran.err.splitlines()
    assert first.startswith(f"tickover: A letter was sent to {email} a moment ago; the next may follow in ")
    assert second == f"  If its code is not used yet: tickover login {email} --code CODE"
    assert shell("login", email, "--json").error["reason"] == "RESEND_TOO_SOON"


@pytest.mark.parametrize(("code", "exit", "reason"), [("000000", 3, "LOGIN_REFUSED"), ("12345", 4, "INVALID_PARAMS")])
def test_a_code_that_is_no_good_keeps_nothing(stranger: Shell, code: str, exit: int, reason: str) -> None:
    ran = stranger("login", "nobody@example.test", "--code", code, "--json")
    assert (ran.code, ran.out, ran.error["reason"]) == (exit, "", reason)
    assert kept_by(stranger) is None


def test_an_address_that_is_none_is_refused_with_its_fault(stranger: Shell) -> None:
    ran = stranger("login", "nobody")
    assert ran.code == 4
    assert ran.err.splitlines()[1].startswith("  email ")


def test_a_new_sign_in_of_the_same_person_keeps_the_clock_and_of_another_does_not(
    shell: Shell, email: str, program: Program
) -> None:
    shell("clock", "create")
    clock = shell.clock
    assert clock
    shell("login", f"other-{email}")
    assert shell.clock == ""
    shell("clock", "create")
    assert shell.clock not in ("", clock)


# Without it


def test_without_a_terminal_the_next_command_is_named(real_mail: RealMail, stranger: Shell, email: str) -> None:
    stranger.variables["TICKOVER_URL"] = stranger.url = real_mail.program.url
    ran = stranger("login", email)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.splitlines() == [
        f"tickover: A code is on its way to {email}.",
        f"  Sign in with it: tickover login {email} --code CODE",
    ]
    assert kept_by(stranger) is None
    assert stranger("login", email, "--code", real_mail.code(email)).code == 0
    assert stranger("clock", "list").code == 0


def test_at_a_terminal_the_code_is_asked_for(real_mail: RealMail, stranger: Shell, email: str) -> None:
    stranger.variables["TICKOVER_URL"] = stranger.url = real_mail.program.url
    with stranger.at_a_terminal("login", email) as terminal:
        terminal.wait_for(f"Code from the letter to {email}: ")
        code = real_mail.code(email)
        terminal.type("12345\n")
        terminal.wait_for("A code has six digits.")
        # As it may be copied from somewhere.
        terminal.type(f" {code[:3]} {code[3:]} \n")
        assert terminal.end() == 0
        assert f"Signed in as {email}" in terminal.text
    assert stranger("clock", "list").code == 0


def test_three_wrong_codes_are_enough(real_mail: RealMail, stranger: Shell, email: str) -> None:
    stranger.variables["TICKOVER_URL"] = stranger.url = real_mail.program.url
    with stranger.at_a_terminal("login", email) as terminal:
        terminal.wait_for("Code from")
        wrong = "000000" if real_mail.code(email) != "000000" else "111111"
        terminal.type(f"{wrong}\n" * 3)
        assert terminal.end() == 3
        assert terminal.text.count("That is not the code") == 3
        assert "Not signed in after 3 tries." in terminal.text
        assert "Traceback" not in terminal.text
    assert kept_by(stranger) is None
    # The letter's code has two tries left.
    assert stranger("login", email, "--code", real_mail.code(email)).code == 0


def test_ctrl_c_at_the_question_keeps_nothing(real_mail: RealMail, stranger: Shell, email: str) -> None:
    stranger.variables["TICKOVER_URL"] = stranger.url = real_mail.program.url
    with stranger.at_a_terminal("login", email) as terminal:
        terminal.wait_for("Code from")
        terminal.type("123\x03")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.text
    assert kept_by(stranger) is None


def test_a_link_signs_in_where_mail_stays_on_the_server(stranger: Shell, email: str) -> None:
    assert stranger("login", email, "--link").code == 0
    assert stranger("clock", "list").code == 0


def test_a_link_from_a_letter_signs_in_once(real_mail: RealMail, stranger: Shell, email: str) -> None:
    stranger.variables["TICKOVER_URL"] = stranger.url = real_mail.program.url
    ran = stranger("login", email, "--link")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.splitlines() == [
        f"tickover: A login link is on its way to {email}.",
        f"  Open it, or sign in here with: tickover login {email} --link 'LINK'",
    ]
    link = real_mail.link(email)
    assert stranger("login", email, "--link", link).code == 0
    assert stranger("clock", "list").code == 0
    assert stranger("login", email, "--link", link).code == 3


def test_a_code_and_a_link_are_one_too_many(stranger: Shell) -> None:
    assert stranger("login", "ana@example.test", "--code", "123456", "--link", "x").code == 2


# Signing out


def test_signing_out_revokes_the_token_and_forgets_it(shell: Shell, program: Program) -> None:
    token = shell.token
    ran = shell("logout")
    assert (ran.code, ran.out, ran.err) == (0, f"✓ Signed out of {shell.url}.\n", "")
    assert program.call("listTestClocks", {}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"
    assert token not in shell.kept.read_text()
    assert shell("clock", "list").code == 3
    assert shell("logout", "--json").json == {"signedOut": False}


def test_a_token_that_is_dead_already_is_forgotten_too(shell: Shell, program: Program) -> None:
    program.result("logout", {}, shell.token)
    assert shell("logout", "--json").json == {"signedOut": True}
    assert "token" not in shell.kept.read_text()


def test_a_token_is_kept_as_long_as_it_cannot_be_revoked(shell: Shell, program: Program) -> None:
    token = shell.token
    kept = json.loads(shell.kept.read_text())
    kept["servers"]["http://127.0.0.1:9"] = kept["servers"][shell.url]
    shell.kept.write_text(json.dumps(kept))
    assert shell("logout", "--url", "http://127.0.0.1:9").code == 7
    assert json.loads(shell.kept.read_text())["servers"]["http://127.0.0.1:9"]["token"] == token


# Tokens of the environment, and none


def test_a_token_of_the_environment_goes_before_the_one_that_is_kept(
    stranger: Shell, shell: Shell, program: Program
) -> None:
    other = program.sign_in("other-token@example.test")
    mine = shell("clock", "create", "--json").json["id"]
    ids = [one["id"] for one in shell("clock", "list", "--json", TICKOVER_TOKEN=other).json["clocks"]]
    assert mine not in ids
    assert shell("logout", TICKOVER_TOKEN=other).code == 0
    refused = shell("clock", "list", TICKOVER_TOKEN=other)
    assert (refused.code, refused.err.splitlines()[1]) == (
        3,
        "  It is the one in TICKOVER_TOKEN: unset that, or set it to another.",
    )
    assert shell("clock", "list").code == 0


@pytest.mark.parametrize("token", ["two words", "über"])
def test_a_token_of_the_environment_that_is_none_is_refused(stranger: Shell, token: str) -> None:
    ran = stranger("clock", "list", TICKOVER_TOKEN=token)
    assert ran.code == 2
    assert token not in ran.err


def test_who_has_not_signed_in_is_told_how(stranger: Shell) -> None:
    ran = stranger("clock", "list")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.splitlines() == [
        f"tickover: You are not signed in at {stranger.url}.",
        "  Sign in with: tickover login EMAIL",
    ]


def test_whose_token_is_no_good_any_more_is_told_to_sign_in_again(shell: Shell, email: str, program: Program) -> None:
    program.result("logout", {}, shell.token)
    ran = shell("clock", "list")
    assert (ran.code, ran.err.splitlines()[1]) == (3, f"  Sign in with: tickover login {email}")


def test_of_two_sign_ins_at_once_none_is_lost(stranger: Shell, email: str, real_mail: RealMail) -> None:
    other = real_mail.program.url
    stranger("login", email, "--url", other)
    logins = [
        stranger.start("login", email),
        stranger.start("login", email, "--code", real_mail.code(email), "--url", other),
    ]
    ended: list[tuple[str, str]] = [login.communicate(timeout=30) for login in logins]
    assert [login.returncode for login in logins] == [0, 0], ended
    assert set(json.loads(stranger.kept.read_text())["servers"]) == {stranger.url, other}


def test_a_damaged_file_is_one_sentence(stranger: Shell) -> None:
    stranger.kept.parent.mkdir(parents=True)
    stranger.kept.write_text("{")
    ran = stranger("clock", "list")
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"tickover: {stranger.kept} is damaged.")
