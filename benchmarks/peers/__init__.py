"""Measurements beside other programs, each in its own environment, alternately, digests first.

`environments` installs the other programs, `worker` talks to one, `duel` runs two alternately.
`adapters` are the programs that run on the other side.
"""
