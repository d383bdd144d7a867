"""The API page of the console: the reference and the form that calls operations."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, ViewportSize, expect

from tests.browser.layout import LARGE, OVERFLOWING, SMALL, overflowing_elements
from tests.support.console import HTTP_ERROR, new_address, open_console
from tests.support.program import Program
from tests.support.tabs import Tab
from tickover.server.openrpc import DESCRIBED_OPERATIONS

# All tests of a process share the browser and its event loop.


@pytest.fixture
def tab(loaded_tab: Tab) -> Tab:
    return loaded_tab


@asynccontextmanager
async def open_signed_in_tab(browser: Browser, program: Program) -> AsyncIterator[tuple[Tab, str]]:
    """Open a tab with a session of a new user. Yield the tab and the token."""
    async with open_console(browser, program) as console:
        yield console.tab, console.token


async def choose(tab: Tab, program: Program, method: str) -> None:
    await tab.page.goto(f"{program.url}/#/api/{method}")
    await expect(tab.page.get_by_role("heading", name=method, exact=True)).to_be_visible()


def request_form(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Try it")


def response(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Request and response")


def field(tab: Tab, name: str) -> Locator:
    return request_form(tab).get_by_label(re.compile(rf"^{re.escape(name)}\b"))


async def send(tab: Tab) -> None:
    await request_form(tab).get_by_role("button", name="Send").click()


async def result(tab: Tab, label: str = "Result") -> Any:
    return json.loads(await response(tab).get_by_role("region", name=label).inner_text())


async def to_json(tab: Tab) -> Any:
    await request_form(tab).get_by_role("tab", name="JSON").click()
    return json.loads(await request_form(tab).get_by_label(re.compile("^params")).input_value())


# Reference


# Opens the reference of each operation, and returns by its name the link on the overview, whether its heading has the
# focus, all its text, and the elements that make it wider than the window.
_REFERENCES = f"""async () => {{
  const references = {{}};
  const links = () => document.querySelectorAll("nav[aria-label=Operations] li a");
  const texts = [...links()].map((link) => link.textContent);
  for (let index = 0; index < texts.length; index++) {{
    const link = links()[index];
    const name = decodeURIComponent(link.hash.split("/").at(-1));
    link.click();
    const heading = () => [...document.querySelectorAll("main h2")].find(({{ textContent }}) => textContent === name);
    for (let frames = 0; frames < 3600 && !heading(); frames++) await new Promise(requestAnimationFrame);
    const isFocused = heading() === document.activeElement;
    document.querySelectorAll("[aria-label=Reference] details").forEach((details) => (details.open = true));
    const text = document.querySelector("main").innerText.replace(/\\s+/g, " ");
    references[name] = {{ link: texts[index], isFocused, text, overflowing: await ({OVERFLOWING})() }};
  }}
  return references;
}}"""


async def test_every_operation_is_listed_with_its_reference(program: Program, tab: Tab) -> None:
    await tab.page.set_viewport_size(SMALL)
    methods = program.result("rpc.discover", {})["methods"]
    assert [method["name"] for method in methods] == list(DESCRIBED_OPERATIONS)
    await tab.page.goto(f"{program.url}/#/api")
    navigation = tab.page.get_by_role("navigation", name="Operations")
    await expect(navigation.get_by_role("listitem")).to_have_count(len(methods))
    references = await tab.evaluate(_REFERENCES)
    for method in methods:
        reference = references[method["name"]]
        badges = ["core"] * (not method["x-extension"]) + ["no token"] * (not method["x-needs-token"])
        assert reference["link"].split() == " ".join([method["name"], *badges, method["summary"]]).split()
        assert reference["isFocused"], method["name"]
        assert reference["overflowing"] == [], method["name"]
        described = [f"{method['summary']}.", *(param["description"].replace("`", "") for param in method["params"])]
        texts = [" ".join(text.split()) for text in described] + method["x-reasons"]
        assert [text for text in texts if text not in reference["text"]] == []
    await tab.page.set_viewport_size(LARGE)
    paths = [await link.get_attribute("href") for link in await navigation.locator("p a").all()]
    assert paths == ["docs", "openrpc.json"]
    assert [program.request("GET", f"/{path}").status for path in paths] == [200, 200]


async def test_constraints_are_described_in_words(program: Program, tab: Tab) -> None:
    await choose(tab, program, "createTestClock")
    reference = tab.page.get_by_role("region", name="Reference")
    await expect(reference).to_contain_text("The amount of money. More than 0, at most 1,000,000,000.")
    await expect(reference).to_contain_text("The name of the transaction or goal. 1 to 120 characters.")
    await expect(reference).to_contain_text("At most 100 entries, by default [].")
    await expect(reference).to_contain_text("EXPENSE or INCOME.")
    # The form and the reference mark optional members in the same way.
    for place in (reference, request_form(tab)):
        for text in ("frozenTime timestamp, optional", "transactions array of objects, optional"):
            await expect(place).to_contain_text(text)
        await expect(place).not_to_contain_text("required")
    lefts = "(fields) => fields.map((field) => field.getBoundingClientRect().left)"
    [_] = set(await reference.locator(".field-list").first.locator(":scope > div").evaluate_all(lefts))


async def test_unknown_operation_name_stays_text(program: Program, tab: Tab) -> None:
    for name in ("noSuchThing", "<img src=x onerror=alert(1)>", "__proto__"):
        await tab.page.goto(f"{program.url}/#/api/{name.replace('/', '%2F')}")
        await expect(tab.page.get_by_text(f"Operation not found: “{name}”.")).to_be_visible()
    assert await tab.evaluate("() => document.querySelectorAll('main img').length") == 0


# Request form


async def test_example_creates_a_clock(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        await choose(tab, program, "createTestClock")
        await send(tab)
        await expect(tab.status).to_have_text(re.compile(r"^createTestClock responded in [0-9.]+ ms\.$"))
        clock = (await result(tab))["clock"]
        assert [item["name"] for item in clock["pendingTransactions"]] == ["Rent", "Salary"]
        assert program.result("getTestClock", {"id": clock["id"]}, token)["clock"] == clock
        opened = response(tab).get_by_role("link", name="Open this clock")
        assert await opened.get_attribute("href") == f"#/clock/{clock['id']}"


async def test_clock_id_is_filled_in_with_the_newest_clock(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        ids = [program.result("createTestClock", {}, token)["clock"]["id"] for _ in range(2)]
        await choose(tab, program, "getTestClock")
        await expect(field(tab, "id")).to_have_value(ids[1])
        await field(tab, "at").fill("")
        await send(tab)
        await expect(response(tab).get_by_role("region", name="Result")).to_contain_text(ids[1])
        assert await to_json(tab) == {"id": ids[1]}


async def test_object_is_entered_as_json(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        id = program.result("createTestClock", {}, token)["clock"]["id"]
        await choose(tab, program, "getTestClockBalances")
        await expect(field(tab, "openingBalances")).to_have_value('{\n  "EUR": 1000\n}')
        await field(tab, "openingBalances").fill('{"eur": 5}')
        await send(tab)
        await expect(request_form(tab)).to_contain_text("openingBalances.eur: has an invalid name")
        await expect(field(tab, "openingBalances")).to_be_focused()
        await field(tab, "openingBalances").fill('{"CHF": 5}')
        await send(tab)
        await expect(response(tab).get_by_role("region", name="Result")).to_contain_text("CHF")
        assert await to_json(tab) == {"id": id, "openingBalances": {"CHF": 5}}


async def test_items_are_added_and_removed_with_the_keyboard_alone(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "createTestClock")
        press, write = tab.page.keyboard.press, tab.page.keyboard.type
        await request_form(tab).get_by_label("Example").select_option("A clock with nothing on it, at the real now")
        assert await request_form(tab).get_by_label(re.compile("^frozenTime")).input_value() == ""
        await request_form(tab).get_by_role("button", name="Add a goal").focus()
        await press("Enter")
        for written in ("Bike", "900.50", "100"):
            await write(written)
            await press("Tab")
        await expect(request_form(tab).get_by_role("button", name="Add a contribution")).to_be_focused()
        for amount in ("12", "13"):
            await press("Enter")
            await write("2099-01-01T00:00:00Z")
            await press("Tab")
            await expect(request_form(tab).get_by_role("button", name="Pick at (UTC)").last).to_be_focused()
            await press("Tab")
            await write(amount)
            await press("Tab")
            await press("Tab")
            await expect(request_form(tab).get_by_role("button", name="Add a contribution")).to_be_focused()
        await press("Shift+Tab")
        await press("Enter")
        # The removed item was the last, so the focus moves to the add button.
        await expect(request_form(tab).get_by_role("button", name="Add a contribution")).to_be_focused()
        await request_form(tab).get_by_role("tab", name="Form").focus()
        await press("ArrowRight")
        written = json.loads(await request_form(tab).get_by_label(re.compile("^params")).input_value())
        contribution = {"at": "2099-01-01T00:00:00Z", "amount": 12}
        goal = {"name": "Bike", "targetAmount": 900.5, "initialAmount": 100, "contributions": [contribution]}
        assert written == {"goals": [goal]}


async def test_removing_an_item_renumbers_the_next_ones(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "createTestClock")
        await request_form(tab).get_by_role("group", name="transaction 1").get_by_role("button", name="Remove").click()
        remaining = request_form(tab).get_by_role("group", name="transaction 1")
        await expect(remaining.get_by_label(re.compile("^name"))).to_have_value("Rent")
        await expect(remaining.get_by_role("button", name="Remove this transaction")).to_be_focused()
        await remaining.get_by_label(re.compile("^amount")).fill("-1")
        await send(tab)
        await expect(remaining.get_by_label(re.compile("^amount"))).to_have_attribute("aria-invalid", "true")


async def test_faults_are_shown_next_to_their_fields(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "createTestClock")
        salary = request_form(tab).get_by_role("group", name="transaction 1")
        contribution = request_form(tab).get_by_role("group", name="contribution 2")
        invalid = [
            (salary.get_by_label(re.compile("^amount")), "many"),
            (salary.get_by_label(re.compile("^currency")), "euro"),
            (contribution.get_by_label(re.compile("^at")), "tomorrow"),
            (field(tab, "frozenTime").first, "now"),
        ]
        for field_, text in invalid:
            await field_.fill(text)
        await send(tab)
        faults = (await result(tab, "Error"))["data"]["errors"]
        assert {fault["path"] for fault in faults} == {
            "transactions[0].amount", "transactions[0].currency", "goals[0].contributions[1].at", "frozenTime",
        }  # fmt: skip
        listed = response(tab).locator(".faults")
        for fault in faults:
            await expect(listed).to_contain_text(f"{fault['path']} {fault['message']}")
        for field_, _ in invalid:
            await expect(field_).to_have_attribute("aria-invalid", "true")
            fault_id = (await field_.get_attribute("aria-describedby") or "").split()[-1]
            assert await tab.page.locator(f"#{fault_id}").inner_text() in {fault["message"] for fault in faults}
        # Editing a field clears its fault.
        await invalid[0][0].fill("1")
        await expect(invalid[0][0]).not_to_have_attribute("aria-invalid", "true")


async def test_json_and_form_show_the_same_params(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "createTestClock")
        written = await to_json(tab)
        example = program.result("rpc.discover", {})["methods"][0]["examples"][0]["params"]
        assert written == {param["name"]: param["value"] for param in example}
        editor = request_form(tab).get_by_label(re.compile("^params"))
        written["transactions"] = [written["transactions"][0] | {"name": "Wage", "amount": 0.1}]
        await editor.fill(json.dumps(written))
        await request_form(tab).get_by_role("tab", name="Form").click()
        await expect(
            request_form(tab).get_by_role("group", name="transaction 1").get_by_label(re.compile("^name"))
        ).to_have_value("Wage")
        await expect(request_form(tab).get_by_role("group", name="transaction 2")).to_have_count(0)
        assert await to_json(tab) == written


async def test_lists_long_texts_and_flags_are_entered_in_the_form(program: Program, tab: Tab) -> None:
    await choose(tab, program, "amendTestClock")
    operations = tab.page.get_by_role("navigation", name="Operations")
    await expect(operations.get_by_role("link", name="amendTestClock")).to_be_in_viewport()
    cancel = request_form(tab).get_by_role("group", name=re.compile("^cancel"))
    await cancel.get_by_role("textbox").fill("txn_1")
    await cancel.get_by_role("button", name="Add an item").click()
    await expect(cancel.get_by_role("textbox").last).to_be_focused()
    await tab.page.keyboard.type("txn_2")
    assert (await to_json(tab))["cancel"] == ["txn_1", "txn_2"]
    await choose(tab, program, "expandScenario")
    text = await field(tab, "text").input_value()
    assert "\n" in text
    assert (await to_json(tab))["text"] == text
    await choose(tab, program, "exportTestClock")
    await field(tab, "pending").select_option("true")
    assert (await to_json(tab))["pending"] is True


async def test_json_that_the_form_cannot_show_can_still_be_sent(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "listTestClocks")
        await to_json(tab)
        editor = request_form(tab).get_by_label(re.compile("^params"))
        form = request_form(tab).get_by_role("tab", name="Form")
        await editor.fill('{"limit": ')
        await form.click()
        await expect(request_form(tab).get_by_text("Invalid JSON")).to_be_visible()
        calls = len(tab.calls)
        await send(tab)
        assert len(tab.calls) == calls
        for params in ('{"unknown": 1}', "[1]", '{"limit": {"a": 1}}', "null"):
            await editor.fill(params)
            await form.click()
            await expect(request_form(tab).get_by_text("The form can't show all of this JSON.")).to_be_visible()
            await expect(form).to_have_attribute("aria-selected", "false")
            async with tab.page.expect_request("**/rpc") as sent:
                await send(tab)
            assert json.loads((await sent.value).post_data or "")["params"] == json.loads(params)
            await expect(response(tab).get_by_role("region", name="Error")).to_contain_text("INVALID_")
        await editor.fill('{"limit": 5}')
        await form.click()
        await expect(field(tab, "limit")).to_have_value("5")
        tab.ignored_prefixes = (f"{HTTP_ERROR} 400",)


async def test_date_picker_fills_in_a_timestamp(program: Program, tab: Tab) -> None:
    await choose(tab, program, "advanceTestClock")
    await field(tab, "frozenTime").fill("2027-02-01T09:00:00+01:00")
    await request_form(tab).get_by_role("button", name="Pick frozenTime (UTC)").click()
    picker = request_form(tab).locator("input[type=datetime-local]")
    await expect(picker).to_have_value("2027-02-01T08:00")
    await picker.fill("2027-03-01T08:30")
    await expect(field(tab, "frozenTime")).to_have_value("2027-03-01T08:30:00Z")
    assert (await to_json(tab))["frozenTime"] == "2027-03-01T08:30:00Z"


async def test_history_fills_in_an_earlier_request(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "listTestClocks")
        history = response(tab).locator("details")
        await expect(history).to_be_hidden()
        for limit, outcome in (("5", "Result"), ("500", "Error")):
            await field(tab, "limit").fill(limit)
            await send(tab)
            await expect(response(tab).get_by_role("region", name=outcome)).to_be_visible()
        await history.get_by_text("History (2)").click()
        earlier = history.get_by_role("button")
        await expect(earlier).to_contain_text(['{"limit":500}', '{"limit":5}'])
        await expect(earlier).to_contain_text(["INVALID_PARAMS", "ok"])
        await earlier.last.click()
        await expect(field(tab, "limit")).to_have_value("5")
        assert await result(tab) == {"clocks": []}
        await tab.page.get_by_role("button", name="Sign out").click()
        await expect(history).to_be_empty()


async def test_same_idempotency_key_returns_the_same_clock(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        await choose(tab, program, "createTestClock")
        await request_form(tab).get_by_role("button", name="New key").click()
        ids = []
        for _ in range(2):
            async with tab.page.expect_response("**/rpc"):
                await send(tab)
            await expect(tab.status).to_contain_text("responded in")
            ids.append((await result(tab))["clock"]["id"])
        assert ids[0] == ids[1]
        assert len(program.result("listTestClocks", {}, token)["clocks"]) == 1
        await field(tab, "Idempotency-Key").fill("ключ")
        calls = len(tab.calls)
        await send(tab)
        await expect(request_form(tab)).to_contain_text("must have 1 to 255 printable ASCII characters")
        await expect(field(tab, "Idempotency-Key")).to_be_focused()
        assert len(tab.calls) == calls
        await choose(tab, program, "advanceTestClock")
        await expect(field(tab, "Idempotency-Key")).to_have_count(0)


async def test_draft_survives_a_visit_to_another_operation(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "listTestClocks")
        await field(tab, "limit").fill("7")
        await choose(tab, program, "logout")
        await choose(tab, program, "listTestClocks")
        await expect(field(tab, "limit")).to_have_value("7")
        await request_form(tab).get_by_role("button", name="Reset to example").click()
        await expect(field(tab, "limit")).to_have_value("2")


async def test_hostile_text_in_a_result_stays_text(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        name = "<img src=x onerror=alert(1)>${alert(1)}`</script>\u202e`\u200b"
        entry = {"at": "2027-01-03T08:00:00Z", "name": name, "amount": 1, "currency": "EUR", "type": "INCOME"}
        params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [entry]}
        await choose(tab, program, "createTestClock")
        await to_json(tab)
        await request_form(tab).get_by_label(re.compile("^params")).fill(json.dumps(params))
        await request_form(tab).get_by_role("tab", name="Form").click()
        await send(tab)
        await expect(tab.status).to_contain_text("responded in")
        clock_id = program.result("listTestClocks", {}, token)["clocks"][0]["id"]
        stored = program.result("getTestClock", {"id": clock_id}, token)["clock"]["pendingTransactions"][0]["name"]
        assert stored == name
        assert await tab.evaluate("() => document.querySelectorAll('main img, main script').length") == 0


# Signing in and out


async def test_operation_without_a_token_shows_the_error(program: Program, tab: Tab) -> None:
    await choose(tab, program, "listTestClocks")
    await expect(request_form(tab)).to_contain_text("This operation needs a token.")
    await send(tab)
    await expect(response(tab).get_by_role("region", name="Error")).to_contain_text("UNAUTHENTICATED")
    await request_form(tab).get_by_role("link", name="Sign in").click()
    await expect(tab.page.get_by_label("Email")).to_be_visible()
    tab.ignored_prefixes = (f"{HTTP_ERROR} 401",)
    assert all("401" in message for message in tab.messages)


async def test_used_code_is_cleared_and_the_token_is_masked(program: Program, tab: Tab) -> None:
    await choose(tab, program, "sendLoginCodeEmail")
    await expect(request_form(tab).get_by_text("This operation needs a token.")).to_have_count(0)
    address = new_address()
    await field(tab, "email").first.fill(address)
    await send(tab)
    await expect(tab.status).to_contain_text("sendLoginCodeEmail responded")
    await send(tab)
    await expect(response(tab).get_by_role("region", name="Error")).to_contain_text("RESEND_TOO_SOON")
    code = str(program.last_email()["Subject"]).split()[0]
    await choose(tab, program, "loginByEmailVerification")
    await field(tab, "email").fill(address)
    await field(tab, "code").fill(code)
    await send(tab)
    # The token is masked, but can be copied.
    assert (await result(tab))["token"] == "••••••"
    await expect(response(tab).get_by_role("button", name="Copy with secrets")).to_be_visible()
    await expect(field(tab, "code")).to_have_value("")
    await expect(field(tab, "email")).to_have_value(address)
    assert code not in await request_form(tab).inner_text()
    tab.ignored_prefixes = (f"{HTTP_ERROR} 429",)
    assert all("429" in message for message in tab.messages)


async def test_logout_signs_the_console_out(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        await choose(tab, program, "logout")
        await expect(request_form(tab).get_by_text("This operation needs a token.")).to_be_hidden()
        await send(tab)
        await expect(tab.status).to_have_text("The token was revoked. You are signed out.")
        await expect(request_form(tab).get_by_text("This operation needs a token.")).to_be_visible()
        await expect(tab.page.get_by_role("button", name="Sign out")).to_have_count(0)
        assert program.call("listTestClocks", {}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("ended_by", ["user", "server"])
async def test_session_end_clears_everything_of_the_user(program: Program, browser: Browser, ended_by: str) -> None:
    async with open_signed_in_tab(browser, program) as (tab, token):
        page = tab.page
        await page.goto(f"{program.url}/#/clocks/new")
        await page.get_by_role("button", name="Create Salary and rent").click()
        # The scenario card has the same heading.
        await page.wait_for_url("**/#/clock/*")
        assert await tab.evaluate("() => Object.keys(sessionStorage).toSorted()") == ["tickover", "tickover-checks"]
        await choose(tab, program, "listTestClocks")
        await field(tab, "limit").fill("7")
        await send(tab)
        await expect(response(tab).get_by_role("region", name="Result")).to_contain_text("clock_")
        if ended_by == "user":
            await page.get_by_role("button", name="Sign out").click()
            await expect(tab.status).to_have_text("You are signed out.")
        else:
            program.result("logout", {}, token)
            await send(tab)
            await expect(tab.status).to_have_text("Your session has ended. Sign in again.")
        await expect(field(tab, "limit")).to_have_value("2")
        await expect(request_form(tab)).not_to_contain_text("clock_")
        await expect(page.locator("#request-inspector summary")).to_have_text("Request inspector")
        assert await tab.evaluate("() => [sessionStorage.length, localStorage.length]") == [0, 0]
        tab.ignored_prefixes = (f"{HTTP_ERROR} 401",)
        assert all("401" in message for message in tab.messages)


# Layout


@pytest.mark.parametrize("viewport", [SMALL, LARGE], ids=["small", "large"])
async def test_send_and_the_response_are_in_view(program: Program, browser: Browser, viewport: ViewportSize) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await tab.page.set_viewport_size(viewport)
        await choose(tab, program, "createTestClock")
        button = request_form(tab).get_by_role("button", name="Send")
        for name in ("frozenTime", "Idempotency-Key"):
            await field(tab, name).scroll_into_view_if_needed()
            await expect(button).to_be_in_viewport(ratio=1)
        await field(tab, "frozenTime").scroll_into_view_if_needed()
        position = await tab.evaluate("() => scrollY")
        box = await button.bounding_box()
        assert box is not None
        await tab.page.mouse.click(box["x"] + 20, box["y"] + 20)
        await expect(response(tab).get_by_role("heading", name="Result")).to_be_in_viewport(ratio=1)
        # A large screen shows the response beside the form.
        assert (await tab.evaluate("() => scrollY") == position) == (viewport == LARGE)


async def test_request_is_shown_as_curl_until_there_is_a_response(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "listTestClocks")
        curl = response(tab).get_by_role("group", name="Request as curl")
        await expect(curl).to_contain_text("/rpc'")
        # Long lines wrap.
        await tab.page.set_viewport_size(LARGE)
        assert await curl.evaluate("(code) => code.scrollWidth <= code.clientWidth")
        await field(tab, "limit").fill("7")
        await expect(curl).to_contain_text('"limit": 7')
        await expect(response(tab).get_by_role("button", name="Copy")).to_be_visible()
        await send(tab)
        await expect(response(tab).get_by_role("region", name="Result")).to_be_visible()
        await expect(curl).to_have_count(0)
        await choose(tab, program, "loginByEmailVerification")
        await field(tab, "code").fill("123456")
        await expect(curl).to_contain_text('"code": "••••••"')


async def test_largest_operation_and_its_result_fit_every_screen(program: Program, browser: Browser) -> None:
    async with open_signed_in_tab(browser, program) as (tab, _):
        await choose(tab, program, "createTestClock")
        await tab.page.evaluate(
            "() => document.querySelectorAll('details').forEach((details) => (details.open = true))"
        )
        await send(tab)
        await expect(response(tab).get_by_role("region", name="Result")).to_be_visible()
        for viewport in (SMALL, LARGE):
            assert await overflowing_elements(tab, viewport["width"]) == []
            # A small screen hides the list.
            navigation = tab.page.get_by_role("navigation", name="Operations")
            assert await navigation.is_visible() == (viewport == LARGE)
            back = tab.page.get_by_role("link", name="‹ All operations")
            assert await back.is_visible() == (viewport == SMALL)
