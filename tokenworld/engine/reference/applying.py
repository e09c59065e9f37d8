"""Apply the requested changes of a body, all together or none (language.md §5, §6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tokenworld import model as m
from tokenworld.diagnostics import Span
from tokenworld.engine.reference.bodies import Born, Wanted, Wants, bounded
from tokenworld.engine.reference.values import Fault, Known, Slot, State, copied, stored
from tokenworld.ground import Raw

LIFE = m.Fluent(
    m.ROOT,
    m.ROOT,
    "attribute",
    (m.FluentParam("x", m.ObjectType(m.ROOT)),),
    m.TextType(optional=True),
    None,
    Span("", 0, 0, 1, 1, 1, 1),
)
"""Records show under this slot that an object begins or ceases to exist: its type, or `none`."""


@dataclass(frozen=True)
class Made:
    """A change that was made: a slot, its old and new value, the rule that asked last."""

    fluent: m.Fluent
    args: tuple[Raw, ...]
    old: Raw
    new: Raw
    rule: str


_Written = tuple[m.Fluent, tuple[Raw, ...]]


@dataclass
class _Slot:
    fluent: m.Fluent
    args: tuple[Raw, ...]
    place: int
    writes: list[Wanted] = field(default_factory=list)


def applied(known: Known, before: State, wants: Wants) -> tuple[State, list[Made]]:
    """Return the state after the changes. Raises `Fault` for changes that the language forbids."""
    after = copied(before)
    made = [change for born in wants.births for change in _born(known, after, born)]
    slots: dict[Slot, _Slot] = {}
    for place, write in enumerate(wants.writes):
        if not _somebodys(after, write):
            continue
        slot = known.slot(write.fluent, write.args)
        slots.setdefault(slot, _Slot(write.fluent, slot[1], place)).writes.append(write)
    values = [(one, _value(known, after, one)) for one in slots.values()]
    unfiled = list(wants.births)
    for one, value in values:
        while unfiled and unfiled[0].after <= one.place:
            _filed(known, after, unfiled.pop(0))
        old = known.get(after, one.fluent, one.args)
        known.put(after, one.fluent, one.args, value)
        new = known.get(after, one.fluent, one.args)
        if old != new:
            made.append(Made(one.fluent, one.args, old, new, one.writes[-1].rule))
    for born in unfiled:
        _filed(known, after, born)
    written = [(one.fluent, one.args) for one, _ in values]
    written = [*_first_written(known, wants), *written]
    cyclic = [fluent for fluent, args in written if _in_itself(known, after, fluent, args)]
    for number, rule in wants.doomed:
        if number in after.kinds:
            made += _destroyed(known, after, number, rule)
    _check(known, after, written, cyclic)
    return after, made


def _somebodys(state: State, write: Wanted) -> bool:
    """Return whether all objects of a slot live; changes of destroyed objects are ignored."""
    return all(
        arg in state.kinds
        for param, arg in zip(write.fluent.params, write.args, strict=True)
        if isinstance(param.type, m.ObjectType)
    )


def _born(known: Known, after: State, born: Born) -> list[Made]:
    """Create an object with its first values."""
    after.kinds[born.number] = born.kind
    after.names[born.number] = born.name
    after.next_id = born.number + 1
    after.firsts.update(born.values)
    made = [Made(LIFE, (born.number,), None, born.kind, born.rule)]
    for (key, args), value in born.values.items():
        fluent = known.program.fluents[key]
        known.put(after, fluent, args, value)
        if value is not None:
            made.append(Made(fluent, args, None, value, born.rule))
    for fluent in known.program.fluents.values():
        value = known.defaults[fluent.id]
        one = fluent.fluent_kind != "attribute" and len(fluent.params) == 1
        if one and value is not None and _has(known, after, fluent, born.number):
            made.append(Made(fluent, (born.number,), None, value, born.rule))
    return made


def _filed(known: Known, after: State, born: Born) -> None:
    """An object arrives in its containers when its turn among the changes comes."""
    for (key, args), value in born.values.items():
        known.put(after, known.program.fluents[key], args, value)


# ---- values -------------------------------------------------------------------------------


def _value(known: Known, state: State, one: _Slot) -> Raw:
    """The new value of a slot: all sets agree, increments add up, `add` beats `remove`."""
    ops = [write.op for write in one.writes]
    if "add" in ops or "remove" in ops:
        return "add" in ops
    sets = [stored(one.fluent.type, write.value) for write in one.writes if write.op == "="]
    steps = [write.value for write in one.writes if write.op == "+"]
    if sets:
        if steps or any(value != sets[0] for value in sets):
            text = f"`{one.fluent.name}` is given two values at once."
            raise Fault("TW1003", "conflict", text)
        return bounded(sets[0], one.fluent)
    old: Any = known.get(state, one.fluent, one.args)
    return None if old is None else bounded(old + sum(steps), one.fluent)


# ---- shapes -------------------------------------------------------------------------------


def _first_written(known: Known, wants: Wants) -> list[_Written]:
    """The slots that get their first values with a created object."""
    keys = [(key, args) for born in wants.births for key, args in born.values]
    return [(known.program.fluents[key], args) for key, args in keys]


def _check(known: Known, state: State, written: list[_Written], cyclic: list[m.Fluent]) -> None:
    """Check `unique`, then cycles, for every slot that was written or created.

    ``cyclic`` are the nested fluents that led from an object back to it before the destroyed left.
    """
    for fluent, args in written:
        if fluent.unique and _repeated(known, state, fluent, args):
            raise Fault("TW1004", "unique", f"`{fluent.name}` would repeat a value.")
    for fluent in (*cyclic, *(one for one, args in written if _on_cycle(known, state, one, args))):
        raise Fault("TW1005", "cycle", f"`{fluent.name}` would make a cycle.")


def _repeated(known: Known, state: State, fluent: m.Fluent, args: tuple[Raw, ...]) -> bool:
    value = known.get(state, fluent, args)
    rows = known.rows(state, fluent)
    return value is not None and sum(1 for _, other in rows if other == value) > 1


def _in_itself(known: Known, state: State, fluent: m.Fluent, args: tuple[Raw, ...]) -> bool:
    return fluent.nested and args[0] in known.leading(state, fluent.id, args[0])


def _on_cycle(known: Known, state: State, fluent: m.Fluent, args: tuple[Raw, ...]) -> bool:
    made = fluent.acyclic and known.get(state, fluent, args)
    return bool(made) and args[0] in known.leading(state, fluent.id, args[0])


# ---- destruction --------------------------------------------------------------------------


def _destroyed(known: Known, state: State, number: int, rule: str) -> list[Made]:
    """Contents move to where the object was, references to it become none, its slots go."""
    made: list[Made] = []

    def put(fluent: m.Fluent, args: tuple[Raw, ...], value: Raw) -> None:
        old = known.get(state, fluent, args)
        known.put(state, fluent, args, value)
        made.append(Made(fluent, args, old, value, rule))

    for fluent in known.program.fluents.values():
        if not isinstance(fluent.type, m.ObjectType):
            continue
        if fluent.nested:
            heir = known.get(state, fluent, (number,))
            for child in known.pointing(state, fluent, number):
                put(fluent, (child,), heir)
        else:
            for args, value in known.rows(state, fluent):
                if value == number:
                    put(fluent, args, None)
    for fluent in known.program.fluents.values():
        if len(fluent.params) == 1 and _has(known, state, fluent, number):
            old = known.get(state, fluent, (number,))
            if old is not None:
                made.append(Made(fluent, (number,), old, None, rule))
        for args, value in known.rows(state, fluent):
            if _about(fluent, args, number):
                default = known.defaults[fluent.id]
                if len(args) > 1 and value != default:
                    made.append(Made(fluent, args, value, default, rule))
                del state.values[fluent.id, args]
                state.arrivals.pop((fluent.id, args), None)
    state.fired = frozenset(
        (watch, args) for watch, args in state.fired if not _told_of(known, watch, args, number)
    )
    kind = state.kinds.pop(number)
    return [Made(LIFE, (number,), kind, None, rule), *made]


def _has(known: Known, state: State, fluent: m.Fluent, number: int) -> bool:
    of = fluent.params[0].type
    return isinstance(of, m.ObjectType) and known.program.is_subtype(state.kinds[number], of.name)


def _told_of(known: Known, watch: str, args: tuple[Raw, ...], number: int) -> bool:
    """Return whether a watch has an object as argument."""
    params = known.program.watches[watch].params
    return any(
        arg == number and isinstance(binder.type, m.ObjectType)
        for binder, arg in zip(params, args, strict=True)
    )


def _about(fluent: m.Fluent, args: tuple[Raw, ...], number: int) -> bool:
    return any(
        arg == number and isinstance(param.type, m.ObjectType)
        for arg, param in zip(args, fluent.params, strict=True)
    )


def seen_by_prose(known: Known, before: State, after: State, wants: Wants) -> State:
    """The state after a body, in which the objects that it destroyed still exist."""
    seen = copied(after)
    for born in wants.births:
        if born.number not in after.kinds:
            seen.ghosts[born.number] = born.kind
            seen.values.update(born.values)
    for number, _ in wants.doomed:
        if number in after.kinds or number not in before.kinds:
            continue
        seen.ghosts[number] = before.kinds[number]
        for (key, args), value in before.values.items():
            if _about(known.program.fluents[key], args, number):
                seen.values[key, args] = value
    return seen


def net(made: list[Made]) -> list[Made]:
    """Changes merged per slot, those that cancel out left out; the last rule is named."""
    merged: dict[Slot, Made] = {}
    for one in made:
        slot = (one.fluent.id, one.args)
        old = merged[slot].old if slot in merged else one.old
        merged[slot] = Made(one.fluent, one.args, old, one.new, one.rule)
    return [one for one in merged.values() if one.old != one.new]
