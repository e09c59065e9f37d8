"""Changed rules under a running game: the files are read again, and play goes on where it stood.

The store tells the truth about it: the run so far is closed, and the game goes on in a new one. It
has the changed texts and among them the state that it begins with; its header says which record
it came from. So both replay, each by its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import State
from tokenworld.session.carrying import Carried, carry
from tokenworld.session.loading import OpenWorld, choose_world, compile_world, load_program
from tokenworld.session.moments import Moment
from tokenworld.session.recording import Recording
from tokenworld.session.session import Session
from tokenworld.store import find_run

__all__ = [
    "Reloaded",
    "Watched",
    "carried_again",
    "changed_sources",
    "reload_files",
    "reload_world",
]


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a reload came to: the run that was left and the one that goes on (``None`` where nothing
    is recorded), how many values stayed, and what else became of the state, in sentences."""

    left: str | None
    run: str | None
    kept: int
    notes: tuple[str, ...]


def reload_files(session: Session) -> Reloaded | None:
    """Read the files of the world again and go on with them; ``None`` where no text differs.

    Raises `Failure` where the files do not check or the game cannot go on with them: then nothing
    is changed, and it goes on with the rules that it has.
    """
    carried = carried_again(session.world, session.state)
    return None if carried is None else reload_world(session, carried)


def carried_again(world: OpenWorld, state: State) -> Carried | None:
    """The world as its files have it now, begun with a state; ``None`` where no text differs.

    It changes no session, so another thread may do it. Raises `Failure` where the files do not
    check, or the world cannot begin with the state.
    """
    found = _read_again(world)
    return None if found is None else carry(world, state, found)


def _read_again(world: OpenWorld) -> OpenWorld | None:
    sources = world.loaded.sources
    if not changed_sources(sources):
        return None
    path = sources[0].path
    assert path is not None
    loaded = load_program(path)
    found = choose_world(loaded.program, world.world.name, str(path))
    return OpenWorld(loaded, found, compile_world(loaded.program, found))


def changed_sources(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Those whose file has another text now, or cannot be read any more.

    Raises `Failure` (TW1107) where the rules came from no file, as those of a stored run.
    """
    if sources[0].path is None:
        message = "The rules of this game come from no file."
        hint = "Play the world's file, to change its rules meanwhile."
        raise Failure(Diagnostic("TW1107", message, hint=hint))
    return tuple(one for one in sources if one.path is not None and _text(one.path) != one.text)


def _text(path: Path) -> str | None:
    try:
        return read_source(path).text
    except Failure:
        return None


def reload_world(session: Session, carried: Carried) -> Reloaded:
    """Go on with other rules from the present moment; what was played so far cannot be undone any
    more, and stays in the run store. If play went on since the state was carried over, it is
    carried over anew. Raises `Failure`, with nothing changed, where that cannot be.
    """
    _check_moment(session)
    if carried.was is not session.state:
        carried = carry(session.world, session.state, carried.declared)
    start = carried.start
    left, now = session.recording, None
    if left is not None:
        now = _recorded(session, left, carried.world, start)
    session.recording = now
    session.enter(carried.world)
    session.travel([Moment(start, "", (), None if now is None else now.handle.id, 0)])
    return Reloaded(
        None if left is None else left.slug,
        None if now is None else now.slug,
        carried.kept,
        carried.notes,
    )


def _recorded(session: Session, left: Recording, world: OpenWorld, start: State) -> Recording:
    """Begin the run that goes on, then close the one that is left."""
    store, last = left.store, session.moments[-1]
    run = find_run(store, left.handle.id if last.run is None else last.run)
    origin = store.link_after(run, last.records)
    now = Recording.begin(store, world, start, session.player, origin)
    left.finish("reloaded")
    return now


def _check_moment(session: Session) -> None:
    """Raise `Failure` (TW1107) where the present moment cannot begin a run."""
    if session.moments[-1].scratch:
        message = "A scratch branch cannot go on with other rules."
        hint = "Drop the scratch branch first, then reload."
        raise Failure(Diagnostic("TW1107", message, hint=hint))
    if session.state.turn:
        message = "A round is under way, and cannot go on with other rules."
        hint = "Let every actor have its turn, then reload."
        raise Failure(Diagnostic("TW1107", message, hint=hint))


class Watched:
    """The files of a session, looked at now and then by their times of change.

    A text is only read when the time or size of its file changed, so that looking is cheap.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = self._stamps()

    def _stamps(self) -> tuple[tuple[str, int, int], ...]:
        return tuple(_stamp(one.path) for one in self._session.world.loaded.sources if one.path)

    def changed(self) -> bool:
        """Whether a file was written since the last look, and has another text than the rules."""
        stamps = self._stamps()
        if stamps == self._seen:
            return False
        self._seen = stamps
        return bool(stamps) and bool(changed_sources(self._session.world.loaded.sources))


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size
