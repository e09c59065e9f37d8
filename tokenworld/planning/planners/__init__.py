"""Planners as child processes with limits, and what each one came to."""
