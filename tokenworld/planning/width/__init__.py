"""Width-based best-first search over the interpreter: plans where no encoding helps.

`novelty` measures how new a state is, `graded` how far the goal line is from true, `costs` and
`relaxed` which facts matter for it, `frontier` puts them together into an order, `rung` runs it.
"""
