"""Tickover: disposable simulated money on a clock that the caller moves, and sign-in by email."""

__version__ = "0.1.0"
