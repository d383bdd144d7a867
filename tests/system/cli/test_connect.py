"""`tickover clock connect`."""

from base64 import b64decode

import pytest

from tests.system.shells import Shell


def test_tokens_are_printed_with_what_to_do(shell: Shell) -> None:
    clock = shell("clock", "create", "--json").json["id"]
    plaid = shell("clock", "connect", "--plaid")
    assert plaid.out.startswith("public-sandbox-")
    assert "/plaid" in plaid.err
    simplefin = shell("clock", "connect", clock, "--simplefin", "--institution", "First Bank", "--json").json
    assert simplefin["connection"]["institution"] == "First Bank"
    assert b"/simplefin/claim/" in b64decode(simplefin["setupToken"])


@pytest.mark.parametrize("options", [[], ["--plaid", "--simplefin"]])
def test_one_protocol_is_required(shell: Shell, options: list[str]) -> None:
    wrong = shell("clock", "connect", *options)
    assert (wrong.code, wrong.out) == (2, "")
    assert "either --plaid or --simplefin" in wrong.err
