"""The host names of real banks, under which programs with a fixed address reach the bank."""

from collections.abc import Awaitable
from typing import Final

from tickover.server.http1.http_messages import Handle, Request, Response
from tickover.server.networks import host_name

PREFIXES: Final = {
    "sandbox.plaid.com": "/plaid",
    "production.plaid.com": "/plaid",
    "cdn.plaid.com": "/plaid",
    "bridge.simplefin.org": "",
    "beta-bridge.simplefin.org": "",
    "api.enablebanking.com": "/enablebanking",
    "localhost": "",
}
"""What the paths of each name lack here. Those of SimpleFIN have their prefix at the real service too."""


def find_path(host: str, path: str) -> str:
    """Return the path of this server for a path of the real service, or "" if the name has no such path."""
    if host not in PREFIXES or (host.endswith(".simplefin.org") and not path.startswith("/simplefin/")):
        return ""
    return PREFIXES[host] + path


def by_bank_name(handle: Handle) -> Handle:
    """Return a handler for requests to real banks. `handle` gets the paths of this server."""

    def handle_by_name(request: Request) -> Response | Awaitable[Response]:
        request.path = find_path(host_name(request.fields.get(b"host", b"")), request.path)
        return handle(request)

    return handle_by_name
