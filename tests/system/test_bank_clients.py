"""Public clients of SimpleFIN and Plaid read a clock, unmodified, over HTTP.

Tests import them, because every worker imports this module, and the imports take a second.
"""

import json
import subprocess
from datetime import date
from typing import Any

import pytest

from tests.support.npm_packages import install_project
from tests.support.program import Program
from tests.support.repository import ROOT

ACCOUNTS = [
    {"key": "main", "name": "Main", "currency": "EUR", "openingBalance": 100},
    {"key": "card", "name": "Card", "currency": "EUR", "type": "CREDIT_CARD"},
    {"key": "loan", "name": "Loan", "currency": "USD", "type": "LOAN", "openingBalance": -10},
    {"key": "cash", "name": "Cash", "currency": "USD", "type": "CASH"},
]
TOOLS = ROOT / "tests" / "node"


def at(day: int) -> str:
    return f"2027-01-{day:02}T00:00:00Z"


class Owner:
    """The owner of a connected clock."""

    def __init__(self, program: Program, email: str) -> None:
        self.program = program
        self.token = program.sign_in(email)
        entry = {"currency": "EUR", "type": "EXPENSE"}
        params = {
            "frozenTime": at(1),
            "accounts": ACCOUNTS,
            "transfers": [{"at": at(1), "name": "To card", "from": "main", "to": "card", "amount": 20}],
            "transactions": [
                {**entry, "at": at(1), "name": "Tea", "amount": 2.5, "category": "Food"},
                {**entry, "at": at(4), "name": "Hotel", "amount": 80, "authorizedAt": at(2), "account": "card"},
            ],
        }
        self.clock = program.result("createTestClock", params, self.token)["clock"]["id"]

    def connect(self, protocol: str, *quirks: str) -> Any:
        params = {"id": self.clock, "protocol": protocol, "quirks": quirks}
        return self.program.result("connectTestClock", params, self.token)

    def create_secret(self) -> str:
        """Return an access token, which is the secret of an app that needs nothing else."""
        secret: str = self.program.result("createAccessToken", {"name": "app"}, self.token)["token"]
        return secret

    def advance(self, day: int) -> None:
        self.program.result("advanceTestClock", {"id": self.clock, "frozenTime": at(day)}, self.token)


@pytest.fixture
def owner(program: Program, request: pytest.FixtureRequest) -> Owner:
    return Owner(program, f"{request.node.name.replace('_', '-')}@example.test")


def test_plaid_for_python(owner: Owner) -> None:
    import plaid
    from plaid.api.plaid_api import PlaidApi

    keys = {"clientId": "any", "secret": "any"}
    with plaid.ApiClient(plaid.Configuration(host=f"{owner.program.url}/plaid", api_key=keys)) as opened:
        use_plaid(owner, PlaidApi(opened))


def use_plaid(owner: Owner, client: Any) -> None:
    """Call every method that the bank has."""
    import plaid
    from plaid.model.accounts_balance_get_request import AccountsBalanceGetRequest
    from plaid.model.accounts_get_request import AccountsGetRequest
    from plaid.model.country_code import CountryCode
    from plaid.model.institutions_get_by_id_request import InstitutionsGetByIdRequest
    from plaid.model.item_get_request import ItemGetRequest
    from plaid.model.item_public_token_exchange_request import ItemPublicTokenExchangeRequest
    from plaid.model.item_remove_request import ItemRemoveRequest
    from plaid.model.sandbox_item_reset_login_request import SandboxItemResetLoginRequest
    from plaid.model.transactions_get_request import TransactionsGetRequest
    from plaid.model.transactions_refresh_request import TransactionsRefreshRequest
    from plaid.model.transactions_sync_request import TransactionsSyncRequest

    public_token = owner.connect("PLAID")["publicToken"]
    exchanged = client.item_public_token_exchange(ItemPublicTokenExchangeRequest(public_token=public_token))
    access = {"access_token": exchanged.access_token}
    rows, cursor = {}, ""
    for day in (1, 2, 4):
        owner.advance(day)
        has_more = True
        while has_more:
            page = client.transactions_sync(TransactionsSyncRequest(**access, cursor=cursor, count=1))
            rows.update({each.transaction_id: (each.name, each.amount, each.pending, each.date) for each in page.added})
            for each in page.removed:
                del rows[each.transaction_id]
            cursor, has_more = page.next_cursor, page.has_more
        assert ("Hotel", 80, True, date(2027, 1, 2)) in rows.values() or day != 2
    assert sorted(rows.values()) == [
        ("Hotel", 80, False, date(2027, 1, 4)),
        ("Tea", 2.5, False, date(2027, 1, 1)),
        ("To card", -20, False, date(2027, 1, 1)),
        ("To card", 20, False, date(2027, 1, 1)),
    ]
    accounts = client.accounts_get(AccountsGetRequest(**access)).accounts
    assert [(each.name, str(each.subtype), each.balances.current) for each in accounts] == [
        ("Main", "checking", 77.5),
        ("Card", "credit card", 60),
        ("Loan", "loan", 10),
        ("Cash", "cash management", 0),
    ]
    assert len(client.accounts_balance_get(AccountsBalanceGetRequest(**access)).accounts) == 4
    dates = {"start_date": date(2027, 1, 1), "end_date": date(2027, 1, 31)}
    found = client.transactions_get(TransactionsGetRequest(**access, **dates))
    assert (found.total_transactions, found.transactions[0].name) == (4, "Hotel")
    client.transactions_refresh(TransactionsRefreshRequest(**access))
    item = client.item_get(ItemGetRequest(**access)).item
    institution = InstitutionsGetByIdRequest(institution_id=item.institution_id, country_codes=[CountryCode("US")])
    assert client.institutions_get_by_id(institution).institution.name == "Tickover Bank"
    assert client.sandbox_item_reset_login(SandboxItemResetLoginRequest(**access)).reset_login
    assert client.item_get(ItemGetRequest(**access)).item.error.error_code == "ITEM_LOGIN_REQUIRED"
    client.item_remove(ItemRemoveRequest(**access))
    with pytest.raises(plaid.ApiException) as failed:
        client.accounts_get(AccountsGetRequest(**access))
    assert (failed.value.status, json.loads(failed.value.body)["error_code"]) == (400, "INVALID_ACCESS_TOKEN")


