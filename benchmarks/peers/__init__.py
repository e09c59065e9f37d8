"""Measurements beside other programs: each in an environment of its own, in turns, digests first.

`catalogue` says who is measured on what, `environments` sets the others up, `worker` talks to one,
`duel` runs two in turns, `results` writes what came of it. `adapters` are the programs that run on
the other side.
"""
