"""Clocks as pictures for a terminal: pure functions from a snapshot and a width to lines of text."""
