"""A linearizability checker, and histories of the server for it."""
