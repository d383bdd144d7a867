"""Link in an app's page with react-plaid-link, whose script and frame come from cdn.plaid.com."""

import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, FrameLocator, Page, Request, Route, expect

from tests.browser.axe import violations
from tests.browser.console import HOSTILE_TEXTS, WITH_ACCOUNTS
from tests.browser.firefox import run_in_firefox
from tests.browser.tabs import TIMEOUT_MS
from tests.support.npm_packages import tools
from tests.support.program import Program
from tests.support.repository import ROOT

APP = "https://app.example.test"
CDN = "https://cdn.plaid.com"
# A strict policy, as Plaid's documentation asks for.
_POLICY: Final = f"default-src 'none'; script-src 'self' {CDN}/link/v2/stable/; frame-src {CDN}; img-src data:"
_REPORT: Final = """
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error(`${violatedDirective} forbids ${blockedURI}`));"""
_USERS = count(1)


class LinkUser:
    """The user of an app, with a clock, and the app's server."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.token = program.sign_in(f"link{next(_USERS)}@example.test")
        self.secret = program.result("createAccessToken", {"name": "app"}, self.token)["token"]
        self.clock = self.create_clock("First Bank")

    def create_clock(self, name: str) -> str:
        id: str = self.program.result("createTestClock", {**WITH_ACCOUNTS, "name": name}, self.token)["clock"]["id"]
        return id

    def call(self, path: str, **members: Any) -> Any:
        call = {"client_id": "any", "secret": self.secret, **members}
        return self.program.request(
            "POST", f"/plaid{path}", json.dumps(call).encode(), {"Content-Type": "application/json"}
        ).json

    def link_token(self, **members: Any) -> str:
        settings = {
            "client_name": "Budget app", "language": "en", "country_codes": ["US"], "user": {"client_user_id": "1"},
        }  # fmt: skip
        if "access_token" not in members:
            settings["products"] = ["transactions"]
        token: str = self.call("/link/token/create", **settings, **members)["link_token"]
        return token

    def exchange(self, public_token: str) -> Any:
        return self.call("/item/public_token/exchange", public_token=public_token)


class AppPage:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame: FrameLocator = page.frame_locator("dialog iframe")
        self.messages: list[str] = []
        self.requests: list[Request] = []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("request", self._record_request)

    def _record_request(self, request: Request) -> None:
        self.requests.append(request)

    async def open(self, link_token: str) -> None:
        await self.page.goto(f"{APP}/?token={link_token}")
        await self.open_link()

    async def open_link(self) -> None:
        await self.page.get_by_role("button", name="Connect a bank").click()

    async def press(self, name: str) -> None:
        await self.frame.get_by_role("button", name=name, exact=True).click()

    async def calls(self, name: str) -> list[list[Any]]:
        """Return the arguments of each call of a function of the app."""
        found: list[list[Any]] = await self.page.evaluate("() => window.calls")
        return [arguments for called, *arguments in found if called == name]

    async def events(self) -> list[str]:
        return [name for name, _ in await self.calls("event")]

    async def wait_for(self, name: str) -> list[Any]:
        await self.page.wait_for_function("(name) => window.calls.some(([called]) => called === name)", arg=name)
        return (await self.calls(name))[-1]


@asynccontextmanager
async def open_app(browser: Browser, program: Program, **options: Any) -> AsyncIterator[AppPage]:
    context = await browser.new_context(reduced_motion="reduce", **options)
    context.set_default_timeout(TIMEOUT_MS)
    await context.add_init_script(_REPORT)
    await _serve(context, program)
    try:
        app = AppPage(await context.new_page())
        yield app
        assert app.messages == []
    finally:
        await context.close()


def _app_files() -> dict[str, Path]:
    """Return the files of the app by their paths."""
    node = ROOT / "tests" / "node"
    return {
        "/": node / "link_app.html",
        "/link_app.js": node / "link_app.js",
        "/react.js": tools() / "react" / "umd" / "react.production.min.js",
        "/react-dom.js": tools() / "react-dom" / "umd" / "react-dom.production.min.js",
        "/react-plaid-link.js": tools() / "react-plaid-link" / "dist" / "index.umd.js",
    }


async def _serve(context: BrowserContext, program: Program) -> None:
    """Serve the app, and Plaid's content delivery network from the bank."""
    files = _app_files()

    async def serve_app(route: Route) -> None:
        path: Path = files[urlsplit(route.request.url).path]
        await route.fulfill(path=path, headers={"content-security-policy": _POLICY})

    async def serve_bank(route: Route) -> None:
        path = route.request.url.removeprefix(CDN)
        await route.fulfill(response=await route.fetch(url=f"{program.url}/plaid{path}"))

    await context.route(f"{APP}/**", serve_app)
    await context.route(f"{CDN}/**", serve_bank)


