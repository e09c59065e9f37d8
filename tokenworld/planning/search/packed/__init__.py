"""Finite worlds explored as packed states: a state is one whole number, a node is a whole tick.

`lowered` packs a world into a `world.Packed`, which tells the successors of a state and which bits
decide a question about it; `successors` lays out bits and applies operators; `searches` search.
"""
