"""``tw``: the verbs. Each parses its arguments, calls one function and returns its exit code.

Exit codes: 0 fine; 1 a negative answer; 2 usage, or an input that is missing or unreadable;
3 unknown (no verdict in the limits); 4 an internal error; 130 interrupted.
"""

from __future__ import annotations

import gc

# A state space is millions of small objects and hardly any cycle. The collector looks at them again
# and again, which takes a quarter of the time; so it looks less often, from the first import on.
# A checked program is full of cycles: `tw fuzz` and `tw mutate` check thousands, so three million
# new objects, some 400 MB, are the most that may wait.
gc.set_threshold(100_000, 10, 3)

from tokenworld.cli.frame import _main, app, main  # noqa: E402

__all__ = ["_main", "app", "main"]
