"""The engine for searches: successors, and keys that distinguish states."""
