"""Lowering: laws, actions and goals of one world to ordered, disjoint, exhaustive cases.

`encode.encode` is the way in; its result is encoding E, which `planning.task` turns into the
text that a planner reads.
"""
