"""Encodings of one lowered world: E (SAS+), D (micro-actions), A (numeric PDDL), and slices."""
