"""The page for a new clock: amounts in local formats, the JSON editor and slow creation."""

import asyncio
import json
import re

from playwright.async_api import Browser, Route, expect

from tests.browser.console import HTTP_ERROR, Console, open_console
from tests.support.program import Program


async def test_invalid_fields_are_marked(console: Console) -> None:
    page = console.page
    await console.open("#/clocks/new")
    await page.get_by_role("tab", name="Form").click()
    # A new form has one row.
    rows = page.get_by_role("group", name="Transactions").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await expect(page.locator(".draft-preview")).to_have_text("The balance appears here when you enter an amount.")
    await page.get_by_label("Amount").fill("0x10")
    await page.get_by_label("Time (UTC)").fill("tomorrow")
    await page.get_by_label("Start (UTC)").fill("2027-01-01")
    await expect(page.get_by_label("Repeat until (UTC)")).to_have_attribute("placeholder", "2027-07-01 00:00")
    await page.get_by_label("Repeat until (UTC)").fill("2027-04-30 24")
    await console.button("Create clock").click()
    await expect(console.alert).to_contain_text("Nothing was sent. Check the marked fields.")
    await expect(page.get_by_label("Repeat until (UTC)")).to_be_focused()
    await expect(page.get_by_text("Amount must be a number, for example 1,234.5.")).to_be_visible()
    await expect(page.get_by_text("must be a time, for example 2027-01-31 09:00")).to_have_count(2)
    assert "createTestClock" not in console.tab.methods
    await page.get_by_label("Amount").fill("2,800")
    await page.get_by_label("Time (UTC)").fill("2027-01-31 09:00")
    await page.get_by_label("Repeat until (UTC)").fill("2027-04-30")
    await expect(page.locator(".draft-dates span")).to_have_text(["31 Jan 2027", "31 Jan 2027"])
    await page.get_by_role("tab", name="JSON").click()
    [transaction] = json.loads(await page.get_by_label("Parameters").input_value())["transactions"]
    assert (transaction["amount"], transaction["at"]) == (2800, "2027-01-31T09:00:00Z")
    await page.get_by_role("tab", name="Form").click()
    console.tab.ignored_prefixes = (f"{HTTP_ERROR} 400",)
    await console.button("Create clock").click()
    await expect(console.alert).to_contain_text("The server rejected one field.")
    await expect(rows.get_by_label("Name")).to_be_focused()
    await expect(rows.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    await console.button("Remove this transaction").click()
    await page.get_by_role("tab", name="TOML").click()
    await page.get_by_role("tab", name="Form").click()
    await expect(rows).to_have_count(0)


COFFEE = {"name": "Coffee", "amount": 2.805, "currency": "EUR", "type": "EXPENSE", "at": "2027-01-02T00:00:00Z"}


INVALID_FOR_THE_FORM = (
    '{"frozenTime": "2027-01-',
    "[]",
    json.dumps({"frozenTime": "2027-01-01T00:00:00.5Z"}),
    json.dumps({"transactions": [COFFEE | {"note": "black"}]}),
)


async def test_json_is_unchanged_after_a_visit_of_the_form(browser: Browser, program: Program) -> None:
    text = json.dumps({"frozenTime": "2027-01-01T00:00:00+01:00", "goals": [], "transactions": [COFFEE]})
    async with open_console(browser, program, locale="de-DE") as console:
        page = console.page
        await console.open("#/clocks/new")
        await page.get_by_role("tab", name="JSON").click()
        await page.get_by_label("Parameters").fill(text)
        await page.get_by_role("tab", name="Form").click()
        await expect(page.get_by_label("Start (UTC)")).to_have_value("2026-12-31 23:00")
        await expect(page.get_by_label("Amount")).to_have_value("2,805")
        await page.get_by_role("tab", name="JSON").click()
        await expect(page.get_by_label("Parameters")).to_have_value(text)
        await page.get_by_role("tab", name="Form").click()
        await page.get_by_role("group", name="Transactions").get_by_label("Name").fill("Tea")
        await page.get_by_role("tab", name="JSON").click()
        written = json.loads(await page.get_by_label("Parameters").input_value())
        assert written == {"frozenTime": "2026-12-31T23:00:00Z", "transactions": [COFFEE | {"name": "Tea"}]}
        for text in INVALID_FOR_THE_FORM:
            await page.get_by_label("Parameters").fill(text)
            await page.get_by_role("tab", name="Form").click()
            await expect(console.alert).to_contain_text("The form")
            await expect(page.get_by_label("Parameters")).to_have_value(text)
        await page.get_by_role("tab", name="Scenarios").click()
        await page.get_by_role("tab", name="Form").click()
        await expect(console.alert).to_contain_text("The form")
        await expect(page.get_by_label("Parameters")).to_have_value(INVALID_FOR_THE_FORM[-1])


async def test_slow_creation_blocks_a_second_one_and_does_not_navigate_away(console: Console) -> None:
    page = console.page
    held: asyncio.Future[Route] = asyncio.get_running_loop().create_future()

    async def hold(route: Route) -> None:
        if "createTestClock" in (route.request.post_data or ""):
            held.set_result(route)
        else:
            await route.continue_()

    await page.route("**/rpc", hold)
    await console.open("#/clocks/new")
    await console.button("Create Salary and rent").click()
    route = await held
    await console.button("Create Student").click()
    await expect(console.notification).to_have_text("Another clock is being created. Try again when it is ready.")
    # The mailbox has its own notifications.
    await page.get_by_role("banner").get_by_role("link", name="@example.test").click()
    await expect(console.heading("Account")).to_be_visible()
    await route.continue_()
    await expect(console.notification).to_have_text("“Salary and rent” was created. It is in your clocks.")
    assert page.url.endswith("#/account")
    assert console.tab.methods.count("createTestClockFromScenario") == 1


async def test_edited_scenario_shows_an_error_beside_its_line_and_is_kept_in_the_gallery(console: Console) -> None:
    page = console.page
    await console.open("#/clocks/new")
    await console.button("Edit Salary and rent").click()
    editor = page.get_by_label("Scenario in TOML")
    text = await editor.input_value()
    assert 'every = "' in text
    await editor.fill(text.replace("every =", "evry =", 1))
    await expect(console.alert).to_have_text(
        re.compile('^line [0-9]+, transaction 1 .*unknown key "evry"; did you mean "every"')
    )
    line = text[: text.index("every =")].count("\n") + 1
    number = page.locator(".gutter .faulty")
    await expect(number).to_have_text(str(line))
    await console.button("Save to my scenarios").click()
    await page.reload()
    await expect(console.button("Edit My scenario")).to_be_visible()
    await expect(console.button("Create My scenario")).to_have_count(0)
    await console.button("Edit My scenario").click()
    await editor.fill(text.replace("Salary and rent", "My <b>month</b>"))
    await expect(console.alert).to_be_hidden()
    await expect(page.locator(".draft-preview")).to_contain_text("transactions")
    await console.button("Save to my scenarios").click()
    await page.get_by_role("tab", name="Scenarios").click()
    await console.button("Create My <b>month</b>").click()
    await expect(console.heading("My <b>month</b>")).to_be_visible()
    assert "expandScenario" in console.tab.methods
    await console.open("#/clocks/new")
    await console.button("Delete My <b>month</b>").click()
    await console.button("Delete scenario").click()
    await expect(console.button("Create My <b>month</b>")).to_have_count(0)
    await expect(console.button("Create Salary and rent")).to_be_visible()


async def test_new_clock_has_the_expectations_of_its_form(console: Console) -> None:
    page, keyboard = console.page, console.page.keyboard
    await console.open("#/clocks/new")
    await page.get_by_role("tab", name="Form").click()
    await page.get_by_label("Start (UTC)").fill("2027-01-01")
    [row] = await page.get_by_role("group", name="Transactions").get_by_role("listitem").all()
    await row.get_by_label("Name").fill("Rent")
    await row.get_by_label("Amount").fill("450")
    await row.get_by_label("Currency").fill("CHF")
    await row.get_by_label("Time (UTC)").fill("2027-01-03")
    section = page.get_by_role("group", name="Expectations", exact=True)
    added = section.locator(".expectation")
    await console.button("Add an expectation").click()
    await section.get_by_label("Amount").fill("many")
    # Enter adds the expectation. It doesn't create the clock.
    await keyboard.press("Enter")
    await expect(section.get_by_role("alert")).to_contain_text("must be a number")
    await section.get_by_label("Amount").fill("-500")
    await expect(page.locator(".draft-preview .dot.below-zero")).to_have_count(1)
    await keyboard.press("Enter")
    await expect(added).to_have_text(["CHF balance never below −CHF\xa0500.00"])
    await expect(console.button("Add an expectation")).to_be_focused()
    await expect(page.locator(".draft-preview .dot.below-zero")).to_have_count(0)
    await keyboard.press("Enter")
    await section.get_by_label("Expectation", exact=True).select_option("Transaction posted")
    await console.button("Add expectation").click()
    await expect(section.get_by_label("Name")).to_be_focused()
    await section.get_by_label("Name").fill("Rent")
    for day in ("tomorrow", "2027-02-30"):
        await section.get_by_label("By (UTC)").fill(day)
        await console.button("Add expectation").click()
        await expect(section.get_by_role("alert")).to_contain_text("must be a day")
    # An expectation that isn't added is not lost.
    await console.button("Create clock").click()
    await expect(console.alert.last).to_have_text("Nothing was sent. Add the expectation, or cancel it.")
    await section.get_by_label("By (UTC)").fill("2027-02-01")
    await console.button("Add expectation").click()
    await expect(added).to_have_count(2)
    await console.button("Add an expectation").click()
    await keyboard.press("Escape")
    await expect(console.button("Add an expectation")).to_be_focused()
    # Other tabs don't lose them.
    await page.get_by_role("tab", name="JSON").click()
    await expect(page.get_by_label("Parameters of createTestClock")).to_have_value(re.compile("expectations"))
    await page.get_by_role("tab", name="Form").click()
    await expect(added).to_have_count(2)
    await added.first.get_by_role("button").click()
    await expect(added).to_have_text(["“Rent” posted by 1 Feb 2027"])
    await console.button("Create clock").click()
    panel = page.get_by_role("region", name="Expectations").locator(".expectation")
    await expect(panel).to_have_count(1)
    await expect(panel).to_contain_text("“Rent” posted by 1 Feb 2027: will hold")


async def test_bank_file_becomes_a_scenario(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    page = console.page
    await console.open("#/clocks/new")
    rows = [f"03/0{month}/2027,Rent,-840.50" for month in range(1, 6)]
    bank_file = "\n".join(["Date,Description,Amount", *rows])
    async with page.expect_file_chooser() as chooser:
        await console.button("import a bank file").click()
    await (await chooser.value).set_files(
        {"name": "checking.csv", "mimeType": "text/csv", "buffer": bank_file.encode()}
    )
    # The file says neither which date comes first nor its currency.
    await console.button("Import").click()
    await page.get_by_label("Currency").fill("CHF")
    await console.button("Import").click()
    await expect(page.get_by_label("Scenario in TOML")).to_have_value(re.compile('title = "checking"'))
    await expect(page.locator(".draft-preview")).to_contain_text("5 transactions")
    # A clock holds more than the preview.
    editor = page.get_by_label("Scenario in TOML")
    daily = '\n[[transactions]]\nname = "Coffee"\namount = 3\ncurrency = "CHF"\ntype = "expense"\nevery = "day"\n'
    await editor.fill(await editor.input_value() + daily)
    await expect(page.locator(".draft-preview")).to_have_text(re.compile("too long for a preview"))
    await console.button("Create clock").click()
    await expect(console.heading("checking")).to_be_visible()
    await expect(page.locator(".counts")).to_have_text("126 transactions")
