"""The options of a client, and the token that its calls send."""

import pytest

from tests.unit.client.transport import ScriptedTransport, respond_normally
from tickover.client import AsyncTickover, Tickover


@pytest.mark.parametrize("client_class", [Tickover, AsyncTickover])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds greater than 0"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds greater than 0"),
        ({"retries": -1}, "retries must be 0 or more"),
        *(
            ({"token": token}, "a token must consist of printable ASCII characters")
            for token in ["", "tko_a b", "tko_a\n", "tko_ä", " tko"]
        ),
    ],
)
def test_invalid_options_are_rejected(client_class: type, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        client_class(**options)
    assert "tko" not in str(caught.value)


@pytest.mark.parametrize("client_class", [Tickover, AsyncTickover])
@pytest.mark.parametrize("token", ["tko_secret", None])
def test_repr_shows_no_token(client_class: type, token: str | None) -> None:
    state = "signed in" if token else "not signed in"
    assert repr(client_class("http://x.test/", token)) == f"{client_class.__name__}('http://x.test', {state})"


async def test_calls_send_the_token_of_the_last_sign_in() -> None:
    transport = ScriptedTransport(respond_normally)
    client = transport.client()
    client.token = "tko_secret"
    clock = await client.get_clock("clock_1")
    new = (await client.log_in("ana@example.test", "123456")).token
    await clock.refresh()
    await client.log_out()
    await client.discover()
    assert transport.tokens == ["tko_secret", "tko_secret", new, new, None]
    assert client.token is None
    assert repr(clock) == "AsyncClock('clock_1', frozen_time='2027-01-01T00:00:00+00:00')"
