"""Width-based best-first search over the interpreter: plans for worlds without an encoding.

`search` measures the novelty of a state and the distance of the goal line from true; `relaxed_plan`
finds the facts that matter for it.
"""
