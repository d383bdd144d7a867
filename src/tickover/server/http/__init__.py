"""HTTP/1.1: connections, the request handler, and the pages beside `/rpc`."""
