"""Explain a refusal: the reason, the rule and tick that caused it, and commands that lift it."""
