"""The console behind nginx, at a public URL with a path."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.browser.console import Console, new_address
from tests.browser.tabs import Tab
from tests.support.nginx import program_behind_nginx
from tests.support.program import Program, link_params


@pytest.fixture(scope="module")
def behind_nginx(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, str]]:
    with program_behind_nginx(tmp_path_factory.mktemp("nginx")) as started:
        yield started


class PublicConsole(Console):
    """The console at the public URL."""

    def __init__(self, tab: Tab, program: Program, url: str) -> None:
        super().__init__(tab, program)
        self.url = url

    async def open(self, path: str = "#/") -> None:
        await self.page.goto(f"{self.url}/{path}")


def paths_below(tab: Tab) -> set[str]:
    """Return the requested paths below the prefix. Fail if there are others."""
    paths = {urlsplit(request.url).path for request in tab.requests if not request.url.startswith("data:")}
    assert {path for path in paths if not path.startswith("/tickover/")} == set()
    return {path.removeprefix("/tickover") for path in paths}


async def test_console_works_below_the_path(behind_nginx: tuple[Program, str], tab: Tab) -> None:
    # Another Tickover at the root of the same host has a session.
    root_session = json.dumps(json.dumps({"token": "tko_other", "email": "other@example.test", "userId": ""}))
    await tab.page.add_init_script(f"if (window === top) localStorage.setItem('tickover', {root_session})")
    console = PublicConsole(tab, *behind_nginx)
    page = console.page
    email = new_address()
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    await page.get_by_label("Email").fill(email)
    await console.button("Sign in").click()
    await expect(console.notification).to_have_text(f"You are signed in as {email}.")
    assert "tickover/tickover" in await tab.evaluate("() => Object.keys(localStorage)")
    await console.button("Requests").click()
    await expect(page.locator("#request-inspector")).to_contain_text(f"{console.url}/rpc")
    await console.open("#/clocks/new")
    await page.get_by_role("button", name="Create").first.click()
    await expect(console.slider).to_be_visible()
    await console.open("#/mailbox")
    await page.get_by_role("main").get_by_role("link", name=email).first.click()
    email_frame = page.frame_locator("iframe")
    await expect(email_frame.locator("body")).to_contain_text("code")
    await page.get_by_role("link", name="API").click()
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    document = page.get_by_role("link", name="openrpc.json")
    assert await document.evaluate("(link) => link.href") == f"{console.url}/openrpc.json"
    requested = paths_below(tab)
    assert {
        "/",
        "/rpc",
        "/site.json",
        "/scenarios.json",
        "/mailbox/latest",
        "/mailbox/emails.json",
        "/docs",
    } <= requested


async def test_login_links_work_below_the_path(behind_nginx: tuple[Program, str], tab: Tab) -> None:
    program, url = behind_nginx
    link = program.result("sendLoginCodeEmail", link_params(new_address()))["loginUrl"]
    await tab.page.goto(link)
    await tab.sign_in.click()
    await expect(tab.page.get_by_role("button", name="Sign out")).to_be_visible()
    assert tab.page.url.partition("#")[0] == f"{url}/"
    assert {"/login", "/rpc", "/"} <= paths_below(tab)
