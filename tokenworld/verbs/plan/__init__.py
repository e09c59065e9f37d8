"""``tw plan``: verdicts, honest plans and certificates."""
