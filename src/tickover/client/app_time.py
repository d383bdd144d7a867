"""Sets the time of this process with time-machine or freezegun."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec


@contextmanager
def frozen_at(instant: datetime) -> Iterator[Callable[[datetime], object]]:
    """Freeze `now()` of this process at an instant. Yield a function that moves it."""
    if find_spec("time_machine"):
        import time_machine  # noqa: PLC0415 - optional

        with time_machine.travel(instant, tick=False) as traveller:
            yield traveller.move_to
    elif find_spec("freezegun"):
        import freezegun  # noqa: PLC0415 - optional

        # Timeouts of connections and the event loop need the real time.
        with freezegun.freeze_time(instant, real_asyncio=True, ignore=["tickover", "httpx2", "httpcore2"]) as factory:
            yield factory.move_to
    else:
        raise ModuleNotFoundError("freeze() needs time-machine or freezegun. Install one: pip install time-machine")
