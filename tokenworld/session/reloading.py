"""Rules that change in play: files read again, and rules for unknown words, suggested or written.

After a change the run so far is closed and the game goes on in a new one. The new run stores the
changed texts and the state that it begins with; its header names the record it came from, so both
replay, each by its own rules. For unknown words a new rule is suggested: an action with a phrase of
these words, whose named objects become parameters. A rule of an operator is
accepted if it checks, gives the words a meaning, provably keeps the conserved sums, and opens no
way into a dead end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from tokenworld.check.analysis.proofs import proofs
from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.engine import EngineSimulator, State
from tokenworld.ground import Json, NoMatch, value_text
from tokenworld.ground.outcome import NoMatchKind
from tokenworld.model import Program
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.dead_ends import Place, dead_ends, partition
from tokenworld.planning.space.graph import Exploring
from tokenworld.prose.intents import TypedIntent
from tokenworld.prose.lexicon import LONGEST, Lexicon, after_article, tidy
from tokenworld.prose.wording import quoted
from tokenworld.session.carrying import Carried, carry
from tokenworld.session.intents import AnyIntent, Resolver
from tokenworld.session.loading import (
    LoadFailure,
    OpenWorld,
    check_text,
    choose_world,
    compile_world,
    load_program,
    open_text,
)
from tokenworld.session.moments import Moment
from tokenworld.session.recording import Recording
from tokenworld.session.remote import Beside, Channel, PlayerFailure
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


def reload_world(session: Session, carried: Carried, reason: str = "reloaded") -> Reloaded:
    """Go on with other rules from the present moment; earlier play cannot be undone any more, and
    stays in the run store, closed for a ``reason``. If play went on since the state was carried
    over, it is carried over again. Raises `Failure`, with nothing changed, if that cannot be."""
    _check_moment(session)
    if carried.was is not session.state:
        carried = carry(session.world, session.state, carried.declared)
    start = carried.start
    left, now = session.recording, None
    if left is not None:
        now = _recorded(session, left, carried.world, start, reason)
    session.recording = now
    session.enter(carried.world)
    session.travel([Moment(start, "", (), None if now is None else now.handle.id, 0)])
    return Reloaded(
        None if left is None else left.slug,
        None if now is None else now.slug,
        carried.kept,
        carried.notes,
    )


def _recorded(
    session: Session, left: Recording, world: OpenWorld, start: State, reason: str
) -> Recording:
    """Begin the run that goes on, then close the one that is left."""
    store, last = left.store, session.moments[-1]
    run = find_run(store, left.handle.id if last.run is None else last.run)
    origin = store.link_after(run, last.records)
    now = Recording.begin(store, world, start, session.player, origin)
    left.finish(reason)
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
"""The comment on lines of a new action that its author has yet to write."""

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
    """Words without a meaning: the part that failed, and similar commands."""

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
    """A new action as ``.tw`` text, with its parts; ``words`` are a command of it."""

    name: str
    phrase: str
    params: tuple[Named, ...]
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A stub after the rules of a file: ``source`` is the whole new text, ``findings`` are its
    errors and the other findings of the stub. It may be written if there are none."""

    stub: Stub
    source: Source
    findings: tuple[Diagnostic, ...]

    @property
    def clean(self) -> bool:
        return not self.findings


def gap(session: Session, asked: str) -> Gap | None:
    """Return the reason why words have no meaning, with suggestions; ``None`` if they have one."""
    found = session.why_not(asked).no_match
    if found is None:
        return None
    same = _about_the_same(session, asked) if found.kind == "unknown_verb" else ()
    near = dict.fromkeys((*same, *found.suggestions))
    return Gap(asked, found, _WHAT[found.kind], tuple(near)[:_NEAR])


def _about_the_same(session: Session, asked: str) -> Iterator[str]:
    """List the legal commands with objects that the words name."""
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


# ---- after the rules of a file -----------------------------------------------------------------


def grown(text: str, rule: str) -> str:
    """A file's text with a rule after it."""
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}{end}{end}{rule.replace(chr(10), end)}"


def tried(session: Session, asked: str) -> Trial | None:
    """An action for the words, checked with the world's file as it is on disk now.

    Its name is the first one without a finding, or else the plainest one, with its findings.
    ``None`` if there are no words for a phrase. Raises `Failure` for a file that cannot be read.
    """
    path = session.world.loaded.sources[0].path
    source = session.world.loaded.sources[0] if path is None else read_source(Path(path))
    known = {_told(one) for one in check_text(source).diagnostics}
    first: Trial | None = None
    for stub in islice(stubs(session, asked), _TRIED):
        if not stub.phrase:
            return None
        whole = Source(source.name, path, grown(source.text, stub.text))
        found = check_text(whole).diagnostics
        new = (one for one in found if one.is_error or _told(one) not in known)
        trial = Trial(stub, whole, tuple(new))
        if trial.clean:
            return trial
        first = first or trial
    return first


