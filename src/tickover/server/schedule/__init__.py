"""The one idea: a schedule and the pure functions of it. No I/O."""
