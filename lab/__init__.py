"""The benchmark and the soak. `make test` runs one smoke test of each."""
