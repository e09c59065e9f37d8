"""Rules that change in play: files read again, and rules suggested for unknown words.

After a change the run so far is closed and the game goes on in a new one. The new run stores the
changed texts and the state that it begins with; its header names the record it came from, so both
replay, each by its own rules. For unknown words a new rule is suggested: an action with a phrase of
these words, whose named objects become parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import State
from tokenworld.ground import NoMatch
from tokenworld.ground.outcome import NoMatchKind
from tokenworld.prose.lexicon import Lexicon, after_article, tidy
from tokenworld.session.carrying import Carried, carry
from tokenworld.session.loading import (
    OpenWorld,
    check_text,
    choose_world,
    compile_world,
    load_program,
)
from tokenworld.session.moments import Moment
from tokenworld.session.recording import Recording
from tokenworld.session.session import Session
from tokenworld.store.read import find_run


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The result of a reload: the run that was left and the one that goes on (``None`` where
    nothing is recorded), how many values stayed, and what else became of the state, in
    sentences."""

    left: str | None
    run: str | None
    kept: int
    notes: tuple[str, ...]


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
        """Return whether a file was written since the last look, and has another text than the
        rules."""
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


TODO: Final = "TODO"
"""The mark of the lines of a new action that its author has yet to write."""

_NEAR: Final = 5
_TRIED: Final = 6
"""So many names are tried for a new action: one may be taken."""

_WHAT: Final[dict[NoMatchKind, str]] = {
    "unknown_verb": "the verb: no action begins with these words",
    "bad_arity": "the words: the verb is known, but not in this form",
    "no_such_object": "a thing: nothing of that name is here",
    "wrong_type": "a thing: it is of another kind than the action needs",
    "ambiguous": "a thing: several are meant",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """Words that mean nothing now: what failed of them, and the commands that come near."""

    asked: str
    found: NoMatch
    failed: str
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that the words name, as a parameter: its name there, the type, the object."""

    param: str
    kind: str
    thing: str


@dataclass(frozen=True, slots=True)
class Stub:
    """A new action as ``.tw`` text, with what it is made of; ``words`` are a command of it."""

    name: str
    phrase: str
    params: tuple[Named, ...]
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A stub behind the rules of a file: ``source`` is the whole new text, ``findings`` are its
    errors and what else the stub brings in. It may be written where there are none."""

    stub: Stub
    source: Source
    findings: tuple[Diagnostic, ...]

    @property
    def clean(self) -> bool:
        return not self.findings


def gap(session: Session, asked: str) -> Gap | None:
    """Say what is missing for words to mean something; ``None`` where they do."""
    found = session.why_not(asked).no_match
    if found is None:
        return None
    same = _about_the_same(session, asked) if found.kind == "unknown_verb" else ()
    near = dict.fromkeys((*same, *found.suggestions))
    return Gap(asked, found, _WHAT[found.kind], tuple(near)[:_NEAR])


def _about_the_same(session: Session, asked: str) -> Iterator[str]:
    """List what can be done now with the things that the words name."""
    numbers = {number for _, number in _pieces(asked, Lexicon(session.speaker())) if number >= 0}
    if numbers:
        yield from (one.text for one in session.legal() if numbers & set(one.command.args))


# ---- the words ----------------------------------------------------------------------------------


def _pieces(asked: str, lexicon: Lexicon) -> list[tuple[str, int]]:
    """The words in order, each as (word, -1), and longest names as (name, number of the object)."""
    words = tidy(re.sub(r"[^\w\s'-]", " ", asked)).split()
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(words):
        end, number = next(_things(words, at, lexicon), (at + 1, -1))
        piece = " ".join(words[at:end])
        found.append((piece if number < 0 else piece[after_article(piece) :], number))
        at = end
    return found


def _things(words: Sequence[str], at: int, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Names that begin at a word, the longest first; of several objects one that is here."""
    for end in range(len(words), at, -1):
        numbers = lexicon.called(" ".join(words[at:end]))
        if numbers:
            yield end, next((one for one in numbers if lexicon.in_scope(one)), numbers[0])


# ---- the action ---------------------------------------------------------------------------------


def stubs(session: Session, asked: str) -> Iterator[Stub]:
    """Actions for the words, which differ in their names: the plainest first."""
    lexicon = Lexicon(session.speaker())
    pieces = _pieces(asked, lexicon)
    params = _params(pieces, lexicon)
    phrase = " ".join(
        word if number < 0 else f"{{{params[at].param}}}"
        for at, (word, number) in zip(_places(pieces), pieces, strict=True)
    )
    words = [word for word, number in pieces if number < 0]
    for name in _names(words, params):
        if name not in session.world.program.actions:
            said = " ".join(word for word, _ in pieces)
            yield Stub(name, phrase, params, _written(name, phrase, params), said)


def _places(pieces: Sequence[tuple[str, int]]) -> Iterator[int]:
    """For each piece, how many things come before it."""
    things = 0
    for _, number in pieces:
        yield things
        things += number >= 0


def _params(pieces: Sequence[tuple[str, int]], lexicon: Lexicon) -> tuple[Named, ...]:
    found: list[Named] = []
    for name, number in pieces:
        if number < 0:
            continue
        kind = lexicon.speaker.kind(number)
        letter = kind[0].lower() if kind[0].isascii() and kind[0].isalpha() else "x"
        taken = {one.param for one in found}
        names = (letter if n == 1 else f"{letter}{n}" for n in count(1))
        found.append(Named(next(x for x in names if x not in taken), kind, name))
    return tuple(found)


def _names(words: Sequence[str], params: Sequence[Named]) -> Iterator[str]:
    plain = "_".join(filter(None, (re.sub(r"[^a-z0-9]+", "_", w).strip("_") for w in words)))
    plain = plain if plain[:1].isalpha() else f"act_{plain}".rstrip("_")
    yield plain
    if params:
        yield f"{plain}_{params[0].kind.lower()}"
    yield from (f"{plain}_{number}" for number in count(2))


def _written(name: str, phrase: str, params: Sequence[Named]) -> str:
    formals = ", ".join(f"{one.param}: {one.kind}" for one in params)
    things = "".join(f" {{The {one.param}}} takes part." for one in params)
    return (
        f'action {name}({formals}) as "{phrase}" {{\n'
        f'  require true else todo "{TODO}: say what this needs, and why it is refused."\n'
        f'  say "{TODO}: say what this changes.{things}"\n'
        "}\n"
    )


# ---- behind the rules of a file -----------------------------------------------------------------


def grown(text: str, stub: Stub) -> str:
    """A file's text with the action behind it."""
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}{end}{end}{stub.text.replace(chr(10), end)}"


def tried(session: Session, asked: str) -> Trial | None:
    """An action for the words, checked with the world's file as it is on disk now.

    The first name that brings in no finding; where none does, the plainest one with its findings.
    ``None`` where there are no words to make a phrase of. Raises `Failure` for a file that cannot
    be read.
    """
    path = session.world.loaded.sources[0].path
    source = session.world.loaded.sources[0] if path is None else read_source(Path(path))
    known = {_told(one) for one in check_text(source).diagnostics}
    first: Trial | None = None
    for stub in islice(stubs(session, asked), _TRIED):
        if not stub.phrase:
            return None
        whole = Source(source.name, path, grown(source.text, stub))
        found = check_text(whole).diagnostics
        new = (one for one in found if one.is_error or _told(one) not in known)
        trial = Trial(stub, whole, tuple(new))
        if trial.clean:
            return trial
        first = first or trial
    return first


def _told(found: Diagnostic) -> tuple[str, str, int]:
    return found.code, found.message, found.span.start if found.span is not None else -1
