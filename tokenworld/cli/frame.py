"""The application of ``tw``: the module of each verb, the exit code of a failure, parameters.

Each type at the end is one option or argument that several verbs share, with its help. Where a verb
says it otherwise, it adds to the type: ``Annotated[Window, Parameter(help="…")]``.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from tokenworld import __version__

if TYPE_CHECKING:
    from cyclopts import CycloptsError

    from tokenworld.verbs.output import Output

MODULES = {
    "checking": (
        "new", "check", "lint", "fmt", "test", "mutate", "judge", "fuzz",
        "explain", "rules", "graph", "grammar", "card", "schema", "model",
    ),
    "planning": ("plan", "hint", "audit", "doctor", "sweep", "export", "import", "equiv"),
    "playing": ("run", "rollout", "play", "publish", "picture", "legal", "why", "dist"),
    "learning": ("learn", "duel"),
    "authoring": ("author",),
    "recorded": ("runs", "log", "quality", "report", "conform"),
    "predicting": ("simbench",),
    "serving": ("lsp", "mcp"),
    "benching": ("bench",),
}  # fmt: skip
_HOME = {verb: module for module, verbs in MODULES.items() for verb in verbs}


def add_verb(verb: str) -> None:
    """Give the application this verb, or all verbs for an unknown word."""
    if verb in _HOME:
        import_module(f"tokenworld.cli.{_HOME[verb]}")
    else:
        add_all()


def add_all() -> None:
    """Give the application all its verbs: importing a module adds those of the module."""
    for module in MODULES:
        import_module(f"tokenworld.cli.{module}")


def _told(error: CycloptsError) -> object:
    """Return the message on wrong arguments, with invisible characters of the input replaced."""
    from cyclopts import CycloptsPanel

    from tokenworld.diagnostics import visible

    return CycloptsPanel(visible(str(error)))


app = App(
    name="tw",
    help="Write the rules of a world once: play them, prove its goals, export them as PDDL.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    error_formatter=_told,
)
_began = time.monotonic()
"""The time at which the command began; limits of time count from here."""


def verb(
    json: bool,
    work: Callable[[Output], int],
    seconds: float | None = None,
    megabytes: int | None = None,
) -> int:
    """Run one verb and return its exit code; 4, for a defect, comes from `_run`."""
    from tokenworld.verbs.output import Output, ended

    return ended(Output(json), work, seconds, megabytes, _began)


DECLARED: list[tuple[str, Callable[..., None]]] = []
"""The commands that `does` declared: a phrase for each, and the function with its parameters."""


def does(
    work: str, add: Callable[..., object] = app.command, *, limited: bool = False, **named: str
) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Declare a command by a function that has its parameters and its help, and no body.

    ``work`` is the function below `tokenworld.verbs` that does it (`legal.legal`), imported when
    the command runs. It gets the arguments in their order, ``out``, and the options by their names.
    ``add`` takes the command, ``named`` with another name. ``limited``: `--time-limit` and
    `--memory-limit` bound the whole command; ``work`` gets the time where it has such a parameter.
    """

    def declare(declared: Callable[..., None]) -> Callable[..., int]:
        @wraps(declared)
        def run(*arguments: object, **options: object) -> int:
            bound = signature(declared).bind(*arguments, **options)
            bound.apply_defaults()
            given, function = bound.kwargs, _function(work)
            json, megabytes = bool(given.pop("json")), given.pop("memory_limit", None)
            seconds = given.get("time_limit") if limited else None
            if not _takes(function, "time_limit"):
                given.pop("time_limit", None)
            return verb(
                json, lambda out: function(*bound.args, out=out, **given), seconds, megabytes
            )

        DECLARED.append((work, declared))
        add(run, **named)
        return run

    return declare


def _takes(function: Callable[..., int], name: str) -> bool:
    found = signature(function).parameters
    return name in found or any(one.kind is one.VAR_KEYWORD for one in found.values())


