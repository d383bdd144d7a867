"""`tickover token`: users create access tokens over the API, operators beside the database."""

from typing import Any

from tests.support.program import Program
from tests.system.shells import Shell


def test_token_is_created_listed_used_and_revoked(shell: Shell) -> None:
    created = shell("token", "create", "--name", "ci", "--days", "30", "--read-only")
    assert created.code == 0
    token = created.out.strip()
    assert token.startswith("tka_")
    assert "can't show it again" in created.err
    [listed] = shell("token", "list", "--json").json["tokens"]
    assert (listed["name"], listed["readOnly"]) == ("ci", True)
    assert listed["id"] in shell("token", "list").out
    assert token not in shell("token", "list").out
    assert shell("clock", "list", "--json", TICKOVER_TOKEN=token).json["clocks"] == []
    forbidden = shell("clock", "create", TICKOVER_TOKEN=token)
    assert forbidden.code != 0
    assert forbidden.out == ""
    assert "TICKOVER_TOKEN" in forbidden.err
    assert shell("token", "revoke", listed["id"]).out == f"Revoked {listed['id']}.\n"
    assert shell("clock", "list", TICKOVER_TOKEN=token).code == 3
    assert shell("token", "list").out == "You have no access tokens.\n"


def test_operator_creates_a_token_beside_the_database(shell: Shell, program: Program) -> None:
    data: dict[str, Any] = {"TICKOVER_DATA_DIR": str(program.data)}
    created = shell("token", "create", "Robot@example.test", "--name", "ci", "--json", **data)
    assert created.code == 0, created.err
    token = created.json["token"]
    assert shell("clock", "create", "--json", TICKOVER_TOKEN=token).code == 0
    again = shell("token", "create", "robot@example.test", "--name", "second", **data)
    assert len(shell("clock", "list", "--json", TICKOVER_TOKEN=again.out.strip()).json["clocks"]) == 1
