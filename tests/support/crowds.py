"""Helpers for tests with fifty concurrent callers."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from tests.support.program import verify_params
from tests.support.world import HttpResponse

CROWD = 50


def outcomes(responses: Iterable[HttpResponse]) -> Counter[str]:
    """Count responses by reason; "ok" counts results."""
    return Counter(
        response.json["error"]["data"]["reason"] if "error" in response.json else "ok" for response in responses
    )


def wrong_guesses(email: str, code: str, amount: int) -> list[dict[str, str]]:
    """Return the parameters of this number of different wrong codes."""
    return [verify_params(email, f"{(int(code) + distance) % 1_000_000:06}") for distance in range(1, amount + 1)]


def written(moment: datetime) -> str:
    """Return a timestamp in UTC and whole seconds, so that texts sort like instants."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
