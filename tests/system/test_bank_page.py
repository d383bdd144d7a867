"""The examples in docs/bank.md run, in one story with a clock, its owner's shell and an app."""

import json
import re
import shlex
import subprocess
from base64 import b64decode, b64encode
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import pytest

from tests.support.debian_packages import require_program
from tests.support.npm_packages import tools
from tests.support.program import Program
from tests.support.repository import ROOT
from tests.system.shells import Shell
from tickover.cli.root import root
from tickover.client import Tickover

pytest_plugins = ["pytester"]

PAGE = (ROOT / "docs" / "bank.md").read_text("utf-8")
_USER_NUMBERS = count(1)
_EXCHANGE = "/item/public_token/exchange"
_FAULTS = PAGE.partition("| Kind | Plaid | SimpleFIN |")[2].partition("\n\n")[0]
_KINDS = re.findall(r"^\| `([A-Z_]+)` \| (.+?) \| (.+?) \|$", _FAULTS, re.MULTILINE)
_SYNC = """

const { data } = await client.itemPublicTokenExchange({ public_token: process.argv[2] });
console.log(data.access_token);
"""
_APP = '''
import plaid
from plaid.api import plaid_api


class BudgetApp:
    """An app that syncs once, with plaid-python."""

    def __init__(self, plaid_url, public_token):
        keys = {"clientId": "any", "secret": "any"}
        self._client = plaid_api.PlaidApi(plaid.ApiClient(plaid.Configuration(host=plaid_url, api_key=keys)))
        self._token = self._client.item_public_token_exchange({"public_token": public_token}).access_token
        self.transactions = set()

    def sync(self):
        added = self._client.transactions_sync({"access_token": self._token}).added
        self.transactions |= {transaction.name for transaction in added}
'''


def block(start: str, kind: str = "") -> str:
    """Return the only example that begins with this text."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    found: str
    [found] = [text for written, text in blocks if written == kind and text.startswith(start)]
    return found


@pytest.fixture
def shell(program: Program, tmp_path: Path) -> Shell:
    """The shell of a user with a clock at 2027-01-05."""
    opened = Shell(tmp_path / "config", program.url)
    assert opened("login", f"bank{next(_USER_NUMBERS)}@example.test").code == 0
    assert opened("clock", "create", "salary-and-rent", "--from", "2027-01-05").code == 0
    return opened


def connect(shell: Shell) -> str:
    """Run the page's first command, and return the token that it prints."""
    words = shlex.split(block("tickover clock connect --plaid\n"))
    return shell(*words[1:]).out.strip()


def post(connection: HTTPConnection, path: str, params: dict[str, Any]) -> Any:
    keys = {"client_id": "any", "secret": "any"}
    connection.request("POST", path, json.dumps(keys | params), {"Content-Type": "application/json"})
    with closing(connection):
        return json.loads(connection.getresponse().read())


def test_public_token_is_exchanged_with_each_example(program: Program, shell: Shell, tmp_path: Path) -> None:
    def as_run(example: str) -> str:
        assert "http://127.0.0.1:8000" in example
        return example.replace("http://127.0.0.1:8000", program.url)

    curl = as_run(block("curl")).replace("public-sandbox-…", connect(shell))
    words = shlex.split(curl.replace("\\\n", ""))
    answer = subprocess.check_output([require_program("curl"), "--silent", *words[1:]], text=True)
    assert json.loads(answer)["access_token"].startswith("access-sandbox-")

    names: dict[str, Any] = {}
    exec(as_run(block("import plaid", "python")), names)
    with names["client"].api_client:
        exchanged = names["client"].item_public_token_exchange({"public_token": connect(shell)})
    assert exchanged.access_token.startswith("access-sandbox-")

    (tmp_path / "node_modules").symlink_to(tools())
    (tmp_path / "app.mjs").write_text(as_run(block("import", "js")) + _SYNC)
    printed = subprocess.check_output(["node", str(tmp_path / "app.mjs"), connect(shell)], text=True)
    assert printed.startswith("access-sandbox-")


