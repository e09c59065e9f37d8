"""What all tests share: the same random examples in every run, and Ctrl+C that is heard.

A failure that comes and goes teaches nobody; new examples are looked for by `tw fuzz` instead.
"""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A shell starts what runs in its background with SIGINT ignored, and every child inherits that:
# the tests that interrupt a program would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
