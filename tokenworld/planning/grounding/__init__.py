"""Grounding by generated joins: the ground actions and facts that can ever be met.

`reach.reached` turns the rules of a program into rules over relations (`program`), writes a Python
function for each way in which a new fact can complete one (`joins`), and runs them from the facts
of the start state until nothing is new. What it finds is never less than what play can meet.
"""
