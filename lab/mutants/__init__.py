"""Planted bugs: patches of the source that the tests must catch. `python -m lab.mutants` runs them."""
