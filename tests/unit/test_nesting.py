"""Bodies of requests: the limit on nested arrays and objects, and lone surrogates, which become U+0000."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tickover.api.json_depth import is_nested_too_deeply
from tickover.api.limits import MAX_BODY, MAX_NESTING
from tickover.server.rpc.envelope import decode_text


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        pytest.param(b"[" * MAX_NESTING + b"]" * MAX_NESTING, True, id="deepest arrays"),
        pytest.param(b'{"a":' * (MAX_NESTING + 1) + b"1" + b"}" * (MAX_NESTING + 1), False, id="objects too deep"),
        pytest.param(rb'["\"' + b"[" * 1_000 + b'"]', True, id="brackets after an escaped quote"),
        pytest.param(b"[" + b"[]," * 10_000 + b"[]]", True, id="many arrays side by side"),
        pytest.param(b"[" * (MAX_NESTING + 1), False, id="never closed"),
        pytest.param(b"[" * MAX_BODY, False, id="a whole body of opening brackets"),
        pytest.param(b'"' + b"[" * 1_000 + b'"', True, id="brackets only in a string"),
    ],
)
def test_hostile_bodies_are_measured(body: bytes, accepted: bool) -> None:
    assert is_nested_too_deeply(body) is not accepted


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


texts = st.text(st.sampled_from('[]{}"\\a'), max_size=4)


@given(
    st.recursive(
        texts | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=60,
    ),
    st.integers(0, MAX_NESTING + 1),
)
def test_depth_is_measured_exactly(value: Any, extra: int) -> None:
    for _ in range(extra):
        value = [value]
    assert is_nested_too_deeply(json.dumps(value).encode()) is (depth_of(value) > MAX_NESTING)


# Surrogates


PARTS = ["\\\\", r"\n", r"\ud800", r"\uDFFF", r"\uD83D\ude00", r"\u00e9", "ud83d", "a", "0"]
# Reads one escape after another.
ESCAPE = re.compile(r"\\u[dD][89abAB]\w{2}\\u[dD][c-fC-F]\w{2}|(\\u[dD][89a-fA-F]\w{2})|\\.")


@given(st.lists(st.sampled_from(PARTS)).map("".join))
@example(r"\\ud83d\ude00")
def test_every_body_is_read_like_one_escape_after_another(written: str) -> None:
    expected = ESCAPE.sub(lambda found: r"\u0000" if found[1] else found[0], written)
    assert decode_text(f'"{written}"'.encode()) == f'"{expected}"'
