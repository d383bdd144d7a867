"""Commands, one module per group."""
