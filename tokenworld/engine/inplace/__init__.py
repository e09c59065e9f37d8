"""Worlds played in place: a tick writes to the one state there is, and its journal undoes it."""
