"""A public URL with a path behind nginx: pages, emails, client, command line and pytest plugin."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.nginx import program_behind_nginx
from tests.support.program import Program
from tests.system.shells import Shell
from tickover.client import Tickover


@pytest.fixture(scope="module")
def behind_nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, str]]:
    with program_behind_nginx(tmp_path_factory.mktemp("nginx")) as started:
        yield started


@pytest.mark.parametrize("slash", ["", "/"])
def test_client_works_with_the_public_url(behind_nginx: tuple[Program, str], slash: str) -> None:
    _, url = behind_nginx
    email = f"client{len(slash)}@example.test"
    with Tickover(url + slash) as client:
        client.send_code(email)
        sent = client.latest_email(email)
        assert sent
        assert sent.code
        client.log_in(email, sent.code)
        clock = client.create_clock()
        assert client.get_clock(clock.id).id == clock.id


def test_command_line_works_with_the_public_url(behind_nginx: tuple[Program, str], tmp_path: Path) -> None:
    _, url = behind_nginx
    shell = Shell(tmp_path / "config", url)
    assert shell("login", "cli@example.test", "--url", f"{url}/").code == 0
    for arguments in ([], ["--url", url]):
        assert shell("clock", "create", "trip", "--json", *arguments).code == 0
    # The credentials belong to the URL with its path, not to the host.
    elsewhere = shell("clock", "list", "--url", url.removesuffix("/tickover"))
    assert elsewhere.code != 0
    assert "signed in at" in elsewhere.err


def test_each_client_has_its_own_rate_limit(tmp_path: Path) -> None:
    limits = {"TICKOVER_CLIENT_BURST": "1", "TICKOVER_CLIENT_REFILL": "0.001"}
    with program_behind_nginx(tmp_path, **limits) as (_, url):

        def status_for(source: str, **headers: str) -> int:
            address = urlsplit(url)
            connection = http.client.HTTPConnection(address.netloc, timeout=120, source_address=(source, 0))
            body = '{"jsonrpc":"2.0","id":1,"method":"loginByEmailLink","params":{"token":"none"}}'
            connection.request("POST", f"{address.path}/rpc", body, {"Content-Type": "application/json", **headers})
            status = connection.getresponse().status
            connection.close()
            return status

        assert [status_for("127.0.0.2"), status_for("127.0.0.3")] == [200, 200]
        claimed = {"X-Forwarded-For": "198.51.100.7"}
        assert [status_for("127.0.0.2"), status_for("127.0.0.2", **claimed)] == [429, 429]
