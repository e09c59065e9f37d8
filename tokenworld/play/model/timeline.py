"""All moments of a game, undone ones too, and whether the goal is reachable from each.

A session knows one line of moments; the timeline keeps the others, so that a player can go back to
any of them. The radar gives each moment one of three answers: *winnable* with a plan, *dead*
with a proof, *unknown* with neither; a moment without an answer is *pending*. Moments before a
winnable one are winnable, and moments after a dead one are dead.

A slot can be set by hand, and play goes on from there on a scratch branch. The value is checked as
in a recorded state: the slot exists, the value is of its type and within its range, no unique value
occurs twice, nothing is inside itself. Invariants may be broken, with a message. The run store
takes no record of a scratch branch, so no score counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.engine.changes import Breach, BreachReport
from tokenworld.engine.rows import Row, RowStepper
from tokenworld.ground import Json, Raw, read_value, show_value, value_text
from tokenworld.model import show_type
from tokenworld.model.types import BoolType, NumberType, TextType
from tokenworld.planning.verdict import Verdict
from tokenworld.session.moments import (
    Moment,
    SlotChange,
    differences,
    slot_named,
    slot_text,
    slots_of,
    state_with_engine,
)
from tokenworld.session.session import Session, foreseen
from tokenworld.session.solving import solve


@dataclass(frozen=True, slots=True)
class Node:
    """A moment with its place: the number of the moment before it and of the line it lies on.

    A line is a sequence of moments: the first line, and one for each time that play continued
    differently from an earlier moment, or that a slot was set by hand for a trial.
    """

    number: int
    parent: int | None
    line: int
    moment: Moment


class Timeline:
    """The moments of a session in the order of play. Call `sync` after play to add new ones."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.nodes: list[Node] = [Node(0, None, 0, session.moments[0])]
        self._names: dict[int, str] = {}
        self._now = 0
        self._undone: list[int] = []
        self._numbers = {id(session.moments[0]): 0}
        self._followed: set[int] = set()
        self._forgotten: set[int] = set()
        self._count = 1
        self.sync()

    @property
    def now(self) -> Node:
        """The present moment of the session."""
        return self.nodes[self._now]

    def sync(self) -> Node:
        """Add the moments played or undone since the last call; return the present node."""
        moments = self.session.moments
        known = len(moments) - 1
        while known and id(moments[known]) not in self._numbers:
            known -= 1
        at = self._numbers[id(moments[known])] if known else 0
        for moment in moments[known + 1 :]:
            at = self._add(at, moment)
        self._now = at
        return self.now

    def _add(self, parent: int, moment: Moment) -> int:
        number = len(self.nodes)
        line = self.nodes[parent].line
        tries = moment.scratch and not self.nodes[parent].moment.scratch
        if tries or parent in self._followed:
            line, self._count = self._count, self._count + 1
        self.nodes.append(Node(number, parent, line, moment))
        self._numbers[id(moment)] = number
        if not tries:  # a trial leaves the line unchanged
            self._followed.add(parent)
        self._undone.clear()
        return number

    def path(self, node: Node) -> tuple[Node, ...]:
        """The nodes from the start to this one."""
        found = [node]
        while (parent := found[-1].parent) is not None:
            found.append(self.nodes[parent])
        return tuple(reversed(found))

    # ---- lines --------------------------------------------------------------------------------

    @property
    def lines(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of each line, in the order in which the lines were begun."""
        found: list[list[Node]] = [[] for _ in range(self._count)]
        for node in self.nodes:
            if node.number not in self._forgotten:
                found[node.line].append(node)
        return tuple(map(tuple, filter(None, found)))

    def name_of(self, line: int) -> str:
        """The name that was given to a line, else its number."""
        if line == 0:
            return self._names.get(line) or "main"
        first = next(node for node in self.nodes if node.line == line)
        kind = "scratch" if first.moment.scratch else "branch"
        return self._names.get(line) or f"{kind} {line}"

    def rename(self, line: int, name: str) -> None:
        """Give a line a name; an empty one takes it away."""
        self._names[line] = " ".join(name.split())

    # ---- going ----------------------------------------------------------------------------------

    def jump(self, node: Node) -> None:
        """Go to a moment; later steps are on a new line."""
        self.sync()
        self.session.travel([one.moment for one in self.path(node)])
        self._now = node.number
        self._undone.clear()

    def forget_scratch(self) -> bool:
        """Drop the scratch branch that the session stands on: it goes back to where that left, and
        the branch is listed no more. False where it stands on none."""
        line = self.path(self.sync())
        gone = [node for node in line if node.moment.scratch]
        if not gone:
            return False
        self.jump(line[len(line) - len(gone) - 1])
        top = {node.number for node in gone}
        for node in self.nodes:  # a node comes after its parent
            if node.number in top or node.parent in self._forgotten:
                self._forgotten.add(node.number)
        return True

    def undone(self, left: Node) -> None:
        """Note that the session went back from a moment, so that `redo` can return there."""
        self.sync()
        self._undone.append(left.number)

    def redo(self) -> Node | None:
        """Return to where the last undo went back from; ``None`` if something else came since."""
        self.sync()
        if not self._undone:
            return None
        node, left = self.nodes[self._undone[-1]], self._undone[:-1]
        self.jump(node)
        self._undone = left
        return node

    # ---- comparing ----------------------------------------------------------------------------

    def common(self, first: Node, second: Node) -> Node:
        """The last moment that two have in common."""
        pairs = zip(self.path(first), self.path(second), strict=False)
        return [one for one, other in pairs if one is other][-1]

    def differences(self, first: Node, second: Node) -> tuple[SlotChange, ...]:
        """The slots that differ between two moments."""
        shown = self.session.known.json
        old, new = (slots_of(shown(one.moment.state)) for one in (first, second))
        return differences(old, new)


Prospect = Literal["winnable", "dead", "unknown", "pending"]

_PLAYED = ("executed", "waiting", "interrupted")
"""The statuses that a proof considers: executed commands, and time that passes."""


def has_goal(session: Session) -> bool:
    """Return whether there is anything that could be out of reach."""
    return bool(session.world.world.goals)


def verdict_prospect(verdict: Verdict) -> Prospect:
    """Return the prospect of a moment by a verdict; *dead* needs an unbounded proof."""
    match verdict.answer:
        case "winnable":
            return "winnable"
        case "unwinnable" if verdict.proof is not None and verdict.proof.within is None:
            return "dead"
        case "unwinnable" | "unknown":
            return "unknown"


@dataclass(frozen=True, slots=True)
class RadarAnswer:
    """The prospect of one moment. ``by`` names the engine; empty if it follows from other
    moments."""

    prospect: Prospect
    by: str = ""


_PENDING = RadarAnswer("pending")


class Radar:
    """The knowledge about the moments of a timeline. `question` returns the next moment to plan
    for, and `learn` takes the answer."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._engine = timeline.session.engine
        self._known: dict[str, RadarAnswer] = {}
        self._keys: dict[int, str] = {}

    def fits(self, timeline: Timeline) -> bool:
        """Return whether it is about this timeline, under the rules that hold now."""
        return self._timeline is timeline and self._engine is timeline.session.engine

    # ---- learning -----------------------------------------------------------------------------

    def learn(self, state: State, verdict: Verdict) -> None:
        """Store a verdict about a state. An *unknown* replaces no other answer."""
        self.note(state, verdict_prospect(verdict), _word(verdict))

    def note(self, state: State, prospect: Prospect, by: str) -> None:
        """Take an answer about a state; `learn` for answers that are no verdicts."""
        key = self._engine.hash(state)
        if prospect != "unknown" or key not in self._known:
            self._known[key] = RadarAnswer(prospect, by)

    def forget_unknown(self) -> None:
        """Drop the *unknown* answers, so that they are asked again, perhaps with more time."""
        self._known = {key: one for key, one in self._known.items() if one.prospect != "unknown"}

    def key(self, node: Node) -> str:
        """The hash of a node's state."""
        if node.number not in self._keys:
            self._keys[node.number] = self._engine.hash(node.moment.state)
        return self._keys[node.number]

    # ---- asking -------------------------------------------------------------------------------

    def answers(self) -> dict[int, RadarAnswer]:
        """Return the answer for every node, by its number."""
        nodes = self._timeline.nodes
        found = {one.number: self._known.get(self.key(one), _PENDING) for one in nodes}
        for node in reversed(nodes):  # children come after their parents
            if node.parent is not None and found[node.number].prospect == "winnable":
                self._follows(found, node.parent, "winnable", self._led(node))
        for node in nodes:
            if node.parent is not None and found[node.parent].prospect == "dead":
                self._follows(found, node.number, "dead", self._led(node) and _by_rules(node))
        return found

    def _follows(
        self, found: dict[int, RadarAnswer], number: int, prospect: Prospect, sure: bool
    ) -> None:
        if sure and found[number].prospect in ("pending", "unknown"):
            found[number] = RadarAnswer(prospect)

    def _led(self, node: Node) -> bool:
        """Return whether play led from the parent to this node: nothing was edited in between."""
        assert node.parent is not None
        outcomes, parent = node.moment.outcomes, self._timeline.nodes[node.parent]
        return bool(outcomes) and (
            outcomes[0].hash_before == self.key(parent)
            and outcomes[-1].hash_after == self.key(node)
        )

    def prospect(self, node: Node) -> Prospect:
        """Return the prospect of one node."""
        return self.answers()[node.number].prospect

    def lost_since(self, node: Node) -> Node | None:
        """The first dead node on the way to this dead one, if the one before it is winnable, or
        there is none before it. ``None``: not dead, or not known since when."""
        found, way = self.answers(), self._timeline.path(node)
        if found[node.number].prospect != "dead":
            return None
        first = next(at for at, one in enumerate(way) if found[one.number].prospect == "dead")
        if first and found[way[first - 1].number].prospect != "winnable":
            return None
        return way[first]

    def question(self) -> Node | None:
        """Return the next node to ask about, or ``None`` if nothing is pending.

        The current path comes first. Its end is asked first, because a winnable end answers for
        the whole path; then the middle of the pending nodes.
        """
        found, timeline = self.answers(), self._timeline
        ends = [timeline.now, *(line[-1] for line in reversed(timeline.lines))]
        for end in ends:
            way = [one for one in timeline.path(end) if found[one.number].prospect == "pending"]
            if way:
                return way[-1] if way[-1].number == end.number else way[len(way) // 2]
        return None

    @property
    def pending(self) -> int:
        """The number of nodes without a question so far."""
        return sum(one.prospect == "pending" for one in self.answers().values())


def _by_rules(node: Node) -> bool:
    """Return whether a proof covers the step of a node: no refusal that lets time pass."""
    return all(
        one.status in _PLAYED or one.hash_before == one.hash_after for one in node.moment.outcomes
    )


def _word(verdict: Verdict) -> str:
    """The claim of a verdict and the engine that made it; empty if there is no claim."""
    if verdict.proof is not None:
        return f"{verdict.claim} by {verdict.proof.by}"
    return f"{verdict.claim} by {verdict.engine}" if verdict.claim else ""


class RadarPlanner:
    """Asks planners about moments of a session, on an engine of its own: for one other thread."""

    def __init__(self, session: Session) -> None:
        self._session, self._twin = session, session.apart()

    def fits(self, session: Session) -> bool:
        """Return whether the rules are still those that it was made for."""
        return self._session is session and self._twin.engine.instance is session.engine.instance

    def ask(
        self,
        moment: Moment,
        seconds: float,
        *,
        say: Callable[[str], None] = lambda line: None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> Verdict:
        """Return whether the goal can be reached from a moment. Raises `Failure` where there is
        none."""
        engine = self._twin.engine
        state = state_with_engine(moment, engine)
        found = solve(engine, state, None, time_limit=seconds, say=say, cancel=cancel)
        return foreseen(self._session, found)


# ---- what if: a slot set by hand -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edited:
    """An edit: the slot, its values before and after, and the invariants that it breaks."""

    slot: str
    old: Json
    new: Json
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch branch of a session: the moment that it left, the edits in order, and the present
    differences from that moment."""

    base: Moment
    edits: tuple[str, ...]
    changes: tuple[SlotChange, ...]


# ---- editing ------------------------------------------------------------------------------------


def editable_slots(session: Session) -> tuple[str, ...]:
    """The slots that may be set, by name: those of the state that are shown and not static."""
    found = []
    for slot in slots_of(session.state_json()):
        if "." in slot or "(" in slot:
            try:
                fluent, _ = slot_named(session.world.program, session.state, slot)
            except Failure:
                continue
            if not fluent.static:
                found.append(slot)
    return tuple(found)


def edit_slot(session: Session, slot: str, value: str) -> Edited:
    """Set a slot of the present state, which begins a scratch branch.

    ``value`` is written as in the rules: ``2``, ``true``, ``none``, ``open``, ``chest``. Raises
    `Failure`, with nothing changed: TW0201 for an unknown slot or object, TW0301 for a value of
    another type or out of its range, TW0006 where the state would be no state.
    """
    fluent, args = slot_named(session.world.program, session.state, slot)
    name = slot_text(fluent, args)
    _check_settable(session, fluent, name)
    state, engine = session.state, session.engine
    program = session.world.program
    raw = _value(session, fluent, name, value)
    key = tuple(
        read_value(program, state.numbers, one.type, arg)
        for one, arg in zip(fluent.params, args, strict=True)
    )
    column = engine.layout.by_id[fluent.id]
    old = show_value(program, state.names, fluent.type, state.get(column, column.key(key)))
    after = _after(session, fluent, key, raw)
    new = show_value(program, after.names, fluent.type, raw)
    edit = f"{name} = {_written(fluent, new)}"
    session.moments.append(Moment(after, f"set {edit}", (), None, 0, scratch=True, edit=edit))
    return Edited(name, old, new, _broken(session, state, after))


def _check_settable(session: Session, fluent: m.Fluent, name: str) -> None:
    """Raise `Failure` (TW0301) for a fluent that no rule changes, and for one hidden in play."""
    if fluent.static or fluent.fluent_kind == "table":
        message = f"`{name}` never changes in play."
        raise Failure(Diagnostic("TW0301", message, hint="Change it in the rules, and reload."))
    if fluent.secret and not session.operator:
        message = f"`{name}` is secret, and stays so in play."
        raise Failure(Diagnostic("TW0301", message, hint="Set a slot that the inspector shows."))


def _value(session: Session, fluent: m.Fluent, name: str, text: str) -> Raw:
    """Return the raw value of a text. Raises `Failure` (TW0301, TW0201) if it does not fit."""
    program, state = session.world.program, session.state
    try:
        raw = read_value(program, state.numbers, fluent.type, _shown(fluent, text.strip()))
    except (ValueError, TypeError) as error:
        told = f"`{text.strip()}` does not fit `{name}`, which takes {show_type(fluent.type)}"
        if isinstance(fluent.type, NumberType) and text.strip() != "none":
            told += f": {str(error).rstrip('.')}"
        message = f"{told}."
        raise Failure(Diagnostic("TW0301", message, hint=_wanted(session, fluent))) from None
    if isinstance(fluent.type, m.ObjectType) and isinstance(raw, int):
        kind = state.kinds[raw] if state.alive(raw) else None
        if kind is None or not program.is_subtype(kind, fluent.type.name):
            what = f"`{text.strip()}` is no living `{fluent.type.name}`."
            raise Failure(Diagnostic("TW0301", what, hint=_wanted(session, fluent)))
    return raw


def _shown(fluent: m.Fluent, text: str) -> Json:
    """Return a text in the exchange form of the slot's type."""
    if text == "none" and not isinstance(fluent.type, TextType):
        return None
    match fluent.type:
        case BoolType():
            return {"true": True, "false": False}.get(text, text)
        case NumberType(unit=unit):
            return text.removesuffix(unit).strip() if unit and text.endswith(unit) else text
        case TextType() if len(text) > 1 and text[0] == text[-1] == '"':
            return text[1:-1]
        case (
            m.EnumType() | m.ObjectType() | m.RealType() | TextType() | m.NoneType()
            | m.CollectionType()
        ):  # fmt: skip
            return text
        case _:
            assert_never(fluent.type)


def _wanted(session: Session, fluent: m.Fluent) -> str:
    match fluent.type:
        case m.ObjectType(name=kind, optional=optional):
            state = session.state
            names = [state.names[one] for one in state.live.get(kind, ())][:5]
            return f"Name one of {', '.join([*names, *(['none'] if optional else [])])}."
        case BoolType():
            return "Write `true` or `false`."
        case NumberType(low=low, high=high) if low is not None and high is not None:
            return "Write a number within the range of the slot."
        case (
            m.EnumType() | NumberType() | m.RealType() | TextType() | m.NoneType()
            | m.CollectionType()
        ):  # fmt: skip
            return "Write a value as in the rules."
        case _:
            assert_never(fluent.type)


def _written(fluent: m.Fluent, value: Json) -> str:
    """A value as rules have it: texts between quotes."""
    text = value_text(value)
    return f'"{text}"' if isinstance(fluent.type, TextType) and value is not None else text


def _after(session: Session, fluent: m.Fluent, key: tuple[Raw, ...], value: Raw) -> State:
    """The state with the slot set; `Failure` where it would be none that could be recorded."""
    engine = session.engine
    try:
        after = engine.put(session.state, fluent.id, key, value)
    except Breach as breach:
        hint = "An ending, an award or the score cannot be worked out with it."
        raise Failure(Diagnostic(breach.code, breach.message, hint=hint)) from None
    engine.restored(engine.json(after), source="the edited state")
    return after


def _broken(session: Session, before: State, after: State) -> tuple[str, ...]:
    """The invariants that do not hold after an edit, and the sums that it changes, in sentences."""
    engine, told, known = session.engine, [], session.known

    def broken(stepper: RowStepper, row: Row) -> list[BreachReport]:
        return list(stepper.guards.broken(row, stepper.me))

    def sums(stepper: RowStepper, row: Row) -> list[Any]:
        return stepper.guards.sums_of(row, stepper.slots.past(before, row.S), stepper.me)

    for one in engine.on_row(after, broken):
        if not known.is_whole and known.secrets.rule(one.rule):
            continue
        where = f" for {', '.join(one.witness)}" if one.witness else ""
        told.append(f"The invariant `{one.rule}` does not hold{where} ({one.place}).")
    if engine.on_row(before, sums) != engine.on_row(after, sums):
        told.append("A conserved sum is another one now.")
    return tuple(told)


# ---- the branch ---------------------------------------------------------------------------------


def scratch(session: Session) -> Scratch | None:
    """The scratch branch that a session stands on; ``None`` where nothing was edited."""
    first = next((n for n, one in enumerate(session.moments) if one.scratch), None)
    if first is None:
        return None
    base = session.moments[first - 1]
    edits = tuple(one.edit for one in session.moments[first:] if one.edit)
    old, new = slots_of(session.known.json(base.state)), slots_of(session.state_json())
    return Scratch(base, edits, differences(old, new))