# The app is on the same address as in the example.
_BEFORE_EXAMPLE = """
import { chromium } from "playwright";
const [executablePath, files] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.route("http://localhost:3000/**", (route) =>
  route.fulfill({ path: JSON.parse(files)[new URL(route.request().url()).pathname] }),
);
"""
_AFTER_EXAMPLE = """
await page.waitForFunction(() => window.calls.some(([name]) => name === "success"));
console.log(await page.evaluate(() => window.calls.find(([name]) => name === "success")[1]));
await browser.close();
"""


@pytest.fixture
def user(program: Program) -> LinkUser:
    return LinkUser(program)


async def test_user_connects_a_clock(browser: Browser, program: Program, user: LinkUser) -> None:
    LinkUser(program).create_clock("Of another user")
    user.create_clock(name="Second Bank")
    link_token = user.link_token()
    async with open_app(browser, program) as app:
        await app.open(link_token)
        choices = app.frame.get_by_role("listitem").get_by_role("button")
        await expect(choices).to_have_count(2)
        await expect(choices.first).to_have_accessible_name("Choose Second Bank")
        await expect(choices.first).to_have_accessible_description("at 1 Jan 2027")
        await app.press("Choose First Bank")
        await expect(app.frame.get_by_role("listitem")).to_have_count(2)
        await expect(app.frame.get_by_role("listitem").first).to_contain_text("Checking")
        await app.press("Continue")
        public_token, metadata = await app.wait_for("success")
        await expect(app.page.locator("dialog")).to_be_hidden()
        exchanged = user.exchange(public_token)
        accounts = user.call("/accounts/get", access_token=exchanged["access_token"])["accounts"]
        assert [each["id"] for each in metadata["accounts"]] == [each["account_id"] for each in accounts]
        item = user.call("/item/get", access_token=exchanged["access_token"])["item"]
        assert metadata["institution"] == {"institution_id": item["institution_id"], "name": "First Bank"}
        assert re.fullmatch("[0-9a-f]{32}", metadata["link_session_id"])
        assert await app.events() == ["OPEN", "SELECT_INSTITUTION", "HANDOFF"]
        selected = (await app.calls("event"))[1][1]
        assert (selected["institution_name"], selected["link_session_id"]) == (
            "First Bank",
            metadata["link_session_id"],
        )
        assert len(await app.calls("load")) == 1
        assert await app.calls("exit") == []
        # The link token is in no URL that a server sees.
        assert not [each.url for each in app.requests if CDN in each.url and link_token in each.url.partition("#")[0]]
        assert not [each.url for each in app.requests if each.headers.get("referer", "").startswith(f"{CDN}/link")]


async def test_cancel_asks_nothing(browser: Browser, program: Program, user: LinkUser) -> None:
    async with open_app(browser, program) as app:
        await app.open(user.link_token())
        await app.press("Cancel")
        error, metadata = await app.wait_for("exit")
        assert (error, metadata["institution"], metadata["status"]) == (None, None, None)
        assert metadata["request_id"] == ""
        await app.open_link()
        await app.press("Choose First Bank")
        await expect(app.frame.get_by_role("button", name="Continue")).to_be_visible()
        await app.page.evaluate("() => window.exitLink({ force: true })")
        await expect(app.page.locator("dialog")).to_be_hidden()
        error, metadata = (await app.calls("exit"))[1]
        assert (error, metadata["institution"]["name"]) == (None, "First Bank")
        assert metadata["status"] == "requires_account_selection"
        assert await app.events() == ["OPEN", "EXIT", "OPEN", "SELECT_INSTITUTION", "EXIT"]
        assert user.program.result("listTestClockConnections", {"id": user.clock}, user.token)["connections"] == []


