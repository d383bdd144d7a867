"""The rules: no I/O, no wall clock, no randomness, and nothing of Tickover's that lies above them."""
