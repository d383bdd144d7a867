"""Requests through a real proxy with a password, to a server with TLS and to one without."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from tests.support.debian_packages import require_program
from tests.support.deploy import running
from tests.support.ports import free_port
from tests.system.client.conftest import Connect
from tests.system.client.servers import respond_normally, scripted_server, tls_server
from tickover.client import Tickover, Unreachable
from tickover.client.calls import discover
from tickover.client.rpc_messages import Deadline, Response

REQUEST = discover().request
OTHER_ADDRESS = "127.0.0.2"
"""An address of this machine that isn't exempt from proxies."""
TINYPROXY = """
Listen 127.0.0.1
Port {port}
Allow 127.0.0.1
BasicAuth ana pass-word
LogFile "proxy.log"
"""
SetProxy = Callable[..., None]


@pytest.fixture
def urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The URLs of a server without TLS, and of one with TLS."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    plain = scripted_server(respond_normally, address=OTHER_ADDRESS)
    with plain as server, tls_server(authority, OTHER_ADDRESS) as secure_url:
        yield {"http": server.url, "https": secure_url}


class Proxy:
    """A proxy that requires a password."""

    def __init__(self, address: str, log: Path) -> None:
        self.address = address
        self.url = f"http://ana:pass%2Dword@{address}"
        self._log = log

    def targets(self) -> list[str]:
        """Return the first lines of all requests."""
        return re.findall(r"Request \(file descriptor [0-9]+\): (\S+ \S+)", self._log.read_text())


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    tinyproxy, port = require_program("tinyproxy", "tinyproxy-bin"), free_port()
    (tmp_path / "tinyproxy.conf").write_text(TINYPROXY.format(port=port))
    with running([tinyproxy, "-d", "-c", "tinyproxy.conf"], tmp_path, port):
        yield Proxy(f"127.0.0.1:{port}", tmp_path / "proxy.log")


@pytest.fixture
def set_proxy(monkeypatch: pytest.MonkeyPatch) -> SetProxy:
    def set_variables(**variables: str) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name.upper(), raising=False)
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


async def send(connect: Connect, url: str, times: int = 1) -> Response:
    async with connect(url) as transport:
        for _ in range(times):
            outcome = await transport.send(REQUEST, Deadline(60))
    return outcome


@pytest.mark.parametrize("variable", ["{}_proxy", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_requests_go_through_the_proxy(
    connect: Connect, urls: dict[str, str], proxy: Proxy, set_proxy: SetProxy, scheme: str, variable: str
) -> None:
    set_proxy(**{variable.format(scheme): proxy.url})
    # The proxy closes a connection without a tunnel after its response.
    outcome = await send(connect, urls[scheme], times=2 if scheme == "https" else 1)
    assert outcome.url == f"{urls[scheme]}/rpc"
    assert b"openrpc" in outcome.content
    server = urls[scheme].partition("://")[2]
    expected = f"CONNECT {server}" if scheme == "https" else f"POST {urls[scheme]}/rpc"
    # The second request through a tunnel uses the same connection.
    assert proxy.targets() == [expected]


# Newer versions of tinyproxy answer 407.
@pytest.mark.parametrize(("address", "reason"), [("ana:wrong@{}", "40[17]"), ("ana:wrong@127.0.0.1:9", "")])
async def test_a_proxy_that_gives_no_tunnel_is_explained(
    connect: Connect, urls: dict[str, str], proxy: Proxy, set_proxy: SetProxy, address: str, reason: str
) -> None:
    set_proxy(https_proxy=f"http://{address.format(proxy.address)}")
    with pytest.raises(Unreachable, match=rf"^Can't connect to {urls['https']} \(.*{reason}") as caught:
        await send(connect, urls["https"])
    message = str(caught.value)
    assert message.endswith("Check the proxy 127.0.0.1, which environment variables or the system configure.")
    assert "wrong" not in message
    assert not caught.value.may_have_arrived


def test_a_proxy_that_speaks_no_http_is_rejected(set_proxy: SetProxy) -> None:
    set_proxy(all_proxy="socks5://127.0.0.1:9")
    with pytest.raises(ValueError, match=r"^a proxy must have a URL that begins with http://, not socks5://$"):
        Tickover("https://clocks.example")
    Tickover("https://127.0.0.1").close()