def test_plaid_for_python_at_a_bank_with_quirks(owner: Owner) -> None:
    """The Hotel is pending from 2 January on, and booked on 4 January."""
    import plaid
    from plaid.api.plaid_api import PlaidApi

    keys = {"clientId": "any", "secret": "any"}
    with plaid.ApiClient(plaid.Configuration(host=f"{owner.program.url}/plaid", api_key=keys)) as opened:
        plain, same_id, stays = (
            SyncedBooks(owner, PlaidApi(opened), quirks)
            for quirks in ([], ["SAME_ID"], ["HOLDS_STAY", "REWRITES_NAMES", "UNLINKED"])
        )
        owner.advance(2)
        for books in (plain, same_id, stays):
            assert books.sync() == [("Hotel", True)]
        [pending] = plain.hotels
        owner.advance(4)
        assert plain.sync() == [("Hotel", False)]
        assert plain.hotels.keys().isdisjoint({pending})
        assert [each.pending_transaction_id for each in plain.hotels.values()] == [pending]
        [pending] = same_id.hotels
        assert same_id.sync() == [("Hotel", False)]
        assert [(id, each.pending_transaction_id) for id, each in same_id.hotels.items()] == [(pending, None)]
        assert stays.sync() == [("HOTEL *", False), ("Hotel", True)]
        assert {each.pending_transaction_id for each in stays.hotels.values()} == {None}
        owner.advance(5)
        assert stays.sync() == [("Hotel", False), ("Hotel", True)]
        owner.advance(6)
        for books in (plain, same_id, stays):
            assert books.sync() == [("Hotel", False)]


class SyncedBooks:
    """What an app knows of the Hotel by syncing with plaid-python."""

    def __init__(self, owner: Owner, client: Any, quirks: list[str]) -> None:
        from plaid.model.item_public_token_exchange_request import ItemPublicTokenExchangeRequest

        public_token = owner.connect("PLAID", *quirks)["publicToken"]
        exchanged = client.item_public_token_exchange(ItemPublicTokenExchangeRequest(public_token=public_token))
        self._rows: dict[str, Any] = {}
        self._client, self._access_token, self._cursor = client, exchanged.access_token, ""

    @property
    def hotels(self) -> dict[str, Any]:
        return {id: each for id, each in self._rows.items() if each.name.lower().startswith("hotel")}

    def sync(self) -> list[tuple[str, bool]]:
        """Return the names of the rows, without what a rewritten one ends with, and whether they are pending."""
        from plaid.model.transactions_sync_request import TransactionsSyncRequest

        page = self._client.transactions_sync(
            TransactionsSyncRequest(access_token=self._access_token, cursor=self._cursor)
        )
        assert not page.has_more
        assert self._rows.keys().isdisjoint(each.transaction_id for each in page.added)
        assert self._rows.keys() >= {each.transaction_id for each in (*page.modified, *page.removed)}
        self._rows |= {each.transaction_id: each for each in (*page.added, *page.modified)}
        for each in page.removed:
            del self._rows[each.transaction_id]
        self._cursor = page.next_cursor
        return sorted((each.name.rstrip("0123456789"), each.pending) for each in self.hotels.values())


def test_plaid_for_python_without_a_public_token(owner: Owner) -> None:
    import plaid
    from plaid.api.plaid_api import PlaidApi

    keys = {"clientId": "any", "secret": owner.create_secret()}
    with plaid.ApiClient(plaid.Configuration(host=f"{owner.program.url}/plaid", api_key=keys)) as opened:
        use_secret(PlaidApi(opened))


