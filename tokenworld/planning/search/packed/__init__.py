"""Finite worlds explored as packed states: a state is one whole number, a node is a whole tick.

`lowered` packs a world into a `world.Packed`, which gives successors and the bits that decide a
question about a state; `successors` lays out bits and applies operators; `searches` search.
"""
