"""The MCP server: clocks as tools for coding agents. It needs the extra `mcp`."""
