"""Webhooks: URLs and addresses that a server may call."""

from ipaddress import ip_address

import pytest

from tickover.server.settings import read_settings
from tickover.server.webhook_calls import find_problem, may_call

HOSTS = ("localhost", "127.0.0.1", "::1", "app", "hooks.example.com")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "http://localhost:3000/hook?a=1&b=%20",
        "https://LOCALHOST/",
        "http://[::1]:3000/",
        "http://app/" + "x" * 1_989,
    ],
)
def test_url_of_an_allowed_host_is_a_webhook(url: str) -> None:
    assert find_problem(url, HOSTS) is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:3000",
        "ftp://localhost/",
        "http://",
        "http://user@localhost/",
        "http://:password@localhost/",
        "http://localhost/#part",
        "http://localhost/#",
        "http://localhost:0/",
        "http://localhost:99999/",
        "http://localhost/a b",
        "http://localhost/\r\nX: 1",
        "http://localhost\\@evil.example/",
        "http://app/" + "x" * 1_990,
        "http://[::1/",
        "http://lоcalhost/",  # with a Cyrillic letter
    ],
)
def test_other_url_is_no_webhook(url: str) -> None:
    assert "must be an http or https URL" in (find_problem(url, HOSTS) or "")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.2", "2130706433", "0x7f000001", "0177.0.0.1", "127.1",
        "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "169.254.169.254", "localhost.", "app.",
    ],
)  # fmt: skip
def test_host_that_is_not_listed_is_refused(host: str) -> None:
    assert "TICKOVER_WEBHOOK_HOSTS" in (find_problem(f"http://{host}/", HOSTS) or "")


@pytest.mark.parametrize(
    ("host", "address", "allowed"),
    [
        ("localhost", "127.0.0.1", True),
        ("localhost", "::1", True),
        ("localhost", "::ffff:127.0.0.1", True),
        ("localhost", "10.0.0.1", False),
        ("localhost", "203.0.113.1", False),
        ("app", "10.0.0.1", True),
        ("app", "fd00::1", True),
        ("app", "203.0.113.1", True),
        ("app", "127.0.0.1", False),
        ("app", "::1", False),
        ("app", "::ffff:127.0.0.1", False),
        ("app", "169.254.169.254", False),
        ("app", "::ffff:169.254.169.254", False),
        ("app", "64:ff9b::169.254.169.254", False),
        ("app", "2002:a9fe:a9fe::", False),
        ("app", "fe80::1", False),
        ("app", "fd00:ec2::254", False),
        ("app", "0.0.0.0", False),
        ("app", "0.0.0.1", False),
        ("app", "::", False),
        ("app", "224.0.0.1", False),
        ("app", "ff02::1", False),
        ("app", "255.255.255.255", False),
    ],
)
def test_addresses_that_a_name_may_lead_to(host: str, address: str, allowed: bool) -> None:
    assert may_call(host, ip_address(address)) == allowed


def test_hosts_are_those_of_this_machine_by_default() -> None:
    local = ("localhost", "127.0.0.1", "::1")
    assert read_settings({}, {}).webhook_hosts == local
    assert read_settings({"TICKOVER_MAIL_URL": "outbox:"}, {"host": "0.0.0.0"}).webhook_hosts == ()
    assert read_settings({"TICKOVER_WEBHOOK_HOSTS": "App, app.example"}, {}).webhook_hosts == ("app", "app.example")
