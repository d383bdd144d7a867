"""Requests as bytes, for load generators."""

import json
from typing import Any


def rpc_request(method: str, params: Any, token: str = "") -> bytes:
    """Return the bytes of one call."""
    return http_request(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode(), token)


def http_request(body: bytes, token: str = "", path: str = "/rpc") -> bytes:
    """Return the bytes of a request with this body."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{authorization}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
