"""The proxies of deploy/ run in front of two servers on one PostgreSQL, with the files as they are but other ports."""

import os
import socket
import ssl
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
import trustme

from tests.support.debian_packages import require_program
from tests.support.deploy import configure, run_haproxy, running, servers_behind_proxy
from tests.support.etcd import Etcd, EtcdError
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until
from tests.support.replicas import Replicas
from tickover.api.limits import MAX_BODY


@pytest.fixture
def replicas(tmp_path: Path, postgres: PostgresServer) -> Iterator[Replicas]:
    """Servers with a low rate limit for clients. A proxy's own calls would use it up."""
    replicas = servers_behind_proxy(tmp_path, postgres)
    for program in replicas.programs:
        program.environment |= {"TICKOVER_CLIENT_BURST": "3", "TICKOVER_CLIENT_REFILL": "0.001"}
    with replicas:
        yield replicas


_SIGN_IN = b'{"jsonrpc":"2.0","id":1,"method":"loginByEmailLink","params":{"token":"none"}}'


def check_proxy(connect: Callable[[str], HTTPConnection]) -> None:
    """Send a page request, a call, and a call that is too large, which must get a JSON error of Tickover.

    Then check that clients have their own rate limits, whatever address they claim. `connect` takes the client's.
    """
    connection = connect("127.0.0.1")
    connection.request("GET", "/readyz")
    response = connection.getresponse()
    assert (response.status, response.read()) == (200, b"ready\n")
    for body, status, reason in ((b"{}", 200, b"INVALID_REQUEST"), (b" " * (MAX_BODY + 1), 413, b"BODY_TOO_LARGE")):
        connection.request("POST", "/rpc", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert reason in response.read()
        assert response.status in (status, 400)
    connection.close()

    def status_for(client: str, **headers: str) -> int:
        connection = connect(client)
        connection.request("POST", "/rpc", _SIGN_IN, {"Content-Type": "application/json", **headers})
        status = connection.getresponse().status
        connection.close()
        return status

    # Each of the two servers has its own limit.
    limited = 0
    while limited < 20:
        limited = limited + 1 if status_for("127.0.0.2") == 429 else 0
    assert status_for("127.0.0.2", **{"X-Forwarded-For": "198.51.100.7"}) == 429
    assert status_for("127.0.0.3") == 200


def test_nginx_forwards_requests(replicas: Replicas, tmp_path: Path) -> None:
    nginx, port = require_program("nginx", "nginx-light"), free_port()
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    changes = {
        "443 ssl": f"127.0.0.1:{port} ssl",
        "/etc/ssl/certs/clocks.example.com.pem": "server.pem",
        "/etc/ssl/private/clocks.example.com.key": "server.pem",
    }
    (tmp_path / "tickover.conf").write_text(configure("nginx/tickover.conf", replicas, changes))
    temporary = "".join(f"{kind}_temp_path {kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid nginx.pid; {'user root;' if os.geteuid() == 0 else ''} events {{}} "
        f"http {{ access_log off; {temporary} include tickover.conf; }}"
    )
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with running([nginx, "-p", str(tmp_path), "-e", "error.log", "-c", "nginx.conf"], tmp_path, port):
        check_proxy(
            lambda client: HTTPSConnection("127.0.0.1", port, timeout=60, context=context, source_address=(client, 0))
        )


def test_caddy_forwards_requests(replicas: Replicas, tmp_path: Path) -> None:
    caddy, port = require_program("caddy"), free_port()
    text = configure("caddy/Caddyfile", replicas, {"clocks.example.com {": f"http://127.0.0.1:{port} {{"})
    (tmp_path / "Caddyfile").write_text(f"{{\n\tadmin off\n}}\n{text}")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with running([caddy, "run", "--config", "Caddyfile", "--adapter", "caddyfile"], tmp_path, port, env=environment):
        check_proxy(lambda client: HTTPConnection("127.0.0.1", port, timeout=60, source_address=(client, 0)))
        # Caddy rejects a body that is much larger itself, before version 2.7 with 502.
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/rpc", b" " * (3 * MAX_BODY), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status in (413, 502)
        assert b"BODY_TOO_LARGE" not in response.read()
        connection.close()


def test_haproxy_forwards_requests_and_closes_unfinished_ones(replicas: Replicas, tmp_path: Path) -> None:
    with run_haproxy(replicas, tmp_path, {"timeout http-request 10s": "timeout http-request 1s"}) as url:
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        check_proxy(lambda client: HTTPConnection(*address, timeout=60, source_address=(client, 0)))
        unfinished = [socket.create_connection(address, 60) for _ in range(50)]
        for connection in unfinished:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nX-Part: 1")
        for connection in unfinished:
            with connection, connection.makefile("rb") as response:
                assert response.read().startswith(b"HTTP/1.1 408 ")


def test_etcd_needs_a_certificate_and_a_password(tmp_path: Path) -> None:
    """Whoever can write to it can make any node the primary."""
    etcd = Etcd(tmp_path)
    with running(etcd.command, tmp_path, etcd.port):
        wait_until(lambda: etcd.version not in ("", "not_decided"))
        etcd.create_users()
        with pytest.raises((ssl.SSLError, ConnectionError)):
            etcd.request("/version", certified=False)
        leader = "/service/tickover/leader"
        for act in (lambda: etcd.sign_in("wrong"), lambda: etcd.delete(leader)):
            with pytest.raises(EtcdError):
                act()
        token = etcd.sign_in()
        assert etcd.delete(leader, token) == 0
        with pytest.raises(EtcdError):
            etcd.delete("/service/other/leader", token)
