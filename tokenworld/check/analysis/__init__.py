"""Passes over checked rules: what they read and write, which values are possible, what is proved.

Each pass module (`writes`, `bounds`, `laws`, `proofs`, `lints`, `applicability`) reports findings
in a `Draft`; the others hold the reasoning that they share, from substitution to intervals.
"""
