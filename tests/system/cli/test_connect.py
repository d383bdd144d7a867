"""`tickover clock connect`, `connections` and `disconnect`."""

from base64 import b64decode

from tests.system.shells import Shell


def test_tokens_are_printed_with_what_to_do(shell: Shell) -> None:
    clock = shell("clock", "create", "--json").json["id"]
    plaid = shell("clock", "connect", "--plaid")
    assert plaid.out.startswith("public-sandbox-")
    assert "/plaid" in plaid.err
    simplefin = shell("clock", "connect", clock, "--simplefin", "--institution", "First Bank", "--json").json
    assert simplefin["connection"]["institution"] == "First Bank"
    assert b"/simplefin/claim/" in b64decode(simplefin["setupToken"])


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
