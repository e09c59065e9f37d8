"""From a path on the command line to a world that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tokenworld.assets import MissingAssetsError, domains_folder, rules_folder
from tokenworld.check import (
    Checked,
    Loader,
    Timed,
    Watch,
    check_source,
    file_loader,
    timed,
    undisturbed,
)
from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    Source,
    did_you_mean,
    has_errors,
    in_order,
    read_source,
)
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, State
from tokenworld.ground import Instance, Raw, instantiate, param_values
from tokenworld.model import Program, World, may_draw
from tokenworld.prose.wording import EnglishProse


class LoadFailure(Failure):
    """Bad sources: the diagnostics with the texts they point into."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], sources: tuple[Source, ...]) -> None:
        super().__init__(*diagnostics)
        self.sources = sources


@frozen
class Loaded:
    """A checked program with its source texts and the remarks of the checker."""

    program: Program
    sources: tuple[Source, ...]
    remarks: tuple[Diagnostic, ...]

    @property
    def by_name(self) -> dict[str, Source]:
        """The source texts by the names that places begin with."""
        return {one.name: one for one in self.sources}


@frozen
class OpenWorld:
    """One world of a loaded program, compiled."""

    loaded: Loaded
    world: World
    engine: Engine

    @property
    def program(self) -> Program:
        """The rules of this world, without rules that only other worlds of the file use."""
        return self.engine.instance.program

    @property
    def instance(self) -> Instance:
        return self.engine.instance


def split_target(target: str) -> tuple[Path, str | None]:
    """``FILE[:world]``; the bare name of a bundled world means its file."""
    path, colon, name = target.rpartition(":")
    if colon and path and not Path(target).exists() and "/" not in name and "\\" not in name:
        return _bundled(path), name
    return _bundled(target), None


def _bundled(target: str) -> Path:
    path = Path(target)
    if path.exists() or path.suffix or len(path.parts) != 1:
        return path
    try:
        bundled = domains_folder() / target / "world.tw"
    except MissingAssetsError:
        return path
    return bundled if bundled.is_file() else path


def _rules() -> tuple[Path, ...]:
    try:
        return (Path("rules"), rules_folder())
    except MissingAssetsError:
        return (Path("rules"),)


def check_text(
    source: Source | str, *, pedantic: bool = False, watch: Watch | None = None
) -> Checked:  # fmt: skip
    """Check a text as if it were a file: names, types, rules, and that each world can start.

    Diagnostics call a bare text ``text.tw``. ``watch`` may measure the passes of the checker, see
    `check_source`.
    """
    source = Source("text.tw", None, source) if isinstance(source, str) else source
    return started_text(source, pedantic=pedantic, watch=watch)[0]


def started_text(
    source: Source, *, pedantic: bool = False, watch: Watch | None = None
) -> tuple[Checked, dict[str, Engine]]:
    """The same, with the engine of each world by name, for callers that use one of them."""
    with undisturbed():
        return started(check_source(source, project_loader(), pedantic=pedantic, watch=watch))


def started(checked: Checked) -> tuple[Checked, dict[str, Engine]]:
    """Return a check with the findings of each world's start, and the engines of the worlds."""
    engines: dict[str, Engine] = {}
    if checked.program is None:
        return checked, engines
    found = list(checked.diagnostics)
    for world in checked.program.worlds.values():
        try:
            engines[world.name] = compile_world(checked.program, world)
            found += _reached(engines[world.name], engines[world.name].start())
        except Failure as failure:
            found.extend(failure.diagnostics)
    findings = in_order(found)
    program = None if has_errors(findings) else checked.program
    return Checked(program, findings, checked.sources), engines


def project_loader() -> Loader:
    """Find modules as `check_text` does."""
    return file_loader(_rules())


def _reached(engine: Engine, start: State) -> Iterator[Diagnostic]:
    """The goals that hold in the start state, where that is the same for every seed (TW0607)."""
    world, reached = engine.instance.world, engine.reached(start)
    if any(may_draw(setup) for setup in world.setups):
        return
    for line in world.goals:
        if line.name in reached:
            yield Diagnostic(
                "TW0607",
                f"The goal `{line.name}` of `{world.name}` holds in the start state.",
                line.span,
                "true before anything is done",
                hint="Change the start, or ask for something that is still to be done.",
            )


