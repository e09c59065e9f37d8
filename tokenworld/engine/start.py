"""The start state: objects with their fields, tables, setup blocks (language.md §8, Setup)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import NoneType

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine.applying import apply
from tokenworld.engine.compile import Code, compile_body, extend
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.endings import Endings
from tokenworld.engine.guards import Guards
from tokenworld.engine.layout import Column, Layout, implicit_default
from tokenworld.engine.luck import Luck
from tokenworld.engine.maps import lay_out
from tokenworld.engine.population import fill_columns, seat_actors
from tokenworld.engine.restore import start_from
from tokenworld.engine.state import State
from tokenworld.ground import GroundObject, Instance, Raw
from tokenworld.model import (
    BoolLiteral,
    EnumLiteral,
    NoneLiteral,
    NumberLiteral,
    ObjectLiteral,
    Term,
)

__all__ = ["start_state"]

_PLAIN = (bool, int, float, str, NoneType)


def start_state(
    instance: Instance,
    layout: Layout,
    code: Code,
    guards: Guards,
    endings: Endings,
    seed: int,
    luck: Luck,
) -> State:
    """The state a run begins with; `Failure` (TW0605) if it breaks an invariant."""
    state = State(layout)
    state.seed = seed
    fill_columns(state)
    _fill_objects(instance, layout, code, state)
    state = _set_up(instance, layout, code, state, luck)
    try:
        _check(instance, guards, state)
        endings.progress(state, state.me)
        endings.score(state, state.me)
    except Breach as breach:
        raise Failure(
            Diagnostic(
                breach.code,
                f"The start state of `{instance.world.name}` has no value for a condition: "
                f"{breach.message}",
                instance.world.span,
                hint="Guard the condition of the ending, award, score or invariant.",
            )
        ) from None
    return state


def _check(instance: Instance, guards: Guards, state: State) -> None:
    """Raise `Failure` (TW0605) where the start state breaks an invariant."""
    broken = guards.first_broken(state, state.me)
    if broken is not None:
        rule = instance.program.invariants[broken.rule]
        where = f" for {', '.join(broken.witness)}" if broken.witness else ""
        raise Failure(
            Diagnostic(
                "TW0605",
                f"The start state of `{instance.world.name}` breaks `{rule.name}`{where}.",
                rule.span,
                f"false{where}",
                hint="Correct the fields or the setup of the world, or the invariant.",
            )
        )


# ---- objects ----------------------------------------------------------------------------


def _fill_objects(instance: Instance, layout: Layout, code: Code, state: State) -> None:
    """Put every field of every object, in written order; what is no literal is generated code."""
    listed = _Fields(instance, layout)
    puts = [put for one in instance.objects for put in listed.of(one)]
    values = iter(_functions(code, [term for _, _, term in puts if not isinstance(term, _PLAIN)]))
    stores = [
        state.own(one) if one.by_object and not one.has_children else None for one in layout.columns
    ]
    for column, number, given in puts:
        if isinstance(given, _PLAIN):
            value = given
        else:
            state.memo.clear()
            value = next(values)(state, state, state.me)
        stored = stores[column.index]
        if stored is None:
            state.put(column, number, value)
        else:
            stored[number] = value


def _functions(code: Code, terms: list[Term]) -> list[Callable[[State, State, Raw], Raw]]:
    """A generated function for each term."""
    if not terms:
        return []
    emitter, name = code.emitter, code.emitter.fresh("fill")
    parts = [f"    lambda S, W, me: {emitter.term(term, {})}," for term in terms]
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    extend(code, "\n".join([*texts, f"{name} = [", *parts, "]", ""]))
    found: list[Callable[[State, State, Raw], Raw]] = code.space.pop(name)
    return found


class _Fields:
    """What sets the attributes of an object: its fields, its type's defaults, or nothing."""

    def __init__(self, instance: Instance, layout: Layout) -> None:
        self._instance, self._layout = instance, layout
        self._of: dict[str, dict[str, tuple[Column, Raw | Term]]] = {}

    def of(self, one: GroundObject) -> Iterator[tuple[Column, int, Raw | Term]]:
        """Defaults come first, then the fields in written order, so that an ordered container is
        filled in the order of the object lines."""
        if one.of not in self._instance.program.types:
            return
        defaults = self._defaults(one.of)
        own = {field.fluent: field.value for field in one.decl.fields}
        for key, (column, value) in defaults.items():
            if key not in own:
                yield column, one.id, value
        for key, term in own.items():
            yield self._layout.by_id[key], one.id, self._literal(term)

    def _defaults(self, of: str) -> dict[str, tuple[Column, Raw | Term]]:
        """The attributes of a type, each with its column and what it is where no field says so."""
        if of not in self._of:
            kind = self._instance.program.types[of]
            given = {field.fluent: self._literal(field.value) for field in kind.defaults}
            columns = {key: self._layout.by_id[key] for key in kind.attributes}
            self._of[of] = {
                key: (one, given[key] if key in given else implicit_default(one.fluent.type))
                for key, one in columns.items()
            }
        return self._of[of]

    def _literal(self, term: Term) -> Raw | Term:
        """The value of a literal; any other term as it is."""
        match term:
            case BoolLiteral(value=value) | NumberLiteral(value=value) | EnumLiteral(index=value):
                return value
            case NoneLiteral():
                return None
            case ObjectLiteral(name=name):
                return self._instance.numbers[name]
        return term


# ---- setup ------------------------------------------------------------------------------


def _set_up(instance: Instance, layout: Layout, code: Code, state: State, luck: Luck) -> State:
    """Layouts, then setups, then the recorded state to begin with, if there is one."""
    world = instance.world
    try:
        for drawn in world.layouts:
            lay_out(state, code, drawn, luck)
            seat_actors(state)
        for position, body in enumerate(world.setups):
            delta = Delta(layout, luck, state.seed, 0)
            delta.by("setup", (), (position,))
            compile_body(code, body)(state, state, state.me, delta)
            apply(state, delta)
            seat_actors(state)
    except Breach as breach:
        raise Failure(
            Diagnostic(
                breach.code,
                f"The setup of `{world.name}` cannot be carried out: {breach.message}",
                world.span,
                hint="Correct the `setup` block or the `layout` of the world.",
            )
        ) from None
    if world.start is not None:
        state = start_from(layout, world.start, state.seed)
    state.newborn = (state.tick, {})
    return state
