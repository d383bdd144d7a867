"""The server: HTTP, JSON-RPC, operations, storage and mail."""
