"""Operates the console like a user: finds elements by role and label."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from playwright.async_api import Browser, Locator, expect

from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program

JANUARY: dict[str, Any] = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {"name": "Rent", "amount": 1150, "currency": "EUR", "type": "EXPENSE", "at": "2027-01-03T08:00:00Z"},
        {"name": "Salary", "amount": 2800.5, "currency": "EUR", "type": "INCOME", "at": "2027-01-25T08:00:00Z"},
        {"name": "Rent", "amount": 1150, "currency": "EUR", "type": "EXPENSE", "at": "2027-02-03T08:00:00Z"},
    ],
    "goals": [
        {
            "name": "Trip",
            "targetAmount": 3000,
            "initialAmount": 500,
            "contributions": [{"amount": 310, "at": "2027-01-26T08:00:00Z"}],
        }
    ],
}

WITH_ACCOUNTS: dict[str, Any] = {
    **JANUARY,
    "accounts": [
        {"key": "checking", "name": "Checking", "currency": "EUR", "openingBalance": 900},
        {"key": "card", "name": "Card", "currency": "EUR", "type": "CREDIT_CARD"},
    ],
    "transactions": [
        JANUARY["transactions"][0],
        {**JANUARY["transactions"][0], "name": "Lunch", "amount": 30, "account": "card", "at": "2027-01-04T08:00:00Z"},
    ],
}

NEVER_BELOW_ZERO = {"balance": {"currency": "EUR", "atLeast": 0}}

_LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
HOSTILE_TEXTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><b onmouseover=alert(1)>bold</b><!--",
    "javascript:alert(1)",
    "${alert(1)} {{alert(1)}} `id` $(id) !! \\u0000 %s %00",
    "'; drop table clocks; --",
    "\u202ereversed\u202c and \u2066isolated\u2069",
    "القاهرة والإسكندرية",
    "👩‍👩‍👧‍👦🏳️‍🌈 Ｆｕｌｌ 東京 ⅷ ﷽",
    "Z̸̡̛͎̯̜̺̐͊̓͠a̷̢̗̦͛l̶̢̛̗̗̀g̷̖̈́ǫ̶̈́",
    _LONG,
    "W" * 120,
    "__proto__",
    "constructor",
    "null",
]
HOSTILE_CLOCK = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [
        {
            "name": name,
            "category": name[:80],
            "amount": 1,
            "currency": "EUR",
            "type": "EXPENSE",
            "at": f"2027-01-{day:02}T00:00:00Z",
        }
        for day, name in enumerate(HOSTILE_TEXTS, 2)
    ],
    "goals": [
        {"name": name, "targetAmount": 3, "contributions": [{"amount": 1, "at": "2027-01-02T00:00:00Z"}]}
        for name in HOSTILE_TEXTS
    ],
}

# The browser logs these messages for failed requests.
HTTP_ERROR = "Failed to load resource: the server responded with a status of"
NETWORK_ERROR = "Failed to load resource: net::ERR_"

# Stores the session in the first document of the tab. `name` keeps its value in the next documents.
_STORE_SESSION = """
if (window === top && !window.name) {
  window.name = "signed in by a test";
  localStorage.setItem("tickover", SESSION);
}
"""

# The page draws its parts in several frames.
_FINAL_TEXT = """async (element) => {
  for (let still = 0, last = ""; still < 10; last = element.textContent) {
    await new Promise(requestAnimationFrame);
    still = element.textContent === last ? still + 1 : 0;
  }
  return element.textContent;
}"""

_numbers = count(1)


def new_address() -> str:
    return f"guest{next(_numbers)}@example.test"


class Console:
    """The console in a tab, with the token of the signed-in user."""

    def __init__(self, tab: Tab, program: Program, token: str = "") -> None:
        self.tab = tab
        self.page = tab.page
        self.program = program
        self.token = token

    # Elements

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def heading(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("heading", name=name, level=1)

    @property
    def title(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    @property
    def notification(self) -> Locator:
        return self.tab.status

    @property
    def alert(self) -> Locator:
        """The visible alert."""
        return self.page.get_by_role("alert").filter(has_text=re.compile(r"\w"))

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Preview time")

    @property
    def plot(self) -> Locator:
        return self.page.get_by_role("img", name=re.compile("^Timeline from"))

    async def plot_range(self, before: str = "") -> str:
        """Return the time that the plot shows, once it shows another than `before`."""
        if before:
            await expect(self.plot).not_to_have_accessible_name(re.compile(f"^{re.escape(before)}\\."))
        return str(await self.plot.get_attribute("aria-label")).split(".")[0]

    @property
    def advance(self) -> Locator:
        return self.page.get_by_role("button", name=re.compile("^Advance (to|1)"))

    async def choose(self, item: str) -> None:
        """Choose an item of the clock's menu."""
        await self.button("More actions").click()
        await self.page.get_by_role("menuitem", name=item, exact=True).click()

    @property
    def preview_summary(self) -> Locator:
        """The summary of the preview, next to the advance button."""
        return self.page.locator("#preview-summary")

    async def final_preview_summary(self) -> str:
        """Return the summary after the page has drawn all earlier actions."""
        return str(await self.preview_summary.evaluate(_FINAL_TEXT))

    @property
    def rows(self) -> Locator:
        """The rows of the transaction table, without the header. The table hides rows long before and after now."""
        return self.page.get_by_role("region", name="Transactions").locator("tbody tr")

    @property
    def goals(self) -> Locator:
        return self.page.get_by_role("list", name="Goals").locator(":scope > li")

    async def states(self) -> list[str]:
        """Return the state of each transaction."""
        return [text or "" for text in await self.rows.locator("td.state-cell").all_text_contents()]

    # Actions in the browser

    async def open(self, path: str = "#/") -> None:
        await self.page.goto(f"{self.program.url}/{path}")

    async def request_code(self, email: str) -> None:
        await self.page.get_by_label("Email").fill(email)
        await self.button("Send me a code").click()
        await expect(self.heading("Enter your code")).to_be_visible()

    def code(self, email: str) -> str:
        """Return the code of the newest email to an address."""
        return str(self.program.request("GET", f"/mailbox/latest?to={email}").json["code"])

    async def sign_in(self, email: str) -> None:
        """Sign in with the one button of a development server."""
        await self.page.get_by_label("Email").fill(email)
        await self.button("Sign in").click()
        await expect(self.button("Sign out")).to_be_visible()
        self.token = (await self.session())["token"]

    async def store_session(self) -> None:
        """Sign in as a new user, unless there is a token, and let the next document store the session."""
        email = new_address()
        self.token = self.token or self.program.sign_in(email)
        session = json.dumps(json.dumps({"token": self.token, "email": email, "userId": ""}))
        await self.page.add_init_script(_STORE_SESSION.replace("SESSION", session))

    async def session(self) -> Any:
        return json.loads(await self.tab.evaluate("() => localStorage.getItem('tickover')") or "null")

    async def open_clock(self, id: str, query: str = "") -> None:
        await self.open(f"#/clock/{id}{query}")
        await expect(self.slider).to_be_visible()

    async def poll(self) -> None:
        """Let the page poll now, as after a return to its tab."""
        await self.tab.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")

    # Calls to the server

    def call(self, method: str, **params: Any) -> Any:
        return self.program.result(method, params, self.token)

    def create(self, params: dict[str, Any] = JANUARY) -> str:
        id: str = self.call("createTestClock", **params)["clock"]["id"]
        return id

    def clock(self, id: str) -> Any:
        return self.call("getTestClock", id=id)["clock"]


@asynccontextmanager
async def open_console(browser: Browser, program: Program, token: str = "", **options: Any) -> AsyncIterator[Console]:
    """Open a console with a session of a new user, or of the user with this token. It has no page yet."""
    async with open_tab(browser, **options) as tab:
        console = Console(tab, program, token)
        await console.store_session()
        yield console
