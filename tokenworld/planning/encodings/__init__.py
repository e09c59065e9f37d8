"""Encodings of one lowered world: E (SAS+), A (numeric PDDL), and slices."""
