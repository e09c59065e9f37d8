"""The code of rules: core becomes Python functions on rows, which numba may compile.

`terms` and `bodies` emit expressions and statements, `hoist` moves invariant code out of loops,
`program` collects the functions of a world. `quick` emits whole ticks, `numeric` those of
rows of numbers, which `compiled` keeps for later processes.
"""
