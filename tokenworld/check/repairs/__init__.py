"""Repairs that are tried: edits of a broken item are made up, checked, and told if they mend it."""
