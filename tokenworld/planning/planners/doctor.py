"""The installed planners, their versions, and how to install the others (`tw doctor`)."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.planners.children import answer_of

if TYPE_CHECKING:
    from importlib import metadata


_JAVA_NEEDED = 17


_JAVA_SECONDS = 10


@frozen
class EnginePackage:
    """A planner package: ``program`` is the end of the path that is run or imported."""

    engine: str
    extra: str
    name: str
    requirement: str
    program: str
    java: bool = False


FAST_DOWNWARD = EnginePackage(
    "fast-downward", "classical", "up-fast-downward", "up-fast-downward>=0.5", "bin/downward"
)


SYMK = EnginePackage("symk", "topk", "up-symk", "up-symk>=1.3", "bin/downward")


ENHSP = EnginePackage("enhsp", "numeric", "up-enhsp", "up-enhsp>=0.0.27", "enhsp.jar", java=True)


UNIFIED_PLANNING = EnginePackage(
    "unified-planning",
    "plan",
    "unified-planning",
    "unified-planning>=1.2,<2",
    "unified_planning/__init__.py",
)


@frozen
class EngineInfo:
    """One planner: ``version`` and ``path`` are ``None`` where it is missing.

    ``problem`` says why it cannot be used, empty if it can; ``install`` is the command that makes
    it usable. ``extra`` is the extra of this project that installs it.
    """

    engine: str
    extra: str
    package: str
    version: str | None
    path: str | None
    install: str
    problem: str = ""

    @property
    def ready(self) -> bool:
        return not self.problem

    def to_json(self) -> dict[str, object]:
        return {
            "engine": self.engine,
            "extra": self.extra,
            "package": self.package,
            "version": self.version,
            "path": self.path,
            "ready": self.ready,
            "problem": self.problem,
            "install": self.install,
        }


def engines() -> tuple[EngineInfo, ...]:
    """All planners the project knows, present or not, in the order they are tried."""
    return tuple(find_engine(one) for one in (FAST_DOWNWARD, SYMK, ENHSP, UNIFIED_PLANNING))


def find_engine(package: EnginePackage) -> EngineInfo:
    """Look for one planner in this environment; a broken installation is a ``problem``."""
    from importlib import metadata  # dear to import, and seldom needed

    install = f"python -m pip install '{package.requirement}'"
    try:
        distribution = metadata.distribution(package.name)
    except metadata.PackageNotFoundError:
        problem = f"the package `{package.name}` is not installed"
        return EngineInfo(package.engine, package.extra, package.name, None, None, install, problem)
    path = _program(distribution, package.program)
    problem = "" if path else f"the package `{package.name}` lacks its program; install it again"
    if path and package.java:
        problem, install = _java_problem(install)
    if problem and not path:
        install = f"python -m pip install --force-reinstall '{package.requirement}'"
    return EngineInfo(
        package.engine,
        package.extra,
        package.name,
        distribution.version,
        path,
        install,
        problem,
    )


def _program(distribution: metadata.Distribution, ending: str) -> str | None:
    """The path of the program, if the file exists."""
    for file in distribution.files or ():
        if f"/{file.as_posix()}".removesuffix(".exe").endswith(f"/{ending}"):
            path = Path(str(distribution.locate_file(file)))
            return str(path) if path.is_file() else None
    return None


def translator(program: Path) -> tuple[str, ...] | None:
    """Return the command that translates PDDL to SAS+ for a Fast Downward program, if installed.

    Since up-fast-downward 1.0 it is a separate package; before, it lay beside the program.
    """
    from importlib.util import find_spec

    with suppress(ModuleNotFoundError):
        if find_spec("fast_downward.translate") is not None:
            return (sys.executable, "-m", "fast_downward.translate")
    script = program.parent / "translate" / "translate.py"
    return (sys.executable, str(script)) if script.is_file() else None


def driver(program: Path) -> tuple[str, ...] | None:
    """Return the command of the driver of a Fast Downward program, which knows its aliases."""
    for folder in program.parents[:5]:
        script = folder / "fast-downward.py"
        if script.is_file():
            return (sys.executable, str(script))
    return None


def _java_problem(install: str) -> tuple[str, str]:
    """The problem that keeps Java from running the planner, with its remedy."""
    advice = f"install Java {_JAVA_NEEDED} or newer, for example from https://adoptium.net"
    version = _java_version()
    if version is None:
        return "`java` is not found or does not start", advice
    if version < _JAVA_NEEDED:
        return f"it needs Java {_JAVA_NEEDED}, and `java` is version {version}", advice
    return "", install


def _java_version() -> int | None:
    """The major version of the `java` on the path."""
    answer = answer_of("java", "-version", seconds=_JAVA_SECONDS)
    if answer is None:
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', answer.output)
    if found is None:
        return None
    major = int(found[1])
    return int(found[2] or 0) if major == 1 else major


def needed(package: EnginePackage) -> Path:
    """The path of a planner; raises `Failure` (TW0811) with the install command if missing."""
    found = find_engine(package)
    if found.ready and found.path is not None:
        return Path(found.path)
    message = f"The planner `{found.engine}` cannot be used: {found.problem}."
    raise Failure(Diagnostic("TW0811", message, hint=f"Run `{found.install}`."))
