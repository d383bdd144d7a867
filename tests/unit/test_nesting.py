"""The limit on nested arrays and objects in a request body."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickover.api.errors import Rejection
from tickover.api.limits import MAX_BODY, MAX_NESTING
from tickover.server.rpc.envelope import check_nesting


def is_accepted(body: bytes) -> bool:
    try:
        check_nesting(body)
    except Rejection:
        return False
    return True


def arrays(depth: int, inner: bytes = b"") -> bytes:
    return b"[" * depth + inner + b"]" * depth


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        pytest.param(arrays(MAX_NESTING), True, id="deepest arrays"),
        pytest.param(arrays(MAX_NESTING + 1), False, id="arrays one level too deep"),
        pytest.param(b'{"a":' * MAX_NESTING + b"1" + b"}" * MAX_NESTING, True, id="deepest objects"),
        pytest.param(b'{"a":' * (MAX_NESTING + 1) + b"1" + b"}" * (MAX_NESTING + 1), False, id="objects too deep"),
        pytest.param(b'[{"a":' * 32 + b"1" + b"}]" * 32, True, id="deepest mixture"),
        pytest.param(b'[{"a":' * 32 + b"[]" + b"}]" * 32, False, id="mixture too deep"),
        pytest.param(b"[" + b"[]," * 10_000 + b"[]]", True, id="many arrays side by side"),
        pytest.param(b"[" + b"[]," * 10_000 + arrays(MAX_NESTING) + b"]", False, id="one deep array among many"),
        pytest.param(b'["' + b"[" * 1_000 + b'"]', True, id="brackets in a string"),
        pytest.param(
            b'["]",' * (MAX_NESTING + 1) + b"1" + b"]" * (MAX_NESTING + 1), False, id="closed in strings only"
        ),
        pytest.param(rb'["\"' + b"[" * 1_000 + b'"]', True, id="brackets after an escaped quote"),
        pytest.param(rb'["\\",' + arrays(MAX_NESTING) + b"]", False, id="arrays after an escaped backslash"),
        pytest.param(b"[" * (MAX_NESTING + 1), False, id="never closed"),
        pytest.param(arrays(MAX_BODY // 2), False, id="a whole body of brackets"),
        pytest.param(b"[" * MAX_BODY, False, id="a whole body of opening brackets"),
        pytest.param(arrays(MAX_NESTING) * (MAX_BODY // 128), True, id="deepest arrays again and again"),
        pytest.param(b'"' + b"[" * 1_000 + b'"', True, id="brackets only in a string"),
    ],
)
def test_nesting_is_limited(body: bytes, accepted: bool) -> None:
    assert is_accepted(body) is accepted


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
    assert is_accepted(json.dumps(value).encode()) is (depth_of(value) <= MAX_NESTING)
