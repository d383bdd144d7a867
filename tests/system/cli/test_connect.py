"""`tickover clock connect`, `connections` and `disconnect`."""

from base64 import b64decode
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.system.shells import Shell


def test_tokens_are_printed_with_what_to_do(shell: Shell) -> None:
    clock = shell("clock", "create", "--json").json["id"]
    plaid = shell("clock", "connect", "--plaid")
    assert plaid.out.startswith("public-sandbox-")
    assert "/plaid" in plaid.err
    assert "tickover token create" in plaid.err
    simplefin = shell("clock", "connect", clock, "--simplefin", "--institution", "First Bank", "--json").json
    assert simplefin["connection"]["institution"] == "First Bank"
    assert b"/simplefin/claim/" in b64decode(simplefin["setupToken"])


def test_bank_has_quirks(shell: Shell) -> None:
    shell("clock", "create")
    connected = shell("clock", "connect", "--plaid", "--quirk", "tells-late", "--quirk", "holds", "--json").json
    assert connected["connection"]["quirks"] == ["TELLS_LATE", "UNLINKED", "HOLDS_AS_BOOKED", "HOLDS_STAY"]
    refused = shell("clock", "connect", "--plaid", "--quirk", "LATE")
    assert "'LATE' isn't a habit of a bank. Use SAME_ID, " in refused.err


def test_connections_are_listed_and_ended(shell: Shell) -> None:
    clock = shell("clock", "create", "--json").json["id"]
    assert shell("clock", "connections").out == "The clock has no connections.\n"
    ids = [
        shell("clock", "connect", *options, "--json").json["connection"]["id"]
        for options in (["--plaid"], ["--simplefin", "--institution", "First Bank"])
    ]
    first, second = shell("clock", "connections").out.splitlines()
    assert first.startswith(f"  {ids[0]}  PLAID  Tickover Bank  created 20")
    assert second.startswith(f"  {ids[1]}  SIMPLEFIN  First Bank  created 20")
    assert shell("clock", "create").code == 0
    assert shell("clock", "disconnect", ids[0], "--clock", clock).out == f"Disconnected {ids[0]}.\n"
    assert [one["id"] for one in shell("clock", "connections", clock, "--json").json["connections"]] == ids[1:]
    again = shell("clock", "disconnect", ids[0])
    assert (again.code, again.out) == (4, "")
    assert "CONNECTION" in again.err


def test_setup_token_leads_to_the_public_url(tmp_path: Path) -> None:
    public = "https://localhost/below"
    with Program(tmp_path, TICKOVER_PUBLIC_URL=public) as program:
        assert f"  Console  {public}/\n" in program.output
        assert f"  Listens  {program.url}\n" in program.output
        assert f"--url {public}\n" in program.output
        shell = Shell(tmp_path / "config", program.url)
        shell.variables["TICKOVER_TOKEN"] = program.sign_in("ana@example.test")
        assert shell("clock", "create").code == 0
        connected = shell("clock", "connect", "--simplefin")
    assert b64decode(connected.out).startswith(f"{public}/simplefin/claim/".encode())
    assert connected.err.endswith(f"and leads to {public}/simplefin.\n")


def test_bank_fails_at_the_times_of_its_faults(shell: Shell) -> None:
    assert shell("clock", "create", "--from", "2027-01-05").code == 0
    command = ["clock", "connect", "--plaid", "--fault", "login-required", "--fault", "RATE_LIMITED=2027-02-01"]
    connected = shell(*command, "--fault", "INSTITUTION_DOWN=2027-03-01..2027-03-02T12:00:00Z", "--json").json
    assert connected["connection"]["faults"] == [
        {"kind": "LOGIN_REQUIRED", "from": "2027-01-05T00:00:00Z"},
        {"kind": "RATE_LIMITED", "from": "2027-02-01T00:00:00Z"},
        {"kind": "INSTITUTION_DOWN", "from": "2027-03-01T00:00:00Z", "until": "2027-03-02T12:00:00Z"},
    ]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("LOGIN=2027-01-01", "'LOGIN' isn't a failure of a bank. Use LOGIN_REQUIRED, "),
        ("RATE_LIMITED=soon", "'soon' isn't a time."),
        ("RATE_LIMITED=2027-01-01..later", "'later' isn't a time."),
    ],
)
def test_invalid_fault_is_explained(shell: Shell, fault: str, message: str) -> None:
    result = shell("clock", "connect", "--plaid", "--fault", fault)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
