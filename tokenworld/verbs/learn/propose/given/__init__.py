"""Extend the rules of a given world by rules for the changes that they do not explain."""
