"""Code that the server and its clients share. It does no I/O."""