def _function(work: str) -> Callable[..., int]:
    module, _, name = work.rpartition(".")
    found: Callable[..., int] = getattr(import_module(f"tokenworld.verbs.{module}"), name)
    return found


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
    global _began
    _began = time.monotonic()
    return _run(arguments)


def _run(arguments: list[str]) -> int:
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


# ---- the parameters that several verbs share -----------------------------------------------------


_world = Parameter(help="FILE, or FILE:world where a file has several worlds.")

# ---- every verb ---------------------------------------------------------------------------------

Flag = Annotated[bool, Parameter(negative="")]  # given or left out: there is no `--no-flag`
Json = Annotated[Flag, Parameter(name="--json", help="One JSON object on stdout.")]
Pedantic = Annotated[Flag, Parameter(help="Add remarks that are often deliberate.")]
Paths = Annotated[tuple[str, ...], Parameter(help="Files and folders.")]
OutputFile = Annotated[Path, Parameter(name=["-o", "--output"], help="The file to write.")]

# ---- a world, and how it is played and planned --------------------------------------------------

World = Annotated[str, _world]
MaybeWorld = Annotated[str | None, _world]
Seed = Annotated[int, Parameter(name="--seed", help="The seed of all draws.")]
Goal = Annotated[str | None, Parameter(name="--goal", help="One goal line; any by default.")]
Limit = Annotated[float, Parameter(name="--time-limit", help="Seconds of planning at most.")]
Whole = Annotated[
    float | None,
    Parameter(name="--time-limit", help="Seconds for the whole command at most; none by default."),
]
Memory = Annotated[
    int | None, Parameter(name="--memory-limit", help="MB of memory at most, planners included.")
]
States = Annotated[int, Parameter(name="--states", help="States of the explored graph at most.")]
Played = Annotated[Path | None, Parameter(help="What was played so far.")]
Policy = Annotated[str, Parameter(help="random, or a policy or script file.")]
Length = Annotated[int, Parameter(help="Records of a run at most.")]
Operator = Annotated[Flag, Parameter(help="Hide nothing: show what is secret.")]
Ticks = Annotated[int | None, Parameter(help="Stop after this many records.")]

# ---- recorded runs ------------------------------------------------------------------------------

Store = Annotated[
    Path | None,
    Parameter(name="--store", help="The run store (.tw/runs.sqlite beside `domains`, else here)."),
]
Prices = Annotated[
    str | None,
    Parameter(
        name="--prices",
        help="Prices of a million tokens in and out, such as 0.5,1.5, where no cost is told.",
    ),
]
Run = Annotated[str, Parameter(help="A run.")]
RunName = Annotated[
    str | None, Parameter(help="A run's number, its name, or a world; the latest by default.")
]
RunNames = Annotated[tuple[str, ...], Parameter(help="Runs; the latest by default.")]
Moment = Annotated[str, Parameter(help="RUN, or RUN@N after record N.")]
Record = Annotated[int, Parameter(help="After this record; 0 is the start.")]
ScriptOn = Annotated[Path | None, Parameter(help="A script that plays on.")]
PlayerOn = Annotated[
    Literal["random", "planner", "adversarial"] | None, Parameter(help="Who plays on.")
]
Window = Annotated[int, Parameter(name=["--window", "--last"], help="Number of last ticks.")]

# ---- programs beside a run ----------------------------------------------------------------------

Narrator = Annotated[str | None, Parameter(help="A program that tells outcomes in prose.")]
NarratorUrl = Annotated[str | None, Parameter(help="The HTTP address of a narrator.")]
OperatorOn = Annotated[str | None, Parameter(help="A program that writes rules for unknown words.")]
OperatorUrl = Annotated[str | None, Parameter(help="The HTTP address of an operator.")]
Grown = Annotated[
    Path | None, Parameter(help="Write the world's file with the rules of the operator here.")
]
ReplyTimeout = Annotated[float, Parameter(help="Seconds for an answer of a program at most.")]
