"""Protocols by which other programs use the engine: for editors, and for agents."""
