"""`tickover clock connect`, `connections` and `disconnect`."""

import json
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


def test_connection_has_limits_and_changes(shell: Shell) -> None:
    clock = shell("clock", "create", "--from", "2027-01-05", "--json").json["id"]
    limits = "--consent-days", "90", "--calls-per-day", "4"
    connection = shell("clock", "connect", "--plaid", *limits, "--json").json["connection"]
    assert (connection["consentDays"], connection["callsPerDay"]) == (90, 4)
    update = "clock", "update-connection", connection["id"], "--clock", clock
    assert shell(*update, "--quirk", "ids", "--calls-per-day", "7").out == f"Updated {connection['id']}.\n"
    changed = shell(*update, "--remove", "quirks", "--fault", "RATE_LIMITED", "--json").json["connection"]
    faults = [{"kind": "RATE_LIMITED", "from": "2027-01-05T00:00:00Z"}]
    assert changed == connection | {"callsPerDay": 7, "faults": faults}
    removed = shell(*update, "--remove", "faults", "--remove", "calls-per-day", "--json").json["connection"]
    assert "callsPerDay" not in removed
    assert not removed.get("faults")
    for options in (
        [],
        ["--quirk", "ids", "--remove", "quirks"],
        ["--calls-per-day", "0"],
        ["--remove", "consent-days"],
    ):
        assert shell(*update, *options).code == 2
    unknown = shell("clock", "update-connection", "conn_1", "--remove", "quirks")
    assert (unknown.code, "CONNECTION" in unknown.err) == (4, True)


def test_calls_of_an_app_are_listed(shell: Shell, program: Program) -> None:
    shell("clock", "create", "--from", "2027-01-05")
    connected = shell("clock", "connect", "--plaid", "--json").json
    calls = "clock", "calls", connected["connection"]["id"]
    assert shell(*calls).out == "The app has made no calls.\n"
    access_token = program.exchange_public_token(connected["publicToken"])["access_token"]
    access = json.dumps({"client_id": "any", "secret": "any", "access_token": access_token}).encode()
    headers = {"Content-Type": "application/json"}
    for path in ("/accounts/get", "/transactions/sync"):
        assert program.request("POST", f"/plaid{path}", access, headers).status == 200
    assert shell(*calls).out.splitlines() == [
        "  2027-01-05 00:00  /transactions/sync  200  0 rows",
        "  2027-01-05 00:00  /accounts/get  200",
    ]
    [newest] = shell(*calls, "--limit", "1", "--json").json["calls"]
    assert (newest["path"], newest["clockTime"]) == ("/transactions/sync", "2027-01-05T00:00:00Z")


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
