"""The possible outcomes of one command with exact probabilities, and that of an observed one.

`forks` executes a tick unit by unit (the command, each turn of a sequential phase, each phase) on a
set of partial outcomes that it merges; `seen` drops those that contradict an observed successor;
`distribution` has the functions that `Engine` calls.
"""