async def test_link_works_with_the_keyboard_alone(browser: Browser, program: Program, user: LinkUser) -> None:
    async with open_app(browser, program) as app:
        keyboard = app.page.keyboard
        await app.page.goto(f"{APP}/?token={user.link_token()}")
        await expect(app.page.get_by_role("button")).to_be_enabled()
        await keyboard.press("Tab")
        for ending in ("Escape", "Enter"):
            await expect(app.page.get_by_role("button")).to_be_focused()
            await keyboard.press("Enter")
            await expect(app.frame.get_by_role("heading", name="Choose your bank")).to_be_focused()
            await keyboard.press("Tab")
            await expect(app.frame.get_by_role("button", name="Choose First Bank")).to_be_focused()
            await keyboard.press("Enter")
            await expect(app.frame.get_by_role("heading", name="First Bank")).to_be_focused()
            await keyboard.press("Tab")
            await expect(app.frame.get_by_role("button", name="Continue")).to_be_focused()
            await keyboard.press(ending)
            await expect(app.page.locator("dialog")).to_be_hidden()
        await expect(app.page.get_by_role("button")).to_be_focused()
        await app.wait_for("success")
        assert len(await app.calls("exit")) == 1


async def test_update_mode_repairs_the_login(browser: Browser, program: Program, user: LinkUser) -> None:
    item = {"institution_id": "ins_1", "initial_products": ["auth"]}
    public_token = user.call("/sandbox/public_token/create", **item)["public_token"]
    access = {"access_token": user.exchange(public_token)["access_token"]}
    user.call("/sandbox/item/reset_login", **access)
    assert user.call("/accounts/get", **access)["error_code"] == "ITEM_LOGIN_REQUIRED"
    async with open_app(browser, program) as app:
        await app.open(user.link_token(**access))
        await expect(app.frame.get_by_role("heading")).to_have_text("Sign in to First Bank again")
        await app.press("Continue")
        _, metadata = await app.wait_for("success")
        assert len(metadata["accounts"]) == 2
    assert len(user.call("/accounts/get", **access)["accounts"]) == 2


async def test_invalid_link_token_is_an_error(browser: Browser, program: Program) -> None:
    async with open_app(browser, program) as app:
        await app.open("link-sandbox-x")
        await expect(app.frame.get_by_role("alert")).to_contain_text("no longer valid")
        await app.press("Cancel")
        error, metadata = await app.wait_for("exit")
        assert (error["error_type"], error["error_code"]) == ("INVALID_INPUT", "INVALID_LINK_TOKEN")
        assert metadata["request_id"].startswith("req_")
        assert app.messages.pop().startswith("Failed to load resource")


async def test_many_clocks_are_shown_page_by_page(browser: Browser, program: Program, user: LinkUser) -> None:
    for number in range(51):
        user.create_clock(f"Clock {number}")
    async with open_app(browser, program) as app:
        await app.open(user.link_token())
        choices = app.frame.get_by_role("button", name=re.compile("^Choose"))
        await expect(choices).to_have_count(50)
        await app.press("Show more")
        await expect(choices).to_have_count(52)
        await expect(app.frame.get_by_role("button", name="Choose Clock 0", exact=True)).to_be_focused()
        await app.press("Choose First Bank")
        await expect(app.frame.get_by_role("button", name="Continue")).to_be_visible()


