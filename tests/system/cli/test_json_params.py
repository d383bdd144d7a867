"""Tests of `tickover clock create --params`."""

import pytest

from tests.system.shells import Shell


@pytest.mark.parametrize(
    ("params", "exit", "message"),
    [
        (b"{", 2, "The parameters aren't valid JSON"),
        (b"\xff", 2, "The parameters aren't valid JSON"),
        (b'{"goals": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", 2, "The parameters aren't valid JSON: nested too deeply."),
        (b"[]", 2, "The parameters must be a JSON object."),
        (b'{"goals": [{"name": 5}]}', 4, "  goals[0].name must be a string\n  goals[0].targetAmount is required"),
        (b'{"goals": [{"name": "Trip", "targetAmount": "10"}]}', 4, "  goals[0].targetAmount must be a number"),
        (b'{"goals": [{"name": "Trip", "targetAmount": 1e400}]}', 4, "  goals[0].targetAmount "),
        (b'{"fruzenTime": 1}', 4, "  fruzenTime is not a known parameter; did you mean frozenTime?"),
        (b'{"goals": [{"name": "", "targetAmount": 0}]}', 4, "  goals[0].targetAmount "),
        (b'{"frozenTime": "1999-01-01T00:00:00Z"}', 4, "  frozenTime "),
    ],
)
def test_invalid_params_are_rejected(shell: Shell, params: bytes, exit: int, message: str) -> None:
    result = shell("clock", "create", "--params", "-", input=params)
    assert (result.code, result.out) == (exit, "")
    assert result.err.startswith("tickover: ")
    assert message in result.err
    assert shell.clock == ""
