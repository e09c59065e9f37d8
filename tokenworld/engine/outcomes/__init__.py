"""What one command may come to: exact outcomes, and the probability of an observed one.

`forks` carries out a tick unit by unit (the command, each turn of a sequential phase, each phase)
on a set of partial outcomes that it merges; `seen` drops those that contradict an observed
successor; `listing` has the two doors.
"""
