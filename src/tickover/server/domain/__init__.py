"""The rules of clocks and sign-in. No I/O, no current time, no randomness."""
