"""JSON-RPC 2.0: request bytes to typed parameters, results to response bytes."""
