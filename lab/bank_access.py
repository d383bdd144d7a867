"""Connects programs to the bank of a clock."""

import json
from base64 import b64decode, b64encode
from typing import Any
from urllib.parse import urlsplit

from tests.support.program import Program

PLAID_CLIENT = {"client_id": "any", "secret": "any"}


def connect_plaid(program: Program, token: str, clock: str) -> str:
    """Return the access token of a new connection. It has not been used."""
    public = program.result("connectTestClock", {"id": clock, "protocol": "PLAID"}, token)["publicToken"]
    body = json.dumps({**PLAID_CLIENT, "public_token": public}).encode()
    return str(post_json(program, "/plaid/item/public_token/exchange", body)["access_token"])


def post_json(program: Program, path: str, body: bytes) -> Any:
    return program.request("POST", path, body, {"Content-Type": "application/json"}).json


def connect_simplefin(program: Program, token: str, clock: str) -> str:
    """Return the user and password of a new connection in Base64."""
    connected = program.result("connectTestClock", {"id": clock, "protocol": "SIMPLEFIN"}, token)
    claimed = program.request("POST", urlsplit(b64decode(connected["setupToken"]).decode()).path)
    access_url = urlsplit(claimed.body.decode())
    return b64encode(f"{access_url.username}:{access_url.password}".encode()).decode()
