"""What if: a slot set by hand, and play from there, on a branch that is no part of any run.

What is set is checked as a recorded state is: the slot exists, the value is of its type and within
its range, nothing unique stands twice, nothing is inside itself. Invariants may be broken, and it
is told. The run store takes no record of a scratch branch, so no score counts it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.engine.delta import Breach
from tokenworld.ground import Json, Raw, read_value, show_value, value_text
from tokenworld.model import Fluent, ObjectType, show_type
from tokenworld.model.types import BoolType, NumberType, TextType
from tokenworld.session.moments import Moment, SlotChange, differences, slot_text, slots_of
from tokenworld.session.session import Session
from tokenworld.verbs.runs.provenance import slot_named

__all__ = ["Edited", "Scratch", "drop_scratch", "edit_slot", "editable_slots", "scratch"]


@dataclass(frozen=True, slots=True)
class Edited:
    """An edit that was made: the slot, its values before and after, and what it breaks."""

    slot: str
    old: Json
    new: Json
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch branch that a session stands on: the moment it left, the edits in order, and
    what differs now from that moment."""

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
    """Set a slot of the present state and stand on a scratch branch that begins with it.

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
    return Edited(name, old, new, _broken(session, state, after, fluent))


def _check_settable(session: Session, fluent: Fluent, name: str) -> None:
    """Raise `Failure` (TW0301) for what no rule changes, and for what is hidden in play."""
    if fluent.static or fluent.fluent_kind == "table":
        message = f"`{name}` never changes in play."
        raise Failure(Diagnostic("TW0301", message, hint="Change it in the rules, and reload."))
    if fluent.secret and not session.operator:
        message = f"`{name}` is secret, and stays so in play."
        raise Failure(Diagnostic("TW0301", message, hint="Set a slot that the inspector shows."))


def _value(session: Session, fluent: Fluent, name: str, text: str) -> Raw:
    """The raw value of what was written; `Failure` (TW0301, TW0201) where it does not fit."""
    program, state = session.world.program, session.state
    try:
        raw = read_value(program, state.numbers, fluent.type, _shown(fluent, text.strip()))
    except (ValueError, TypeError) as error:
        told = f"`{text.strip()}` does not fit `{name}`, which takes {show_type(fluent.type)}"
        if isinstance(fluent.type, NumberType) and text.strip() != "none":
            told += f": {str(error).rstrip('.')}"
        message = f"{told}."
        raise Failure(Diagnostic("TW0301", message, hint=_wanted(session, fluent))) from None
    if isinstance(fluent.type, ObjectType) and isinstance(raw, int):
        kind = state.kinds[raw] if state.alive(raw) else None
        if kind is None or not program.is_subtype(kind, fluent.type.name):
            what = f"`{text.strip()}` is no living `{fluent.type.name}`."
            raise Failure(Diagnostic("TW0301", what, hint=_wanted(session, fluent)))
    return raw


def _shown(fluent: Fluent, text: str) -> Json:
    """What was written, in the exchange form of the slot's type."""
    if text == "none" and not isinstance(fluent.type, TextType):
        return None
    match fluent.type:
        case BoolType():
            return {"true": True, "false": False}.get(text, text)
        case NumberType(unit=unit):
            return text.removesuffix(unit).strip() if unit and text.endswith(unit) else text
        case TextType() if len(text) > 1 and text[0] == text[-1] == '"':
            return text[1:-1]
        case _:
            return text


def _wanted(session: Session, fluent: Fluent) -> str:
    match fluent.type:
        case ObjectType(name=kind, optional=optional):
            state = session.state
            names = [state.names[one] for one in state.live.get(kind, ())][:5]
            return f"Name one of {', '.join([*names, *(['none'] if optional else [])])}."
        case BoolType():
            return "Write `true` or `false`."
        case NumberType(low=low, high=high) if low is not None and high is not None:
            return "Write a number within the range of the slot."
        case _:
            return "Write a value as in the rules."


def _written(fluent: Fluent, value: Json) -> str:
    """A value as rules have it: texts between quotes."""
    text = value_text(value)
    return f'"{text}"' if isinstance(fluent.type, TextType) and value is not None else text


def _after(session: Session, fluent: Fluent, key: tuple[Raw, ...], value: Raw) -> State:
    """The state with the slot set; `Failure` where it would be none that could be recorded."""
    engine = session.engine
    try:
        after = engine.put(session.state, fluent.id, key, value)
    except Breach as breach:
        hint = "An ending, an award or the score cannot be worked out with it."
        raise Failure(Diagnostic(breach.code, breach.message, hint=hint)) from None
    engine.restored(engine.json(after), source="the edited state")
    return after


def _broken(session: Session, before: State, after: State, fluent: Fluent) -> tuple[str, ...]:
    """The invariants that do not hold after an edit, and the sums that it changes, in sentences."""
    guards = session.engine.stepper.guards
    told, known = [], session.known
    for one in guards.broken(after, after.me):
        if not known.is_whole and known.secrets.rule(one.rule):
            continue
        where = f" for {', '.join(one.witness)}" if one.witness else ""
        told.append(f"The invariant `{one.rule}` does not hold{where} ({one.place}).")
    if not guards.keeps_sums(before, after, frozenset((fluent.id,))):
        told.append("A conserved sum is another one now.")
    return tuple(told)


# ---- the branch ---------------------------------------------------------------------------------


def scratch(session: Session) -> Scratch | None:
    """The scratch branch that a session stands on; ``None`` where nothing was edited."""
    first = _first(session)
    if first is None:
        return None
    base = session.moments[first - 1]
    edits = tuple(one.edit for one in session.moments[first:] if one.edit)
    old, new = slots_of(session.known.json(base.state)), slots_of(session.state_json())
    return Scratch(base, edits, differences(old, new))


def drop_scratch(session: Session) -> bool:
    """Go back to the moment that the scratch branch left; false where there is none.

    What is played then goes on in the run as if nothing had been tried.
    """
    first = _first(session)
    if first is None:
        return False
    session.travel(session.moments[:first])
    return True


def _first(session: Session) -> int | None:
    return next((n for n, one in enumerate(session.moments) if one.scratch), None)
