"""The MCP server: the table of tools, their handlers, and the transports."""
