"""Calls as code: text from a link or a form is never code in a shell or in Python."""

import shlex
from typing import Any

from tests.browser.tabs import Tab

# All tests of a process share the browser and its event loop.

HOSTILE = "x'; touch pwned; `id` $(id) #"
NO_CODE = "# No code for these parameters. Use curl.\n"
AT = "2027-01-02T00:00:00Z"
ITEM = {"type": "INCOME", "name": HOSTILE, "amount": HOSTILE, "currency": HOSTILE, "at": AT}

_WRITE = """async ([kind, method, params]) => {
  const { writeSnippet } = await importModule("clock/call-snippets.js");
  return writeSnippet(kind, { request: { method, params } }, { url: "http://127.0.0.1:8000/rpc" });
}"""


async def write(tab: Tab, kind: str, method: str, params: dict[str, Any]) -> str:
    return str(await tab.page.evaluate(_WRITE, [kind, method, params]))


async def test_values_are_single_words_of_the_shell(loaded_tab: Tab) -> None:
    for method, params, count in (
        ("getTestClock", {"id": HOSTILE}, 1),
        ("advanceTestClock", {"id": HOSTILE, "frozenTime": AT}, 1),
        ("forkTestClock", {"id": HOSTILE}, 1),
        ("updateTestClock", {"id": HOSTILE, "name": HOSTILE}, 2),
        ("deleteTestClock", {"id": HOSTILE}, 1),
        ("listTestClockEvents", {"id": HOSTILE}, 1),
        ("getTestClockBalances", {"id": HOSTILE}, 1),
        ("checkTestClock", {"id": HOSTILE, "expectations": []}, 1),
        ("exportTestClock", {"id": HOSTILE, "format": "csv"}, 1),
        ("amendTestClock", {"id": "c", "add": {"transactions": [ITEM]}}, 3),
        ("amendTestClock", {"id": "c", "add": {"contributions": [{**ITEM, "goalId": HOSTILE}]}}, 2),
        ("amendTestClock", {"id": "c", "cancel": [HOSTILE]}, 1),
        ("sendLoginCodeEmail", {"email": HOSTILE}, 1),
    ):
        _, command = (await write(loaded_tab, "cli", method, params)).strip().split("\n")
        words = shlex.split(command)
        assert (words[0], words.count(HOSTILE)) == ("tickover", count), command


async def test_parameters_that_no_code_can_send_give_advice(loaded_tab: Tab) -> None:
    for kind, method, params in (
        ("cli", "getTestClock", {}),
        ("cli", "getTestClock", {"id": "a\x15b"}),
        ("cli", "deleteTestClock", {"id": "--all"}),
        ("cli", "amendTestClock", {"id": "c", "add": {"transactions": [{"name": "Rent"}]}}),
        ("cli", "checkTestClock", {"id": "c"}),
        ("python", "createTestClock", {"transactions": [{"name": "Rent"}]}),
        ("python", "createTestClock", {"transactions": [{**ITEM, "type": "print('pwned')#"}]}),
        ("python", "checkTestClock", {"id": "c", "expectations": [{}]}),
    ):
        assert await write(loaded_tab, kind, method, params) == NO_CODE, (kind, method, params)


async def test_code_does_what_the_call_does(loaded_tab: Tab) -> None:
    link = {"email": "ana@example.test", "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}
    code = {"email": "ana@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
    for kind, method, params, expected in (
        ("cli", "sendLoginCodeEmail", link, "\ntickover login ana@example.test --link\n"),
        ("cli", "sendLoginCodeEmail", code, "\ntickover login ana@example.test\n"),
        ("python", "sendLoginCodeEmail", link, 'tickover.send_link("ana@example.test")'),
        ("python", "sendLoginCodeEmail", code, 'tickover.send_code("ana@example.test")'),
        ("python", "expandScenario", {"text": "#", "start": AT}, f'tickover.expand_scenario("#", start="{AT}")'),
        ("python", "listTestClocks", {"limit": 5, "x=1": 2}, "tickover.list_page(limit=5)"),
    ):
        assert expected in await write(loaded_tab, kind, method, params)
