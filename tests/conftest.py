"""Settings of all tests: fixed random examples, and a working Ctrl+C.

A failure that comes and goes is of no use; `tw fuzz` searches new examples instead.
"""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A shell starts background processes with SIGINT ignored, and children inherit that: tests that
# interrupt a program would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
