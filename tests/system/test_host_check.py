"""The Host check of the real program, for every route."""

import json
from urllib.parse import urlsplit

import pytest

from tests.support.program import Program
from tickover.server.web import pages
from tickover.server.web.pages import load_pages

_EMAIL = "host@example.test"


@pytest.fixture(scope="session")
def paths(program: Program) -> list[str]:
    """Every path except the health checks. Each returns 200."""
    program.send_code(_EMAIL)
    emails = program.request("GET", "/mailbox/emails.json").json["emails"]
    [email] = [email for email in emails if email["to"] == _EMAIL]
    queries = {"/mailbox/latest": f"?to={_EMAIL}"}
    static = load_pages(program.request("GET", "/openrpc.json").body)
    files = [f"/mailbox/emails/{email['id']}.{extension}" for extension in pages._EMAIL_EXTENSIONS]
    return [*static, *pages._GENERATED, *(path + queries.get(path, "") for path in pages._MAILBOX_PATHS), *files]


def test_every_route_allows_the_right_host(program: Program, paths: list[str]) -> None:
    assert {path for path in paths if program.request("GET", path).status != 200} == set()
    assert len({path for path in paths if path.startswith("/mailbox/")}) == 4


@pytest.mark.parametrize(
    ("method", "host"),
    [("GET", "evil.example"), ("HEAD", "127.0.0.1.evil.example"), ("POST", ""), ("OPTIONS", "evil.example")],
)
def test_every_route_rejects_another_host(program: Program, paths: list[str], method: str, host: str) -> None:
    for path in [*paths, "/rpc", "/nothing"]:
        response = program.request(method, path, headers={"Host": host, "Content-Type": "application/json"})
        assert (path, response.status) == (path, 400)
        assert _EMAIL.encode() not in response.body
        if method != "HEAD":
            assert json.loads(response.body)["error"]["data"]["reason"] == "INVALID_REQUEST"


def test_right_host_with_any_port_is_allowed(program: Program) -> None:
    name = urlsplit(program.url).hostname
    assert program.request("GET", "/site.json", headers={"Host": f"{name}:1"}).status == 200
