"""PDDL out: a world as a readable, lifted domain and problem where every construct has one.

`export.export_world` is the way in. A program that is PDDL as it stands is written word for word
(`verbatim`); other rules are lifted from core (`terms`, `effects`, `writes`, `domain`, `problem`),
and where no lifted form is exact the finite task is written (`ground`), and the reasons said.
"""
