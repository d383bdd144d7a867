"""One-off measurements. Each is a program of its own and no part of `make bench`."""
