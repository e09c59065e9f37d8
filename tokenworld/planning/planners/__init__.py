"""Planners as child processes with limits, and their answers."""
