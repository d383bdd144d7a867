"""The account page of the console."""

from playwright.async_api import expect

from tests.browser.console import HTTP_ERROR, Console
from tests.support.program import Program

HOSTILE_NAME = "<img src=x onerror=alert(1)>"


async def test_token_is_created_copied_and_revoked(console: Console, program: Program) -> None:
    page = console.page
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await console.open("#/clocks")
    await page.get_by_role("banner").get_by_role("link", name="@example.test").click()
    section = page.get_by_role("region", name="Access tokens")
    await expect(section).to_contain_text("You have no access tokens.")
    await page.get_by_label("Name", exact=True).fill(HOSTILE_NAME)
    await page.get_by_label("Expires after (days)").fill("7")
    await page.get_by_label("Read only").check()
    await console.button("Create token").click()
    await console.button("Copy token").click()
    await expect(console.notification).to_have_text("Copied the token.")
    token = await console.tab.evaluate("() => navigator.clipboard.readText()")
    await expect(section).to_contain_text(token)
    row = section.get_by_role("listitem").filter(has_text=HOSTILE_NAME)
    await expect(row).to_contain_text("read only")
    assert program.result("listTestClocks", {}, token) == {"clocks": []}

    # The request inspector hides the token, and another visit doesn't show it again.
    await console.button("Requests").click()
    await page.get_by_role("tab", name="JSON").click()
    response = page.get_by_role("group", name="Response")
    await expect(response).to_contain_text(HOSTILE_NAME)
    assert token not in await response.inner_text()
    await console.open("#/clocks")
    await console.open("#/account")
    await expect(row).to_contain_text("last used")
    assert token not in await page.content()

    await row.get_by_role("button").click()
    await console.button("Revoke token").click()
    await expect(console.notification).to_have_text(f"Revoked “{HOSTILE_NAME}”.")
    await expect(section).to_contain_text("You have no access tokens.")
    assert program.call("listTestClocks", {}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"


async def test_sign_out_everywhere_revokes_the_token_and_ends_the_session(console: Console, program: Program) -> None:
    token = console.token
    await console.open("#/account")
    await console.button("Sign out everywhere").click()
    await expect(console.page.get_by_label("Email")).to_be_visible()
    assert program.call("listTestClocks", {}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"


async def test_account_is_deleted_after_a_question(console: Console, program: Program) -> None:
    clock, token = console.create(), console.token
    await console.open("#/account")
    await console.button("Delete account").click()
    await console.page.get_by_role("dialog").get_by_role("button", name="Delete account").click()
    await expect(console.page.get_by_label("Email")).to_be_visible()
    assert program.call("getTestClock", {"id": clock}, token)["error"]["data"]["reason"] == "UNAUTHENTICATED"
