"""Passes over checked rules: their reads and writes, possible values, proofs.

Each pass module (`writes`, `bounds`, `laws`, `proofs`, `lints`, `applicability`) reports findings
in a `Draft`; the others hold the reasoning that they share, from substitution to intervals.
"""
