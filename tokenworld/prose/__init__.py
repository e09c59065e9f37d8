"""Prose: names and values as text, and typed commands as intents (language.md §11)."""
