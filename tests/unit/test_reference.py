"""The page /docs: it contains the whole OpenRPC document, with calls that can be pasted."""

import json
import re
import shlex
from html import unescape

import pytest

from tests.support.openrpc_document import PUBLIC_URL, document
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
    return [text_of(block) for block in re.findall("<pre [^>]*>(.*?)</pre>", html, re.DOTALL)]


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


def test_document_text_is_escaped() -> None:
    address = "http://[::1]/\"><script>alert(1)</script>'$(id)`id`"
    page = render(describe(address), has_mailbox=False).decode()
    assert "<script>" not in page
    assert page.count("<script") == PAGE.count("<script") == 1
    assert as_pasted(blocks(page)[0])[2] == f"{address}/rpc"
    assert page.count("<pre ") == PAGE.count("<pre ")
