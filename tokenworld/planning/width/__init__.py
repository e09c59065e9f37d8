"""Width-based best-first search over the interpreter: plans where no encoding helps.

`search` measures how new a state is and how far the goal line is from true; `relaxed_plan` tells
which facts matter for it.
"""
