"""The population of a state, its actors, and the values before anything is set."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.engine.state import State
from tokenworld.ground import GroundObject, Instance, constant
from tokenworld.model import ROOT, ObjectDecl

__all__ = ["fill_columns", "instance_of", "seat_actors"]


def fill_columns(state: State) -> None:
    """Give functions and tables the values they have before anything is set."""
    layout = state.layout
    instance = layout.instance
    for column in layout.columns:
        if column.fluent.fluent_kind == "attribute":
            continue
        stored = state.cols[column.index]
        if column.single:
            stored[0] = column.default
        elif column.by_object:
            owners = layout.owners[column.index]
            for number, kind in enumerate(state.kinds):
                if kind in owners:
                    state.put(column, number, column.default)
        for row in column.fluent.rows:
            key = tuple(constant(term, state.numbers, instance.params) for term in row.keys)
            value = constant(row.value, state.numbers, instance.params)
            state.put(column, column.key(key), value)


def seat_actors(state: State) -> None:
    """Say who takes turns: those of `turns` in order, else the first object of the actor's type.

    Done after each step of the setup, since layouts and setups may create them.
    """
    instance = state.layout.instance
    turns = tuple(
        state.numbers[name]
        for name in instance.world.turns
        if name in state.numbers and state.alive(state.numbers[name])
    )
    actor = instance.program.actor
    state.actors = turns or (state.live[actor][:1] if actor is not None else ())


def instance_of(state: State) -> Instance:
    """The instance of a state: its objects and nobody else's; the same one where none differ."""
    instance = state.layout.instance
    same = len(state.kinds) == len(instance.objects) and state.live == instance.members
    if same and state.names == instance.names:
        return instance
    objects = tuple(_object(state, number) for number in range(len(state.kinds)))
    actors = tuple(number for number in state.actors if state.alive(number))
    return replace(
        instance, objects=objects, numbers=state.numbers, members=state.live, actors=actors
    )


def _object(state: State, number: int) -> GroundObject:
    instance, name = state.layout.instance, state.names[number]
    known = instance.declared(number, name)
    kind = state.kinds[number]
    if known is not None and kind in (None, known.of):
        return GroundObject(number, known)
    world, kind = instance.world, kind or ROOT
    return GroundObject(number, ObjectDecl(name, kind, None, (), (), world.name, world.span))
