"""Types and rules that the server and the clients share. No I/O."""
