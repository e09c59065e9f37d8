"""``tw doctor``: which planners are there, and how to get the others."""

from __future__ import annotations

import platform
import sys

from tokenworld.engine.rows.code.compiled import compiler_missing
from tokenworld.planning.planners.doctor import EngineInfo, engines
from tokenworld.verbs.output import EXIT_OK, Output


def doctor(out: Output) -> int:
    """List every planner with its version, or with the command that installs it.

    So with what compiles rollouts.
    """
    from tokenworld import __version__

    python = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    out.line(f"Token World {__version__}, Python {python}, {platform.system()}")
    found = engines()
    out.line("own search: always there")
    for engine in found:
        out.line(_line(engine))
    missing = compiler_missing()
    install = "pip install 'token-world[fast]'"
    out.line(
        f"rollouts: `{missing}` is missing; to compile them: {install}"
        if missing
        else "rollouts: compiled by numba"
    )
    out.line(
        "searches: long ones on packed states in plain Python"
        + (f"; compiled, large ones take a tenth of the time: {install}" if missing else
           ", large ones compiled by numba")
    )  # fmt: skip
    out.json(
        {
            "schema_version": 1,
            "version": __version__,
            "python": python,
            "engines": [engine.to_json() for engine in found],
            "rollouts": {"ready": not missing, "missing": missing, "install": install},
        }
    )
    return EXIT_OK


def _line(engine: EngineInfo) -> str:
    if engine.ready:
        return f"{engine.engine}: {engine.version}"
    return f"{engine.engine}: {engine.problem}; to install it: {engine.install}"
