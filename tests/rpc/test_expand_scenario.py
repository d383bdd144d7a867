"""expandScenario: its result, its errors with lines, and what a hostile scenario can cost."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World
from tickover.api.limits import MAX_EXPECTATIONS, MAX_NAME, MAX_SCENARIO_TEXT
from tickover.server.isolated_calls import ExpandRequest

START = "2027-01-01T00:00:00Z"
RENT = """\
title = "Home"
currency = "EUR"
length = "2 months"

[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "month on the 3rd"

[[expect]]
never_below = -2000
"""

HOSTILE = """\
from tickover.server import isolated_calls

original = isolated_calls.ExpandRequest.run

def run(request):
    isolated_calls.ExpandRequest.run = original
    {}

isolated_calls.ExpandRequest.run = run
isolated_calls.MAX_CPU_SECONDS = 0.01
isolated_calls.main()
"""


async def expand(world: World, text: str, start: str | None = START) -> Any:
    return await world.result("expandScenario", {"text": text, **({"start": start} if start else {})}, world.token)


def replace_program(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Start the isolated process with this shell script."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))


async def test_result_can_be_passed_to_create_and_check(world: World, token: str) -> None:
    expanded = await expand(world, RENT)
    rent = {"name": "Rent", "amount": 840.5, "currency": "EUR", "type": "EXPENSE"}
    assert expanded["params"] == {
        "frozenTime": START,
        "name": "Home",
        "goals": [],
        "transactions": [{"at": f"2027-0{month}-03T08:00:00Z", **rent} for month in (1, 2)],
    }
    clock = await world.create(token, **expanded["params"])
    check = {"id": clock["id"], "expectations": expanded["expectations"]}
    assert (await world.result("checkTestClock", check, token))["ok"]


async def test_default_start_is_the_texts_own_or_the_first_of_the_month(world: World, token: str) -> None:
    month = world.now.strftime("%Y-%m-01T00:00:00Z")
    assert (await expand(world, RENT, None))["params"]["frozenTime"] == month
    assert (await expand(world, "start = 2027-05-01\n" + RENT, None))["params"]["frozenTime"] == "2027-05-01T00:00:00Z"
    assert (await expand(world, "start = 2027-05-01\n" + RENT))["params"]["frozenTime"] == START


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (RENT.replace("every", "evry"), 9, 'line 9, transaction 1 "Rent": unknown key "evry"; did you mean "every"?'),
        ("currency = ", 1, "line 1: invalid TOML: Invalid value at the end of the file"),
        ("# nothing", None, "the scenario is empty; add transactions or goals"),
    ],
)
async def test_fault_of_an_invalid_scenario_has_its_line(
    world: World, token: str, text: str, line: int | None, message: str
) -> None:
    error = await world.error("expandScenario", {"text": text}, token)
    fault = {"path": "text", "rule": "scenario", "message": message}
    assert error["data"]["errors"] == [fault if line is None else {**fault, "line": line}]


async def test_largest_result_is_within_its_maximum_size(world: World, token: str) -> None:
    name = "\\u0001" * MAX_NAME
    transactions = (
        f'[[transactions]]\nname = "{name}"\ncategory = "{name[:480]}"\namount = 999999999.123456\n'
        'type = "expense"\nrrule = "FREQ=DAILY"\n'
    )
    expectations = f'[[expect]]\nposted = "{name}"\nby = "2027-03-01T00:00:00.123456Z"\n' * MAX_EXPECTATIONS
    text = f'currency = "EUR"\nlength = "100 days"\n{transactions}{expectations}'
    response = await world.call("expandScenario", {"text": text, "start": START}, token)
    assert len(response.json["result"]["params"]["transactions"]) == 100
    assert len(text) < MAX_SCENARIO_TEXT


# The process


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("while True: pass", "takes more than 2 seconds of CPU time; use fewer items"),
        ("bytes(isolated_calls.MAX_MEMORY)", "needs too much memory; use fewer items"),
    ],
)
async def test_slow_or_large_scenario_is_rejected_and_the_next_one_works(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, message: str
) -> None:
    """The program of the process is real. Only its scenario never ends or is too large, and its limit is shorter."""
    module = tmp_path / "hostile.py"
    module.write_text(HOSTILE.format(code))
    with monkeypatch.context() as patch:
        replace_program(patch, tmp_path, f"exec '{sys.executable}' '{module}'")
        fault = (await world.error("expandScenario", {"text": RENT}, token))["data"]["errors"][0]
    assert fault["message"].startswith(message)
    assert await expand(world, RENT)


async def test_killed_process_is_replaced(world: World, token: str) -> None:
    await expand(world, RENT)
    await world.isolated_process.kill()
    assert await expand(world, RENT)


async def test_process_that_fails_is_an_internal_error_with_one_line_in_the_log(
    world: World,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    replace_program(monkeypatch, tmp_path, "echo 'Traceback:\n  a bug' >&2\nexit 1")
    assert (await world.error("expandScenario", {"text": RENT}, token))["data"]["reason"] == "INTERNAL"
    assert "a bug" not in capfd.readouterr().err
    assert len(caplog.records) == 1
    assert "ended with 1\nTraceback:\n  a bug" in caplog.text


async def test_cancelled_call_does_not_leave_its_response_to_the_next(world: World, token: str) -> None:
    await expand(world, RENT)
    request = ExpandRequest(RENT.replace("Home", "Old"), None, world.now)
    async with world.isolated_process.turn():
        call = asyncio.ensure_future(world.isolated_process.run(request))
        # It writes its request, and then waits for the response.
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
    assert (await expand(world, RENT))["params"]["name"] == "Home"


async def test_process_has_no_settings_of_the_server(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TICKOVER_SECRET_KEY", "secret")
    with monkeypatch.context() as patch:
        replace_program(patch, tmp_path, f"export -p > '{tmp_path}/variables'\nexec '{sys.executable}' \"$@\"")
        await expand(world, RENT)
    variables = (tmp_path / "variables").read_text()
    assert "TICKOVER" not in variables
    assert "secret" not in variables