def test_app_without_a_public_token_connects_a_clock(program: Program, shell: Shell) -> None:
    words = shlex.split(block("tickover token create"))
    names: dict[str, Any] = {"PLAID_SECRET": shell(*words[1:]).out.strip()}
    for start in ("import plaid", "from plaid.model"):
        exec(block(start, "python").replace("http://127.0.0.1:8000", program.url), names)
    with names["client"].api_client:
        [connected] = shell("clock", "connections", "--json").json["connections"]
        assert connected["id"] == names["item"].item_id


def test_page_loads_link_from_the_server(program: Program) -> None:
    [path] = re.findall(r'src="http://127.0.0.1:8000(.*?)"', block("<script", "html"))
    response = program.request("GET", path)
    assert (response.status, response.headers["content-type"]) == (200, "text/javascript; charset=utf-8")


def test_python_of_the_page_connects_a_clock(program: Program, shell: Shell) -> None:
    [expression] = re.findall(r"`(clock[.]connect\([^`]*)`", PAGE)
    with Tickover(program.url, shell.token) as client:
        [listed] = client.list_clocks()
        clock = client.get_clock(listed.id)
        assert eval(expression, {"clock": clock}).startswith("public-sandbox-")
        connected = eval(block("clock.connect", "python"), {"clock": clock}).connection
    [fault] = connected.faults
    command = block("tickover clock connect --plaid --fault")
    assert shell(*shlex.split(command)[1:], "--json").json["connection"]["faults"] == [
        {"kind": fault.kind, "from": "2027-02-01T00:00:00Z", "until": "2027-02-03T00:00:00Z"}
    ]


@pytest.mark.parametrize("line", re.findall(r"(?m)^tickover [^|\n]*", PAGE) + re.findall(r"`(tickover [^`]+)`", PAGE))
def test_command_exists_with_its_options(line: str) -> None:
    command: click.Command | None = root
    words = shlex.split(line)[1:]
    while isinstance(command, click.Group):
        _, command, words = command.resolve_command(click.Context(command), words)
    assert command
    command.make_parser(click.Context(command)).parse_args(words)


def test_kinds_of_faults_have_the_errors_of_the_table(program: Program, shell: Shell) -> None:
    with Tickover(program.url, shell.token) as client:
        [listed] = client.list_clocks()
        clock = client.get_clock(listed.id)
        for kind, plaid, simplefin in _KINDS:
            public = clock.connect("PLAID", faults=[{"kind": kind, "from": "2027-01-01"}]).public_token
            connection = HTTPConnection(program.url.removeprefix("http://"), timeout=60)
            access = post(connection, f"/plaid{_EXCHANGE}", {"public_token": public})["access_token"]
            dates = {"start_date": "2027-01-01", "end_date": "2027-01-05"}
            failed = post(connection, "/plaid/transactions/get", {"access_token": access, **dates})
            [documented] = re.findall(r"`([A-Z_]+)`", plaid)
            assert failed["error_code"] == documented
            setup = clock.connect("SIMPLEFIN", faults=[{"kind": kind, "from": "2027-01-01"}]).setup_token or ""
            claimed = program.request("POST", urlsplit(b64decode(setup).decode()).path).body.decode()
            address = urlsplit(claimed)
            password = b64encode(f"{address.username}:{address.password}".encode()).decode()
            headers = {"Authorization": f"Basic {password}"}
            answer = program.request("GET", f"{address.path}/accounts", headers=headers)
            assert answer.status == int((re.findall(r"status (\d+)", simplefin) or [200])[0])


def test_listed_endpoints_work(program: Program) -> None:
    [listed] = re.findall(r"These endpoints work: (.*?)[.] Others", PAGE, re.DOTALL)
    connection = HTTPConnection(program.url.removeprefix("http://"), timeout=60)
    other = post(connection, "/plaid/other", {})
    assert set(re.findall(r"`(/[^`]+)`", listed)) == set(re.findall(r"/[a-z_]+(?:/[a-z_]+)+", other["error_message"]))


def test_example_of_ci_passes(program: Program, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKOVER_URL", program.url)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(_APP + block("def test_", "python"))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "tickover.pytest_plugin")
    result.assert_outcomes(passed=1)
