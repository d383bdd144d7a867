"""The rules of clocks and sign-in. No I/O and no current time. Only `tokens` creates random values."""
