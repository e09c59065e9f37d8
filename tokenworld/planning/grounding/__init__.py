"""Grounding by generated joins: a superset of the reachable ground actions and facts.

`reach.reached` turns the rules of a program into rules over relations (`program`), writes a Python
function for each way in which a new fact can complete one (`joins`), and runs them from the facts
of the start state until nothing is new.
"""
