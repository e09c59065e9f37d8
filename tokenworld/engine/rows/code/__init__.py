"""The code of rules: core becomes Python functions on rows, which numba may compile.

`terms` and `bodies` emit expressions and statements, `hoist` takes what is the same in each round
out of loops, `program` puts the functions of a world together. `quick` emits ticks that tell
nothing, `numeric` those of rows of numbers, which `compiled` keeps for later processes.
"""
