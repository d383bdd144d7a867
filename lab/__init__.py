"""The benchmark, the soak and the planted bugs. `make test` runs one smoke test of each."""
