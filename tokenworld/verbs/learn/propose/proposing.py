"""Ask a program for laws that explain the remaining changes, and keep those that pay.

The protocol is lines of JSON. A question (``tw-proposer/1``) shows one transition that the present
rules do not explain: its command, both states, the slots that are predicted wrongly, the aspect in
question, and the rules. The answer is ``{"laws": ["law …"]}``: laws, actions and derives as
text. Each is checked, played on all rows, and kept if that saves more than the law costs.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Final, Protocol

from tokenworld.diagnostics import Diagnostic, Failure, Source, usage
from tokenworld.ground import PASS, Json, NoMatch
from tokenworld.model import World
from tokenworld.model.worlds import cell_name
from tokenworld.session.loading import OpenWorld
from tokenworld.session.remote import PlayerFailure, ProcessChannel
from tokenworld.session.replaying import Row
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source
from tokenworld.verbs.learn.propose.covering import WORTH, Rule, Rules
from tokenworld.verbs.learn.propose.given.played import differences
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import Exists, Predicate, Term
from tokenworld.verbs.records.transitions import Transition, fitting

# ---- How well rules explain rows ----------------------------------------------------------------
# Measure how well rules explain rows; it decides which laws of a program are kept.
#
# An explained row costs its surprise, the negative logarithm of its probability. A row that the
# rules cannot produce costs, for each slot that differs in the nearest outcome, as much as a change
# that no rule explains (`covering.WORTH`).

_MOST: Final = 200
"""The greatest number of outcomes of one command that are looked at."""
Shape = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A row with its cost, and the slots that the rules get wrong: the rules' value, the observed
    one. ``before`` and ``after`` are its states."""

    row: Row
    cost: float
    left: tuple[tuple[str, Any, Any], ...]
    before: Shape
    after: Shape

    @property
    def command(self) -> str:
        """The action of the row; its words where it names none."""
        intent = self.row.intent
        return str(intent.get("action") or intent.get("text") or "pass")


def weighed(world: OpenWorld, rows: Iterable[Row]) -> Iterator[Weighed]:
    """Yield the predictions of a world for each row that fits it, compared with the row."""
    listed = list(rows)
    for row, one in zip(listed, fitting(world, listed), strict=True):
        if isinstance(one, Transition):
            yield _weighed(world, row, one)


def _weighed(world: OpenWorld, row: Row, one: Transition) -> Weighed:
    engine = world.engine
    before, after = engine.json(one.state), engine.json(one.seen)
    try:
        logp = engine.logp(one.state, one.intent, one.seen, one.fields).logp
        if isfinite(logp):
            return Weighed(row, -logp, (), before, after)
        intent = PASS if isinstance(one.intent, NoMatch) else one.intent
        found = engine.distribution(one.state, intent, _MOST).successors
        nearest = min((differences(engine.json(x.state), after) for x in found), key=len)
    except Failure:
        nearest = differences(before, after)
    return Weighed(row, WORTH * max(1, len(nearest)), tuple(nearest), before, after)


def aspect_of(slot: str) -> str:
    """Return the fluent of a slot: `full` of `cup.full`, `gap` of `gap(a, b)`."""
    return slot.partition("(")[0].rpartition(".")[2]


# ---- Questions and answers ----------------------------------------------------------------------

FORMAT: Final = "tw-proposer/1"
MOST_ASKED: Final = 20
"""The greatest number of questions."""
_MOST_LAWS: Final = 8
"""Laws of one answer that are tried."""
_LONGEST: Final = 1 << 20
"""Bytes of an answer at most."""
_WORD: Final = 0.5
"""The cost of a word of a law."""
_HINT: Final = 'Try it by hand: it reads a line of JSON, and answers with a line {"laws": ["…"]}.'
_KINDS = (syn.LawDecl, syn.ActionDecl, syn.DeriveDecl)


class Place(Protocol):
    """The file in which proposed rules are checked."""

    def opened(self, text: str) -> OpenWorld:
        """Return the world by these rules; raises `Failure` where they are not sound."""
        ...


@dataclass
class Asked:
    """The result of asking: the rules, the laws that were kept, why others were left out, and why
    the program failed, if it did."""

    text: str
    questions: int = 0
    kept: list[str] = field(default_factory=list)
    left_out: list[Diagnostic] = field(default_factory=list)
    failure: PlayerFailure | None = None

    def to_json(self) -> dict[str, Json]:
        kept: list[Json] = [*self.kept]
        return {
            "questions": self.questions,
            "kept": kept,
            "left_out": len(self.left_out),
            "failed": None if self.failure is None else self.failure.what,
        }


