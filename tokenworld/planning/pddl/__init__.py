"""PDDL out: a world as a readable, lifted domain and problem if every construct has one.

`export.export_world` is the way in. A program in the fragment of PDDL is written word for word
(`verbatim`); other rules are lifted from core (`terms`, `effects`, `writes`, `domain`, `problem`);
without an exact lifted form the finite task is written (`ground`), with the reasons.
"""
