"""The application of ``tw``: how it starts and ends, and the exit code of a failure."""

from __future__ import annotations

import gc
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

from cyclopts import App

from tokenworld import __version__
from tokenworld.cli.commands import add_commands, begin

if TYPE_CHECKING:
    from cyclopts import CycloptsError


def _told(error: CycloptsError) -> object:
    """Return the message on wrong arguments, with invisible characters of the input replaced."""
    from cyclopts import CycloptsPanel, UnknownCommandError

    from tokenworld.diagnostics import visible

    if isinstance(error, UnknownCommandError) and error.app is not None:
        names, error.app = [one for one in error.app if not one.startswith("-")], App()
        for name in names:  # alone: to list them, no verb is imported
            error.app.command(App(name=name))
    return CycloptsPanel(visible(str(error)))


app = App(
    name="tw",
    help="Write the rules of a world once: play them, prove its goals, export them as PDDL.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    error_formatter=_told,
)
add_commands(app)


def main() -> None:
    """The entry point of ``tw`` and ``token-world``."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        raise SystemExit(0)
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` wants it
            signal.signal(number, _told_to_end)
    try:
        code = _run(sys.argv[1:])
    except _Told as told:
        signal.signal(told.number, signal.SIG_DFL)
        signal.raise_signal(told.number)
        raise
    gc.freeze()  # the process ends: the collector need not walk through all that is left
    raise SystemExit(code)


class _Told(SystemExit):
    """A signal asked the program to end.

    The exception leaves every block, so that child processes end too.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _told_to_end(number: int, frame: FrameType | None) -> None:
    raise _Told(number)


def _main(arguments: list[str]) -> int:
    """Run a command within this process."""
    begin()
    return _run(arguments)


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

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
    """The arguments with the value that an option takes where it stands alone: ``--gate``, and
    ``--operator`` of `run`."""
    found = list(arguments)
    for place, one in enumerate(arguments):
        following = arguments[place + 1 : place + 2]
        if one == "--gate" and following not in (["plain"], ["strict"]):
            found[place] = "--gate=plain"
        alone = not following or following[0].startswith("-")
        if one == "--operator" and arguments[0] == "run" and alone:
            found[place] = "--operator="
    return found


def _not_done(arguments: list[str], why: str, message: str) -> None:
    """The one object on stdout that ``--json`` promises, where no verb came to print it."""
    if "--json" in arguments:
        from tokenworld.verbs.output import Output

        Output(as_json=True).json({"schema_version": 1, "ok": False, why: message})


def _defect(error: Exception) -> int:
    """An internal error: one line for the user, the trace for the report in a file."""
    import tempfile
    import traceback

    from tokenworld.verbs.output import Output

    with tempfile.NamedTemporaryFile(
        "w", prefix="tw-defect-", suffix=".txt", delete=False, encoding="utf-8"
    ) as report:
        report.write("".join(traceback.format_exception(error)))
    Output().note(
        f"internal error: {type(error).__name__}: {error}\n"
        f"  help: please report it with the file {report.name}"
    )
    return 4