def use_secret(client: Any) -> None:
    """Call every method that needs to know the user."""
    from plaid.model.auth_get_request import AuthGetRequest
    from plaid.model.country_code import CountryCode
    from plaid.model.identity_get_request import IdentityGetRequest
    from plaid.model.institutions_get_request import InstitutionsGetRequest
    from plaid.model.institutions_search_request import InstitutionsSearchRequest
    from plaid.model.item_public_token_exchange_request import ItemPublicTokenExchangeRequest
    from plaid.model.link_token_create_request import LinkTokenCreateRequest
    from plaid.model.link_token_create_request_user import LinkTokenCreateRequestUser
    from plaid.model.link_token_get_request import LinkTokenGetRequest
    from plaid.model.products import Products
    from plaid.model.sandbox_public_token_create_request import SandboxPublicTokenCreateRequest

    countries, products = [CountryCode("US")], [Products("transactions")]
    [institution] = client.institutions_get(
        InstitutionsGetRequest(count=10, offset=0, country_codes=countries)
    ).institutions
    found = client.institutions_search(InstitutionsSearchRequest(query="bank", country_codes=countries))
    assert found.institutions == [institution]
    created = client.sandbox_public_token_create(
        SandboxPublicTokenCreateRequest(institution_id=institution.institution_id, initial_products=products)
    )
    exchanged = client.item_public_token_exchange(ItemPublicTokenExchangeRequest(public_token=created.public_token))
    numbers = client.auth_get(AuthGetRequest(access_token=exchanged.access_token)).numbers
    assert (len(numbers.ach), len(numbers.international)) == (1, 1)
    identity = client.identity_get(IdentityGetRequest(access_token=exchanged.access_token))
    assert [len(account.owners) for account in identity.accounts] == [1] * 4
    user = LinkTokenCreateRequestUser(client_user_id="1")
    settings = {"client_name": "App", "language": "en", "country_codes": countries, "user": user}
    link = client.link_token_create(LinkTokenCreateRequest(products=products, **settings))
    assert client.link_token_get(LinkTokenGetRequest(link_token=link.link_token)).expiration == link.expiration
    update = client.link_token_create(LinkTokenCreateRequest(access_token=exchanged.access_token, **settings))
    assert update.expiration < link.expiration


def test_plaid_for_node(owner: Owner) -> None:
    install_project(TOOLS)
    owner.advance(4)
    arguments = owner.program.url, owner.connect("PLAID")["publicToken"], owner.create_secret()
    command = ["node", str(TOOLS / "plaid_client.mjs"), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "added": [["Tea", 2.5, False], ["To card", 20, False], ["To card", -20, False], ["Hotel", 80, False]],
        "balances": [["Main", 77.5], ["Card", 60], ["Loan", 10], ["Cash", 0]],
        "institution": "Tickover Bank",
        "error": "INVALID_FIELD",
        "ibans": 1,
        "link": "App",
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_simplefin4py(owner: Owner) -> None:
    from simplefin4py import SimpleFin
    from simplefin4py.exceptions import SimpleFinAuthError, SimpleFinClaimError

    connected = owner.connect("SIMPLEFIN")
    access_url = await SimpleFin.claim_setup_token(connected["setupToken"])
    with pytest.raises(SimpleFinClaimError):
        await SimpleFin.claim_setup_token(connected["setupToken"])
    app = SimpleFin(access_url)
    before = await app.fetch_data()
    owner.advance(4)
    after = await app.fetch_data()
    balances = [[str(account.balance) for account in data.accounts] for data in (before, after)]
    assert balances == [["77.50", "20.00", "-10.00", "0.00"], ["77.50", "-60.00", "-10.00", "0.00"]]
    assert [each.description for each in after.accounts[1].transactions] == ["To card", "Hotel"]
    owner.program.result(
        "disconnectTestClock", {"id": owner.clock, "connectionId": connected["connection"]["id"]}, owner.token
    )
    with pytest.raises(SimpleFinAuthError):
        await app.fetch_data()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_simplefin4py_at_a_bank_with_quirks(owner: Owner) -> None:
    from simplefin4py import SimpleFin

    connected = owner.connect("SIMPLEFIN", "HOLDS_AS_BOOKED", "HOLDS_STAY", "REWRITES_NAMES", "NO_IDS")
    app = SimpleFin(await SimpleFin.claim_setup_token(connected["setupToken"]))
    balances = {}
    for day, expected in {2: ["Hotel"], 4: ["HOTEL *", "Hotel"], 5: ["Hotel", "Hotel"], 6: ["Hotel"]}.items():
        owner.advance(day)
        card = (await app.fetch_data()).accounts[1]
        assert {each.id for each in card.transactions} == {"0"}
        names = sorted(each.description.rstrip("0123456789") for each in card.transactions)
        assert [name for name in names if name.lower().startswith("hotel")] == expected
        balances[day] = str(card.balance)
    assert balances == {2: "20.00", 4: "-60.00", 5: "-60.00", 6: "-60.00"}