def _told(found: Diagnostic) -> tuple[str, str, int]:
    return found.code, found.message, found.span.start if found.span is not None else -1


# ---- the effects of a new rule on the world ------------------------------------------------------


LOOK: Final = 5.0
"""Seconds to look for dead ends with the rules as they were, and again with a new one."""
_STATES: Final = 20_000
"""So many states are looked at for dead ends, before and after."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The prospects of a moment: whether a goal is in reach, in how many of the examined states it
    no longer is, and the actions that lead there (`pass` among them). ``complete``: all states were
    examined."""

    place: Place
    states: int
    dead: int
    complete: bool
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """The effects of new rules on a world: the ``actions`` that they add, the `conserve` lines that
    are ``proved`` with them, those that are ``unproved`` because of them (with the rules at fault),
    and the prospects of the present moment ``before`` and ``after`` (``None`` without a goal)."""

    actions: tuple[str, ...]
    proved: tuple[str, ...]
    unproved: tuple[tuple[str, tuple[str, ...]], ...]
    before: Reach | None
    after: Reach | None

    @property
    def opened(self) -> tuple[str, ...]:
        """The new actions that lead into dead ends."""
        return (
            ()
            if self.after is None
            else tuple(one for one in self.after.ways if one in self.actions)
        )

    @property
    def lost(self) -> bool:
        """Return whether a goal that was in reach no longer is."""
        if self.before is None or self.after is None:
            return False
        return self.before.place != "dead" and self.after.place == "dead"

    def to_json(self) -> dict[str, Json]:
        return {
            "actions": list(self.actions),
            "conserved": list(self.proved),
            "dead_ends": None if self.before is None or self.after is None else {
                "before": self.before.dead, "after": self.after.dead,
                "states": [self.before.states, self.after.states],
                "complete": self.before.complete and self.after.complete,
                "opened": list(self.opened),
            },
        }  # fmt: skip

    def told(self) -> Iterator[str]:
        """The same in sentences."""
        yield from (f"`conserve {one}` is proved." for one in self.proved)
        for line, rules in self.unproved:
            yield f"`conserve {line}` is not proved: {_listed(rules)} may break it."
        if self.before is None or self.after is None:
            return
        far = "" if self.before.complete and self.after.complete else ", as far as was looked"
        yield f"Dead ends: {self.before.dead} states before, {self.after.dead} now{far}."
        if self.opened:
            yield f"{_listed(self.opened)} can lead into a dead end."
        if self.lost:
            yield "The goal is out of reach with these rules."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def growth(session: Session, carried: Carried, seconds: float) -> Growth:
    """Compare the world of a session with the one that its state was carried over to; ``seconds``
    are for looking at the states of each. Another thread may do it with a session that is apart.
    """
    old = session.world
    was, now = old.program, carried.world.program
    before, after = _open_rules(was), _open_rules(now)
    unproved = (
        (line, tuple(one for one in rules if one not in before.get(line, ())))
        for line, rules in after.items()
    )
    return Growth(
        actions=tuple(one for one in now.actions if one not in was.actions),
        proved=tuple(line for line, rules in after.items() if not rules),
        unproved=tuple((line, rules) for line, rules in unproved if rules),
        before=_reach(old, session.state, seconds),
        after=_reach(carried.world, carried.start, seconds),
    )


def _open_rules(program: Program) -> dict[str, tuple[str, ...]]:
    """By `conserve` line the rules that are not proved to keep it."""
    return {one.name: one.open_rules for one in proofs(program) if one.kind == "conserve"}


def _reach(world: OpenWorld, state: State, seconds: float) -> Reach | None:
    if not world.world.goals:
        return None
    simulator = EngineSimulator(world.engine, state)
    graph = Exploring(simulator, state, None).on(Limits(_STATES, seconds))
    parts = partition(graph)
    ways = dict.fromkeys(one.action or "pass" for one in dead_ends(graph, parts, lambda node: ""))
    return Reach(parts.places[0], len(graph), parts.count("dead"), graph.complete, tuple(ways))


# ---- a rule that somebody else wrote -------------------------------------------------------------


class RuleRefused(LoadFailure):
    """A rule that is not taken on: one diagnostic (TW1010), with the text that it points into."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A world with a rule after its rules, begun with the present state."""

    rule: str
    text: str
    carried: Carried
    growth: Growth


