"""Every page recovers when the server restarts."""

import signal
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import pytest
from playwright.async_api import Browser, Locator, expect

from tests.support.console import HTTP_ERROR, NETWORK_ERROR, Console, new_address, open_console
from tests.support.program import Program, link_params
from tests.support.tabs import Tab, open_tab

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

UNREACHABLE = "Can't reach the server. Is it running?"
SESSION_ENDED = "Your session has ended. Sign in again."


def expire(program: Program, token: str) -> None:
    """Expire a token in the database of a stopped program."""
    database = apsw.Connection(str(program.data / "tickover.db"))
    database.execute("update tokens set expires_at = 0 where digest = ?", (sha256(token.encode()).digest(),))
    assert database.changes() == 1
    database.close()


def restart(program: Program) -> None:
    program.environment["TICKOVER_PORT"] = str(urlsplit(program.url).port)
    program.start()


async def pause_timers(tab: Tab) -> None:
    """Let a page with an installed clock poll only on request, so that it recovers only when the test wants it to."""
    await tab.page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))


async def test_clock_pages_and_sign_in_recover_when_the_server_restarts(browser: Browser, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        visitor = Console(await stack.enter_async_context(open_tab(browser)), program)
        creator, late = [await stack.enter_async_context(open_console(browser, program)) for _ in range(2)]
        watcher = await stack.enter_async_context(open_console(browser, program, new_profile=True))
        await watcher.page.clock.install()
        for console in (visitor, creator, watcher, late):
            console.tab.ignored_prefixes = (NETWORK_ERROR, HTTP_ERROR)
        clock = watcher.create()
        await visitor.open()
        await creator.open("#/clocks/new")
        await expect(creator.button("Create Salary and rent")).to_be_visible()
        await watcher.open_clock(clock)
        await late.open_clock(late.create())
        program.kill()

        # The clock page polls, so it shows the error by itself. The preview still works.
        await watcher.poll()
        await expect(watcher.alert).to_contain_text(f"{UNREACHABLE} You see the last known state.")
        await watcher.button("+1 month").click()
        await expect(watcher.preview_summary).to_have_text("3 items would post; dips to −€1,150.00 on Jan 3.")
        await watcher.advance.click()
        await expect(watcher.alert).to_contain_text(UNREACHABLE)
        await visitor.page.get_by_label("Email").fill(new_address())
        await visitor.button("Send me a code").click()
        await expect(visitor.alert).to_have_text("Can't reach the server. Try again when it is running.")
        await creator.button("Create Salary and rent").click()
        await expect(creator.notification).to_contain_text("A retry doesn't create a second clock.")
        await creator.page.get_by_role("link", name="Back to your clocks").click()
        await expect(creator.alert).to_have_text(UNREACHABLE)

        await pause_timers(watcher.tab)
        expire(program, late.token)
        restart(program)
        await watcher.button("Try again now").click()
        await expect(watcher.notification).to_have_text("The server is available again.")
        await expect(watcher.alert).to_be_hidden()
        await watcher.advance.click()
        await expect(watcher.notification).to_have_text("Advanced to Feb 1, 2027. 3 items posted.")
        await visitor.button("Send me a code").click()
        await expect(visitor.heading("Enter your code")).to_be_visible()
        await creator.button("Try again").click()
        await expect(creator.heading("Start with a scenario")).to_be_visible()
        # A user whose session has ended signs in again and returns to the same page.
        await late.poll()
        await expect(late.notification).to_have_text(SESSION_ENDED)
        await late.sign_in(new_address())
        await expect(late.alert).to_contain_text("Clock not found.")


async def test_public_pages_recover_when_the_server_restarts(browser: Browser, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        login, reference, sender = [await stack.enter_async_context(open_tab(browser)) for _ in range(3)]
        mailbox = await stack.enter_async_context(open_tab(browser, new_profile=True))
        await mailbox.page.clock.install()
        program.send_code("ana@example.test")
        link = program.result("sendLoginCodeEmail", link_params("bo@example.test"))["loginUrl"]
        for tab, url in (
            (login, link),
            (mailbox, f"{program.url}/#/mailbox"),
            (reference, f"{program.url}/#/nowhere"),
            (sender, f"{program.url}/#/api/sendLoginCodeEmail"),
        ):
            tab.ignored_prefixes = (NETWORK_ERROR,)
            await tab.page.goto(url)
        emails = mailbox.page.get_by_role("region", name="Emails").get_by_role("listitem")
        await expect(emails).to_have_count(2)
        send = sender.page.get_by_role("button", name="Send", exact=True)
        await expect(send).to_be_visible()
        await expect(login.sign_in).to_be_focused()

        # A stopped server accepts the connection, but doesn't respond.
        program.process.send_signal(signal.SIGSTOP)
        await login.page.keyboard.press("Enter")
        await expect(login.status).to_have_text("Signing in…")
        await expect(login.sign_in).to_be_disabled()
        program.kill()
        await expect(login.status).to_have_text("Can't reach the server. Try again.")
        await reference.page.goto(f"{program.url}/#/api/sendLoginCodeEmail")
        await expect(reference.page.get_by_role("main")).to_contain_text(UNREACHABLE)
        await send.focus()
        await sender.page.keyboard.press("Enter")
        await expect(sender.status).to_have_text(UNREACHABLE)
        retry = await fail_polls(mailbox)
        await pause_timers(mailbox)

        restart(program)
        await expect(login.sign_in).to_be_focused()
        await login.page.keyboard.press("Enter")
        await expect(login.page.get_by_role("button", name="Sign out")).to_be_visible()
        await reference.page.get_by_role("button", name="Try again").click()
        await expect(reference.page.get_by_role("region", name="Try it")).to_be_visible()
        await expect(send).to_be_focused()
        await sender.page.get_by_label("email").first.fill(new_address())
        await send.press("Enter")
        await expect(sender.status).to_contain_text("sendLoginCodeEmail responded")
        await retry.press("Enter")
        await expect(mailbox.status).to_have_text("The server is available again.")
        await expect(retry).to_be_hidden()
        await expect(mailbox.page.get_by_label("Filter by address")).to_be_focused()


async def fail_polls(mailbox: Tab) -> Locator:
    """Focus the retry button. The next failed poll doesn't replace it."""
    poll = "() => { document.dispatchEvent(new Event('visibilitychange')); }"
    async with mailbox.page.expect_event("requestfailed"):
        await mailbox.evaluate(poll)
    await expect(mailbox.status).to_have_text(UNREACHABLE)
    retry = mailbox.page.get_by_role("button", name="Try again")
    await retry.focus()
    async with mailbox.page.expect_event("requestfailed"):
        await mailbox.evaluate(poll)
    # Timers run after the page has handled the error.
    await mailbox.evaluate("() => new Promise((resolve) => setTimeout(resolve))")
    await expect(retry).to_be_focused()
    return retry
