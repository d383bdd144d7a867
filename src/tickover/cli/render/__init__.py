"""Rendering of clocks: pure functions from a snapshot and a width to lines of text."""
