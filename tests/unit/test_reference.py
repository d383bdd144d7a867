"""The page /docs: it contains the whole OpenRPC document, with calls that can be pasted."""

import json
import re
import shlex
from base64 import b64decode
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.openrpc_document import PUBLIC_URL, document
from tickover.cli.root import root
from tickover.client.http_pool import HttpPool
from tickover.client.rpc_messages import Request, Response
from tickover.server.rpc.openrpc import DESCRIBED_OPERATIONS, describe
from tickover.server.web.api_reference import render

PAGE = render(describe(PUBLIC_URL), has_mailbox=True).decode()


def section(name: str) -> str:
    """Return the text under a heading, up to the next heading of its level."""
    found = re.search(rf'<(h[23]) id="{re.escape(name)}">.*?(?=<\1 id=|</section>)', PAGE, re.DOTALL)
    assert found, f"there is no heading of {name}"
    return found[0]


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def blocks(html: str) -> list[str]:
    """Return the code in curl and JSON."""
    return [text_of(block) for block in re.findall(r'data-language="(?:curl)?">(.*?)</pre>', html, re.DOTALL)]


def as_pasted(command: str) -> list[str]:
    """Split a command into words like a shell."""
    return shlex.split(command.replace("\\\n", " "))


@pytest.mark.parametrize("name", DESCRIBED_OPERATIONS)
def test_curl_examples_can_be_pasted(name: str) -> None:
    examples = next(method["examples"] for method in document()["methods"] if method["name"] == name)
    shown = blocks(section(name))
    assert len(shown) == 2 * len(examples)
    for example, request, response in zip(examples, shown[::2], shown[1::2], strict=True):
        *words, data = as_pasted(request)
        token = ["-H", "Authorization: Bearer $TOKEN"] if DESCRIBED_OPERATIONS[name].needs is not None else []
        assert words == ["curl", "-sS", f"{PUBLIC_URL}/rpc", "-H", "Content-Type: application/json", *token, "-d"]
        params = {param["name"]: param["value"] for param in example["params"]}
        assert json.loads(data) == {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        assert json.loads(response) == {"jsonrpc": "2.0", "result": example["result"]["value"], "id": 1}


def normalize(params: Any) -> Any:
    """Convert all times in parameters to UTC, and leave out empty lists."""
    if isinstance(params, dict):
        return {name: normalize(value) for name, value in params.items() if value != []}
    if isinstance(params, list):
        return [normalize(value) for value in params]
    is_time = isinstance(params, str) and re.match(r"\d{4}-\d\d-\d\dT", params)
    return datetime.fromisoformat(params).astimezone(UTC) if is_time else params


@pytest.mark.parametrize("method", document()["methods"], ids=lambda method: method["name"])
def test_python_examples_send_the_requests_of_the_examples(
    method: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = method["examples"][0]
    params = {param["name"]: param["value"] for param in example["params"]}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home.toml").write_text(params.get("text", ""))
    (tmp_path / "checking.csv").write_bytes(b64decode(params.get("content", "")))
    sent = {}

    async def send(_: HttpPool, request: Request, deadline: object) -> Response:
        call = json.loads(request.content)
        sent[call["method"]] = call["params"]
        results = {each["name"]: each["examples"][0]["result"]["value"] for each in document()["methods"]}
        body = {"jsonrpc": "2.0", "id": call["id"], "result": results[call["method"]]}
        return Response("", 200, json.dumps(body).encode())

    monkeypatch.setattr(HttpPool, "send", send)
    # An operation may have no example in Python.
    for shown in re.findall(r'data-language="Python">(.*?)</pre>', section(method["name"]), re.DOTALL):
        exec(text_of(shown), {"token": "tko_1"})
        # The client sends some parameters with their default values.
        assert normalize(sent[method["name"]]) | normalize(params) == normalize(sent[method["name"]])


@pytest.mark.parametrize("name", DESCRIBED_OPERATIONS)
def test_commands_have_valid_options(name: str) -> None:
    for shown in re.findall(r'data-language="Command line">(.*?)</pre>', section(name), re.DOTALL):
        for line in text_of(shown).replace("\\\n", " ").split("\n\n"):
            command: click.Command | None = root
            words = shlex.split(line)[1:]
            while isinstance(command, click.Group):
                _, command, words = command.resolve_command(click.Context(command), words)
            assert command
            command.make_parser(click.Context(command)).parse_args(words)


def test_document_text_is_escaped() -> None:
    address = "http://[::1]/\"><script>alert(1)</script>'$(id)`id`"
    page = render(describe(address), has_mailbox=False).decode()
    assert "<script>" not in page
    assert page.count("<script") == PAGE.count("<script") == 1
    assert as_pasted(blocks(page)[0])[2] == f"{address}/rpc"
    assert page.count("<pre ") == PAGE.count("<pre ")
