"""The main path of the console in Firefox."""

import re
from pathlib import Path

from tests.support.console import new_address
from tests.support.firefox import FirefoxTab, is_internal_error, open_firefox
from tests.support.program import Program

# All tests of a process share the event loop.

STATUS = "[role=status]"
BALANCE = ".figures .figure:nth-child(2) .figure-value"


async def test_error_with_a_script_of_the_page_on_its_stack_is_reported() -> None:
    origin = "http://127.0.0.1:8000"
    error = {"text": "Error: Permission denied to access property"}
    internal = {"callFrames": [{"url": "chrome://remote/content/x.js"}, {"url": f"{origin}1/other.js"}]}
    ours = {"callFrames": [*internal["callFrames"], {"url": f"{origin}/assets/app.js"}]}
    assert is_internal_error(error, origin)
    assert is_internal_error(error | {"stackTrace": internal}, origin)
    assert not is_internal_error(error | {"stackTrace": ours}, origin)
    assert not is_internal_error({"text": "Error: other", "stackTrace": internal}, origin)


async def test_new_user_completes_a_first_session_in_firefox(program: Program, tmp_path: Path) -> None:
    async with open_firefox(tmp_path) as tab:
        await sign_in_with_code_from_mailbox(tab, program)
        await tab.click("button", "Create Salary and rent")
        await tab.wait_for_text("h1", "Salary and rent")
        await advance_to_clicked_time(tab)
        await tab.click("button", "Fork…")
        await tab.click("button", "Fork")
        await tab.wait_for_text("h1", "Fork of Salary and rent")
        await tab.click("button", "More actions")
        await tab.click("menuitem", "Delete…")
        await tab.click("button", "Delete clock")
        await tab.wait_for_text(STATUS, "The clock was deleted.")
        await tab.find("link", "Salary and rent")
        await tab.click("button", "Sign out")
        await tab.wait_for_text(STATUS, "You are signed out.")
        assert await tab.evaluate("() => sessionStorage.length + localStorage.length") == 0
        assert tab.messages == []


async def sign_in_with_code_from_mailbox(tab: FirefoxTab, program: Program) -> None:
    email = new_address()
    await tab.goto(program.url)
    await tab.wait_for("document.activeElement.type === 'email'")
    await tab.type(email)
    await tab.click("button", "Send me a code")
    await tab.wait_for_text("h1", "Enter your code")
    await tab.goto(f"{program.url}/#/mailbox?to={email}")
    await tab.wait_for_text(".email-list a", email)
    await tab.evaluate("() => document.querySelector('.email-list a').focus()")
    await tab.type("\ue007")
    await tab.wait_for_text("article.email", "Copy code")
    code = await tab.text(".code-digits")
    # The page still asks for the code.
    await tab.goto(f"{program.url}/#/clocks/new")
    await tab.click("textbox", "Six-digit code")
    await tab.type(code)
    await tab.wait_for_text(STATUS, f"You are signed in as {email}.")


async def advance_to_clicked_time(tab: FirefoxTab) -> None:
    """Advancing changes the balance and the chart."""
    balance, posted_before = await tab.text(BALANCE), await posted_in_chart(tab)
    await tab.click_at(".plot", 0.6)
    await tab.wait_for_text("#preview-summary", "events would post")
    would_post = int((await tab.text("#preview-summary")).split()[0])
    await tab.click_at(".advance", 0.5)
    await tab.wait_for_text(STATUS, f"{would_post} events posted. Balance")
    assert await posted_in_chart(tab) == posted_before + would_post
    assert await tab.text(BALANCE) != balance


async def posted_in_chart(tab: FirefoxTab) -> int:
    """Return how many items the chart shows as posted."""
    label = await tab.evaluate("() => document.querySelector('.plot').ariaLabel")
    posted = re.search("([0-9]+) of [0-9]+ events posted", label)
    assert posted, label
    return int(posted[1])
