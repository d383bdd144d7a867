"""Every page recovers when the server restarts."""

import signal
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Browser, expect

from tests.browser.console import HTTP_ERROR, NETWORK_ERROR, Console, new_address, open_console
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params

UNREACHABLE = "Can't reach the server. Is it running?"
# On a page without content, the first sentence is the heading.
NO_CONTENT = "Can't reach the server Is it running?"


def restart(program: Program) -> None:
    program.environment["TICKOVER_PORT"] = str(urlsplit(program.url).port)
    program.start()


async def pause_timers(tab: Tab) -> None:
    """Let a page with an installed clock poll only on request, so that it recovers only when the test wants it to."""
    await tab.page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))


async def test_every_page_recovers_when_the_server_restarts(browser: Browser, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        login = await stack.enter_async_context(open_tab(browser, new_profile=True))
        visitor = Console(await stack.enter_async_context(open_tab(browser, new_profile=True)), program)
        creator = await stack.enter_async_context(open_console(browser, program))
        watcher = await stack.enter_async_context(open_console(browser, program, new_profile=True))
        await watcher.page.clock.install()
        mailbox = Tab(await watcher.page.context.new_page())
        for tab in (login, visitor.tab, creator.tab, watcher.tab, mailbox):
            tab.ignored_prefixes = (NETWORK_ERROR, HTTP_ERROR)
        # The installed clock can't run in the frame of an email.
        mailbox.ignored_prefixes += ("Blocked script execution",)

        await login.page.goto(program.result("sendLoginCodeEmail", link_params("bo@example.test"))["loginUrl"])
        await expect(login.sign_in).to_be_focused()
        await visitor.open()
        await creator.open("#/clocks/new")
        await expect(creator.button("Create Salary and rent")).to_be_visible()
        await watcher.open_clock(watcher.create())
        await mailbox.page.goto(f"{program.url}/#/mailbox")
        emails = mailbox.page.get_by_role("region", name="Emails").get_by_role("listitem")
        await expect(emails.first).to_be_visible()

        # A stopped server accepts the connection, but doesn't respond.
        program.process.send_signal(signal.SIGSTOP)
        await login.page.keyboard.press("Enter")
        await expect(login.status).to_have_text("Signing in…")
        await expect(login.sign_in).to_be_disabled()
        program.kill()
        await expect(login.status).to_have_text("Can't reach the server. Try again.")
        await fail_without_server(visitor, creator, watcher)
        await poll(mailbox)
        await expect(mailbox.status).to_have_text(UNREACHABLE)
        email = mailbox.page.get_by_role("article", name="Email")
        await emails.first.get_by_role("link").click()
        await expect(email).to_contain_text("The email appears when it is available again.")
        for tab in (watcher.tab, mailbox):
            await pause_timers(tab)

        restart(program)
        await expect(login.sign_in).to_be_focused()
        await login.page.keyboard.press("Enter")
        await expect(login.page.get_by_role("button", name="Sign out")).to_be_visible()
        await recover(visitor, creator, watcher)
        # The button disappears, so the focus moves to the filter.
        await mailbox.page.get_by_role("button", name="Try again").press("Enter")
        await expect(mailbox.status).to_have_text("The server is available again.")
        await expect(mailbox.page.get_by_label("Filter by address")).to_be_focused()
        await expect(email.get_by_role("tab", name="Source")).to_be_visible()
        mailbox.check()


async def poll(tab: Tab) -> None:
    await tab.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")


async def fail_without_server(visitor: Console, creator: Console, watcher: Console) -> None:
    # The clock page polls, so it shows the error by itself. The preview still works.
    await watcher.poll()
    await expect(watcher.alert).to_contain_text(f"{UNREACHABLE} You see the last known state.")
    await watcher.button("+1 month").click()
    await expect(watcher.preview_summary).to_have_text(
        "3 events would post: 2 transactions and 1 contribution; €0.00 → €1,650.50, dips to −€1,150.00 on 3 Jan."
    )
    await watcher.advance.click()
    await expect(watcher.alert).to_contain_text(UNREACHABLE)

    await visitor.page.get_by_label("Email").fill(new_address())
    await visitor.button("Send me a code").click()
    await expect(visitor.alert).to_have_text("Can't reach the server. Try again when it is running.")

    await creator.button("Create Salary and rent").click()
    await expect(creator.notification).to_contain_text("A retry doesn't create a second clock.")
    await creator.open("#/clocks")
    await expect(creator.alert).to_have_text(NO_CONTENT)


async def recover(visitor: Console, creator: Console, watcher: Console) -> None:
    await watcher.button("Try again now").click()
    await expect(watcher.notification).to_have_text("The server is back. The clock is at 1 Jan 2027.")
    await expect(watcher.alert).to_be_hidden()
    await watcher.advance.click()
    await expect(watcher.notification).to_have_text("3 events posted. Balance €1,650.50.")

    # The page remembers the email address.
    await visitor.button("Send me a code").click()
    await expect(visitor.heading("Enter your code")).to_be_visible()

    await creator.button("Try again").click()
    await expect(creator.heading("Start with a scenario")).to_be_visible()