Answers = Callable[[dict[str, Any]], list[str] | None]
"""Returns the laws that answer a question; ``None`` after the program has ended."""


def program(command: str, seconds: float) -> tuple[Answers, Callable[[], None]]:
    """Return how to ask a program, and how to end it. Raises `Failure` where it does not start."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if seconds <= 0:
        raise usage("A proposer needs some time.", "Give `--reply-timeout` seconds above 0.")
    if not words:
        raise usage("The proposer has no name.", 'Write `--proposer "PROGRAM ARGUMENTS"`.')
    try:
        channel = ProcessChannel(words, seconds, end="\n", longest=_LONGEST)
    except PlayerFailure as failure:
        raise PlayerFailure(failure.what, _HINT, "proposer") from None

    def ask(question: dict[str, Any]) -> list[str] | None:
        try:
            answer = channel.ask(json.dumps(question, ensure_ascii=False))
        except PlayerFailure as failure:
            raise PlayerFailure(failure.what, failure.hint, "proposer") from None
        return None if answer is None else _laws(answer)

    return ask, channel.close


def _laws(answer: str) -> list[str]:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        found = None
    laws = found.get("laws") if isinstance(found, dict) else None
    if not isinstance(laws, list) or not all(isinstance(one, str) for one in laws):
        raise PlayerFailure('answers with a line that is no `{"laws": ["…"]}`', _HINT, "proposer")
    return laws[:_MOST_LAWS]


# ---- asking -------------------------------------------------------------------------------------


def improved(
    text: str, place: Place, rows: Sequence[Row], ask: Answers, say: Callable[[str], None]
) -> Asked:
    """Ask the program about the unexplained rows, the most frequent kind first; return the rules
    with the accepted answers. A program that fails is not asked again."""
    found, tried = Asked(text), set[tuple[str, str]]()
    world = place.opened(text)
    now = list(weighed(world, rows))
    while found.questions < MOST_ASKED:
        chosen = _next(now, tried)
        if chosen is None:
            break
        key, count = chosen
        tried.add(key)
        say(f"asking the proposer for `{key[1]}` after `{key[0]}`")
        try:
            laws = ask(_question(found.text, world, now, key, count))
        except PlayerFailure as failure:
            found.failure = failure
            break
        if laws is None:
            break
        found.questions += 1
        for law in laws:
            better = _tried(found, law, place, rows, now)
            if better is not None:
                world, now = better
    return found


def _next(
    now: Sequence[Weighed], tried: set[tuple[str, str]]
) -> tuple[tuple[str, str], int] | None:
    """Return the command and the aspect that are unexplained most often, with their number."""
    counts = Counter(key for one in now for key in _keys(one))
    return next((pair for pair in counts.most_common() if pair[0] not in tried), None)


def _keys(one: Weighed) -> Iterator[tuple[str, str]]:
    """Yield the aspects of a row that the rules get wrong, each once."""
    yield from dict.fromkeys((one.command, aspect_of(slot)) for slot, _, _ in one.left)


def _question(
    text: str, world: OpenWorld, now: Sequence[Weighed], key: tuple[str, str], count: int
) -> dict[str, Any]:
    one = next(one for one in now if key in _keys(one))
    maps = {name: maps_of(world.world, shape) for name, shape in
            (("before", one.before), ("after", one.after))}  # fmt: skip
    return {
        "format": FORMAT,
        "aspect": key[1],
        "command": dict(one.row.intent),
        "state": one.before,
        "after": one.after,
        "difference": [
            {"slot": slot, "by_the_rules": mine, "observed": seen} for slot, mine, seen in one.left
        ],
        "map": maps if world.world.layouts else None,
        "rows": count,
        "rules": text,
    }


# ---- trying a law -------------------------------------------------------------------------------


def _tried(
    found: Asked, law: str, place: Place, rows: Sequence[Row], now: Sequence[Weighed]
) -> tuple[OpenWorld, list[Weighed]] | None:
    """Try a law; return the world with it and the rows by that, if it is kept."""
    try:
        text = with_item(found.text, law)
        world = place.opened(text)
    except Failure as failure:
        first = failure.diagnostics[0]
        found.left_out.append(_left_out(law, f"{first.code}, {first.message.rstrip('.')}"))
        return None
    after = list(weighed(world, rows))
    gain = sum(one.cost for one in now) - sum(one.cost for one in after)
    size = _WORD * len(re.findall(r"\w+", law))
    if gain <= size or len(after) < len(now):
        why = f"it explains less than it is long ({gain:.1f} of {size:.1f})"
        found.left_out.append(_left_out(law, why))
        return None
    found.text, found.kept = text, [*found.kept, law]
    return world, after


def _left_out(law: str, why: str) -> Diagnostic:
    shown = " ".join(law.split())
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    what = f"A rule of the proposer was left out, `{shown}`: {why}."
    return Diagnostic("TW1207", what, hint="Write the rule by hand, or record more play.")


def with_item(text: str, item: str) -> str:
    """Return rules with laws, actions or derives more; an action of a known name takes its place.

    Raises `Failure` (TW0006) where the item is something else.
    """
    items, problems = _items(item)
    errors = [one for one in problems if one.is_error]
    if errors:
        raise Failure(*errors)
    if not items or not all(isinstance(one, _KINDS) for one in items):
        hint = "Answer with `law`, `action` or `derive`."
        raise Failure(Diagnostic("TW0006", "It is no law, action or derive.", hint=hint))
    known = {one.name.value: one.span for one in _items(text)[0] if isinstance(one, syn.ActionDecl)}
    replaced = [known[one.name.value] for one in items
                if isinstance(one, syn.ActionDecl) and one.name.value in known]  # fmt: skip
    for span in sorted(replaced, key=lambda one: -one.start):
        text = f"{text[: span.start]}{text[span.end :].lstrip()}"
    return f"{text.rstrip()}\n{item.strip()}\n"


def _items(text: str) -> tuple[Sequence[syn.Item], Sequence[Diagnostic]]:
    tree, problems = parse_source(Source("proposed.tw", None, text))
    return tree.items, problems


# ---- Rules in a journal -------------------------------------------------------------------------
# Learned rules as JSON, to be kept in a journal.

_CLASSES: Final = {one.__name__: one for one in (Rules, Rule, Template, Predicate, Exists, Term)}


def packed(found: Any) -> Json:
    """Return rules, or a part of them, as JSON: an object of a class as a list with its name, a
    tuple as one without."""
    if type(found) in _CLASSES.values():
        parts = (packed(getattr(found, one.name)) for one in fields(found))
        return [type(found).__name__, *parts]
    if isinstance(found, tuple):
        return ["", *map(packed, found)]
    assert found is None or isinstance(found, (bool, int, float, str))
    return found


def unpacked(shown: Json) -> Any:
    """Return the value that `packed` wrote."""
    if not isinstance(shown, list):
        return shown
    name, *parts = shown
    values = map(unpacked, parts)
    return tuple(values) if name == "" else _CLASSES[str(name)](*values)


# ---- What a question shows ----------------------------------------------------------------------
# States of worlds with layouts as maps of characters.


def maps_of(world: World, shape: Mapping[str, Any]) -> dict[str, list[str]]:
    """Draw a state (``tw-state/1``) as a map for each layout, by the type of its cells.

    A cell shows the initial of an object on it, else that of its first enum value.
    """
    objects: Sequence[Mapping[str, Any]] = shape.get("objects", ())
    cells = {one.of for one in world.layouts}
    standing: dict[str, str] = {}
    for one in objects:
        if one["type"] not in cells:
            for value in one["attrs"].values():
                if isinstance(value, str):
                    standing.setdefault(value, one["name"][:1].upper())
    grounds = {one["name"]: _ground(one["attrs"]) for one in objects if one["type"] in cells}
    return {
        layout.of: [
            "".join(_sign(cell_name(layout.of, x, y), symbol, standing, grounds)
                    for x, symbol in enumerate(row))
            for y, row in enumerate(layout.rows)
        ]
        for layout in world.layouts
    }  # fmt: skip


def _ground(attrs: Mapping[str, Any]) -> str:
    words = (value for value in attrs.values() if isinstance(value, str) and value)
    return next((value[0] for value in words), "")


def _sign(name: str, symbol: str, standing: Mapping[str, str], grounds: Mapping[str, str]) -> str:
    return standing.get(name) or grounds.get(name) or symbol
