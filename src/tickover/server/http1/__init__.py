"""The HTTP/1.1 server: connections, requests and responses. It knows nothing of Tickover."""
