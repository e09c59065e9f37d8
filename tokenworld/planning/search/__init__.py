"""Our own searches: on the interpreter (`interpreted`), on packed states, and compiled.

`own` chooses between them: a search begins on the interpreter, goes on packed states once it is
long, and is compiled where a world is large and numba is installed.
"""
