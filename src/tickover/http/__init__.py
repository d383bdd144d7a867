"""HTTP/1.1 on sockets: bytes become requests, responses become bytes. Knows nothing of what is served."""