def check_file(path: Path, *, pedantic: bool = False) -> Checked:
    """Check a file; `Failure` if it cannot be read."""
    return check_text(read_source(path), pedantic=pedantic)


def timed_file(path: Path, *, pedantic: bool = False) -> Timed:
    """Check a file and measure it; `Failure` if it cannot be read."""
    source = read_source(path)
    return timed(lambda watch: check_text(source, pedantic=pedantic, watch=watch))


def _loaded(checked: Checked) -> Loaded:
    if checked.program is None:
        errors = tuple(found for found in checked.diagnostics if found.is_error)
        raise LoadFailure(errors, checked.sources)
    return Loaded(checked.program, checked.sources, checked.diagnostics)


def load_program(path: Path) -> Loaded:
    """A checked program; `LoadFailure` with every error if it is not sound."""
    return _loaded(check_source(read_source(path), file_loader(_rules())))


def choose_world(program: Program, name: str | None, shown: str) -> World:
    """The named world, or the only one (TW0005)."""
    worlds = program.worlds
    if name is not None and name in worlds:
        return worlds[name]
    names = ", ".join(f"`{shown}:{one}`" for one in worlds)
    if name is not None:
        hint = did_you_mean(name, worlds) or (f"Name one of {names}." if worlds else None)
        raise Failure(Diagnostic("TW0005", f"`{shown}` has no world `{name}`.", hint=hint))
    if not worlds:
        hint = "Add a `world name { … }` block, or name a file that has one."
        raise Failure(Diagnostic("TW0005", f"`{shown}` has no world.", hint=hint))
    if len(worlds) > 1:
        hint = f"Name one: {names}."
        raise Failure(Diagnostic("TW0005", f"`{shown}` has several worlds.", hint=hint))
    return next(iter(worlds.values()))


def compile_world(
    program: Program, world: World, params: Mapping[str, Raw] | None = None
) -> Engine:
    """The engine of one world, with some params overridden."""
    values = param_values(program, world, params or {})
    return Engine(instantiate(program, world, values), EnglishProse())


def open_world(
    target: str | Path, params: Mapping[str, Raw] | None = None, *, scenarios: bool = True
) -> OpenWorld:
    """The world that ``FILE[:world]`` names; raises `Failure` if it cannot be opened.

    Without its ``scenarios``, objects that only these name do not exist in it.
    """
    path, name = split_target(str(target))
    loaded = load_program(path)
    if not scenarios:
        loaded = replace(loaded, program=replace(loaded.program, scenarios=()))
    world = choose_world(loaded.program, name, str(path))
    return OpenWorld(loaded, world, compile_world(loaded.program, world, params))


def by_other_rules(world: OpenWorld, program: Program) -> OpenWorld:
    """The same world by the rules of another program, which declares it too."""
    declared = program.worlds[world.world.name]
    loaded = replace(world.loaded, program=program)
    return OpenWorld(loaded, declared, compile_world(program, declared))


def open_text(sources: tuple[Source, ...], name: str) -> OpenWorld:
    """A world from source texts (the first is the root), used to reopen a stored run."""
    root, *others = sources

    def find(path: tuple[str, ...], user: Source) -> Source | None:
        wanted = Path(*path[:-1], f"{path[-1]}.tw")
        names = {one.name: one for one in others}
        beside = (Path(user.name).parent / wanted).as_posix()
        exact = names.get(beside) or names.get(wanted.as_posix())
        ends = (one for one in others if Path(one.name).parts[-len(path) :] == wanted.parts)
        return exact or next(ends, None)

    def data(name: str, user: Source) -> Source:
        kept = (one for one in others if one.name == name)
        return next(kept, Source(name, None, ""))  # a replay: its rows belong to no run

    loaded = _loaded(check_source(root, find, data))
    world = choose_world(loaded.program, name, root.name)
    return OpenWorld(loaded, world, compile_world(loaded.program, world))
