"""Finite worlds explored as packed states: a state is one whole number, a node is a whole tick.

`lowered` and `grounded` pack a world: `bits` lays out its variables, `successors` generates the
code that applies a command and the phases of its tick. `breadth_first` and `astar` search the
result, a `world.Packed`; `dependencies` tells which bits of a state decide a question about it.
"""
