"""Runs `tickover` without recording calls, to measure the cost of metrics."""

from tickover.cli import main
from tickover.server.metrics.numbers import Recorder


def _ignore(*_: object) -> None:
    pass


if __name__ == "__main__":
    Recorder.record_call = _ignore  # type: ignore[method-assign,assignment]
    main()
