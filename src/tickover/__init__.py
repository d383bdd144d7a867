"""Tickover: disposable simulated money on a clock that the caller moves, and signing in by e-mail."""

__version__ = "0.1.0"