async def test_link_is_accessible_in_both_schemes_and_fits_a_phone(
    browser: Browser, program: Program, user: LinkUser
) -> None:
    for name in HOSTILE_TEXTS:
        user.create_clock(name)
    phone = {"width": 390, "height": 844}
    async with open_app(browser, program, bypass_csp=True, viewport=phone) as app:
        await app.open(user.link_token())
        for button in ("Choose W", "Continue"):
            await expect(app.frame.get_by_role("button", name=button).first).to_be_visible()
            frame = app.page.frames[1]
            for scheme in ("light", "dark"):
                await app.page.emulate_media(color_scheme=scheme)
                assert await violations(frame, {}) == []
            sizes = (
                "() => [innerWidth, document.documentElement.scrollWidth, document.querySelector('main').scrollWidth]"
            )
            assert await frame.evaluate(sizes) == [390] * 3
            await app.frame.get_by_role("button", name=button).first.click()
        await app.wait_for("success")


async def test_messages_of_other_pages_are_ignored(browser: Browser, program: Program, user: LinkUser) -> None:
    """Neither the app's page nor the frame trusts a message from elsewhere."""
    async with open_app(browser, program) as app:
        await app.open(user.link_token())
        await expect(app.frame.get_by_role("button", name="Choose First Bank")).to_be_visible()
        forged = """() => {
          const message = { type: "success", public_token: "forged", institution: null, accounts: [] };
          window.postMessage(message, "*");
          return new Promise((resolve) => setTimeout(resolve));
        }"""
        await app.page.evaluate(forged)
        assert await app.calls("success") == []
        # A page that names another origin than its own learns nothing, and can't open Link.
        await app.page.evaluate(
            """(url) => {
              window.received = [];
              addEventListener("message", ({ source, data }) => {
                if (source === window.attacked.contentWindow) window.received.push(data);
              });
              window.attacked = Object.assign(document.createElement("iframe"), { src: url, className: "attacked" });
              return new Promise((resolve) => {
                window.attacked.addEventListener("load", () => {
                  window.attacked.contentWindow.postMessage({ type: "open" }, "*");
                  setTimeout(resolve);
                });
                document.body.append(window.attacked);
              });
            }""",
            f"{CDN}/link/v2/stable/link.html#token={user.link_token()}&origin=https://other.example.test",
        )
        attacked = app.page.frame_locator(".attacked")
        await expect(attacked.get_by_role("status")).to_have_text("Loading…")
        await app.press("Choose First Bank")
        await app.press("Continue")
        await app.wait_for("success")
        assert await app.page.evaluate("() => window.received") == []
        await expect(attacked.get_by_role("button")).to_have_count(0)
        [refused] = set(app.messages)
        assert "https://other.example.test" in refused
        app.messages.clear()


def test_example_of_the_docs_connects_a_clock(program: Program, chromium: str, user: LinkUser, tmp_path: Path) -> None:
    user.create_clock("Salary and rent")
    page = (ROOT / "docs" / "bank.md").read_text("utf-8")
    [example] = re.findall(r"^```js\n(await page.route.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for written, here in (
        ("http://127.0.0.1:8000", program.url),
        ("http://localhost:3000/", f"http://localhost:3000/?token={user.link_token()}"),
    ):
        assert written in example
        example = example.replace(written, here)
    (tmp_path / "node_modules").symlink_to(tools())
    (tmp_path / "test.mjs").write_text(_BEFORE_EXAMPLE + example + _AFTER_EXAMPLE)
    files = json.dumps({name: str(path) for name, path in _app_files().items()})
    command = ["node", str(tmp_path / "test.mjs"), chromium, files]
    public_token = subprocess.check_output(command, text=True, timeout=240).strip()
    item = user.call("/item/get", access_token=user.exchange(public_token)["access_token"])["item"]
    assert item["institution_name"] == "Salary and rent"


def test_user_connects_a_clock_in_firefox(program: Program, user: LinkUser, tmp_path: Path) -> None:
    ran = run_in_firefox("firefox_link.mjs", tmp_path, program.url, user.link_token())
    exchanged = user.exchange(ran.strip())
    assert len(user.call("/accounts/get", access_token=exchanged["access_token"])["accounts"]) == 2