def grow(session: Session, intent: AnyIntent, asked: str, rule: str, seconds: float) -> Grown:
    """The world of a session with a rule for words; nothing of the session is changed.

    Raises `RuleRefused` where the rule does not check, leaves the words without a meaning, is not
    proved to keep the sums that the world conserves, or opens a way into a dead end.
    """
    root, *others = session.world.loaded.sources
    whole = replace(root, text=grown(root.text, f"{rule.strip()}\n"))
    sources = (whole, *others)
    try:
        world = open_text(sources, session.world.world.name)
        carried = carry(session.world, session.state, world)
    except Failure as failure:
        fault = failure.diagnostics[0]
        why = f"{fault.code}: {fault.message}"
        raise _refused(asked, why, sources, fault.hint, fault) from None
    meaning = Resolver(carried.world).resolve(carried.start, intent)
    if isinstance(meaning, NoMatch):
        why = f"the words mean nothing with it either. {meaning.message}"
        raise _refused(asked, why, sources, "Give the action a phrase that these words fit.")
    found = growth(session, carried, seconds)
    for line, rules in found.unproved:
        why = f"`conserve {line}` is not proved for {_listed(rules)}."
        raise _refused(asked, why, sources, "Move the amount with `transfer`.")
    if found.lost or found.opened:
        way = f"{_listed(found.opened)} can lead into a dead end" if found.opened else ""
        why = f"{way or 'with it the goal is out of reach'}."
        raise _refused(asked, why, sources, "Require what keeps the goal in reach.")
    return Grown(rule.strip(), whole.text, carried, found)


def _refused(
    asked: str,
    why: str,
    sources: tuple[Source, ...],
    hint: str | None,
    found: Diagnostic | None = None,
) -> RuleRefused:
    message = f"The rule for {quoted(asked)} is refused: {why}"
    span, label = (None, None) if found is None else (found.span, found.label)
    hint = hint or "The run goes on without it."
    return RuleRefused((Diagnostic("TW1010", message, span, label, hint=hint),), sources)


# ---- an operator ---------------------------------------------------------------------------------


def question(session: Session, found: Gap, stub: Stub) -> str:
    """The question for an operator: the words, why they mean nothing, similar commands, the objects
    that they name, a rule to begin with, and the rules of the world's file. Nothing is hidden from
    it."""
    objects: Any = session.engine.json(session.state)["objects"]
    root, begun = session.world.loaded.sources[0], stub.text.splitlines()
    lines = [
        f"The words: {found.asked}",
        f"What does not fit is {found.failed}.",
        *(f"Near: {one}" for one in found.near),
        *(f"A thing: {one.thing}, a {one.kind}" for one in stub.params),
        *(f"  {line}" for one in objects for line in _values(one, stub)),
        "A rule to begin with:",
        *(f"  {line}" for line in begun),
        f"The rules of {root.name}:",
        *(f"  {line}" for line in root.text.splitlines() if line.strip()),
        "Answer with a rule for these words as .tw text, up to a line `>`.",
    ]
    return "\n".join(line for line in lines if line.strip())


def _values(shown: Mapping[str, Any], stub: Stub) -> Iterator[str]:
    """The values of an object that the words name."""
    if shown["type"] in {one.kind for one in stub.params}:
        values = ", ".join(f"{key} {value_text(one)}" for key, one in shown["attrs"].items())
        yield f"{shown['name']}: {values}"


class Operator(Beside):
    """Writes rules for words that mean nothing. ``declined`` are words that it has written none
    for; it is not asked about them again."""

    who = "operator"

    def __init__(self, channel: Channel, tell: Callable[[PlayerFailure], None]) -> None:
        super().__init__(channel, tell)
        self.declined: set[str] = set()

    def gap(self, session: Session, intent: object) -> Gap | None:
        """The gap to ask about where an intent is words that mean nothing."""
        asked = intent.text if isinstance(intent, TypedIntent) else intent
        if self.left or not isinstance(asked, str) or tidy(asked) in self.declined:
            return None
        found = gap(session, asked)
        if found is None or found.found.kind == "ambiguous" or found.found.out_of_turn:
            return None
        return found if self._begun(session, asked) is not None else None

    def _begun(self, session: Session, asked: str) -> Stub | None:
        if len(asked) > LONGEST or session.ended():
            return None
        stub = next(stubs(session, asked))
        return stub if stub.phrase else None

    def rule(self, session: Session, found: Gap) -> str:
        """The rule that it writes for words; empty for none."""
        stub = self._begun(session, found.asked)
        told = "" if stub is None else self._answer(question(session, found, stub))
        if not told:
            self.decline(found.asked)
        return told

    def decline(self, asked: str) -> None:
        """Note that there is no rule for words: they are not asked about again."""
        self.declined.add(tidy(asked))
