"""PDDL out: a world as a readable, lifted domain and problem where every construct has one.

`export.export` is the way in; what has no lifted form is written grounded, and said so by line.
"""
