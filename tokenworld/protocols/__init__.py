"""Servers for other programs: editors (LSP), agents (MCP)."""
