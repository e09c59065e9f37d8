"""Finite tasks explored as packed states: a state is one whole number, a node is a whole tick.

`bits` lays out the variables, `trees` and `tails` generate what can be done in a state and what the
laws make of it; `fuse` finds facts that exclude each other; `search` goes breadth first to a goal.
"""
