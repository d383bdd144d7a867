"""One-off measurements. Each is a separate program, and not part of `make bench`."""
