"""The frame of ``tw``: the application, and what becomes of a verb that cannot do its work."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from cyclopts import App

from tokenworld import __version__
from tokenworld.cli.verbs import add_verb

if TYPE_CHECKING:
    from tokenworld.tools.output import Output

app = App(
    name="tw",
    help="Write the rules of a world once: play them, prove its goals, export them as PDDL.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
)


def verb(json: bool, work: Callable[[Output], int]) -> int:
    """Run one verb: bad input becomes its diagnostics, an interruption 130, a defect 4."""
    from tokenworld.diagnostics import Failure
    from tokenworld.tools.output import EXIT_INTERRUPTED, Output

    out = Output(json)
    try:
        return work(out)
    except Failure as failure:
        return out.failure(failure)
    except KeyboardInterrupt:
        out.note("interrupted")
        out.json({"schema_version": 1, "ok": False, "interrupted": True})
        return EXIT_INTERRUPTED


def main() -> None:
    """The entry point of ``tw`` and ``token-world``."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        raise SystemExit(0)
    code = _main(sys.argv[1:])
    gc.freeze()  # the process ends: the collector need not walk through all that is left
    raise SystemExit(code)


def _main(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    add_verb(arguments[0] if arguments else "")
    try:
        code = app(_spelled_out(arguments), exit_on_error=False, result_action="return_value")
    except CycloptsError as error:  # cyclopts has told it on stderr
        _not_done(arguments, "usage", str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        _not_done(arguments, "internal_error", f"{type(error).__name__}: {error}")
        return _defect(error)
    return code if isinstance(code, int) else 0


def _spelled_out(arguments: list[str]) -> list[str]:
    """The arguments with the value that an option takes where it stands alone: ``--gate``."""
    found = list(arguments)
    for place, one in enumerate(arguments):
        if one == "--gate" and arguments[place + 1 : place + 2] not in (["plain"], ["strict"]):
            found[place] = "--gate=plain"
    return found


def _not_done(arguments: list[str], why: str, message: str) -> None:
    """The one object on stdout that ``--json`` promises, where no verb came to print it."""
    if "--json" in arguments:
        from tokenworld.tools.output import Output

        Output(as_json=True).json({"schema_version": 1, "ok": False, why: message})


def _defect(error: Exception) -> int:
    """An internal error: one line for the user, the trace for the report in a file."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="tw-defect-", suffix=".txt", delete=False, encoding="utf-8"
    ) as report:
        report.write("".join(traceback.format_exception(error)))
    sys.stderr.write(
        f"internal error: {type(error).__name__}: {error}\n"
        f"  help: please report it with the file {report.name}\n"
    )
    return 4
