"""The start state: objects with their fields, tables, setup blocks (language.md §8, Setup)."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine.applying import apply
from tokenworld.engine.compile import Code, compile_body
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.endings import Endings
from tokenworld.engine.filling import fill_each, fill_objects, names_cells, requests_of
from tokenworld.engine.guards import Guards
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import Luck
from tokenworld.engine.maps import make_cells, run_legends
from tokenworld.engine.population import fill_columns, seat_actors
from tokenworld.engine.restore import start_from
from tokenworld.engine.state import State
from tokenworld.ground import Instance
from tokenworld.model import Body

__all__ = ["start_state"]


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
    state = _set_up(instance, layout, code, state, luck)
    _check_actor(instance, state)
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


def _check_actor(instance: Instance, state: State) -> None:
    """Raise `Failure` (TW0608) where rules speak of the actor and the world has none."""
    kind = instance.program.actor
    if kind is None or state.me is not None:
        return
    name = instance.world.name
    what = f"Nobody can act in the world `{name}`: it has no {kind}."
    hint = f"Add an object to it, such as `object hero: {kind}`."
    raise Failure(Diagnostic("TW0608", what, instance.world.span, "nobody acts here", hint=hint))


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


# ---- setup ------------------------------------------------------------------------------


def _ask(body: Body, layout: Layout, code: Code, state: State, delta: Delta) -> None:
    """Let a setup say what it asks for."""
    requests = requests_of(body, layout)
    if requests is None:
        compile_body(code, body)(state, state, state.me, delta)
        return
    for request in requests:
        delta.put(*request)


def _set_up(instance: Instance, layout: Layout, code: Code, state: State, luck: Luck) -> State:
    """Cells, fields of objects, legends, setups, then the recorded state to begin with, if any.

    Fields that name no cell are put before there are cells, for then whole columns can be.
    """
    world, waits = instance.world, names_cells(instance)
    try:
        if not waits:
            fill_objects(instance, layout, code, state)
        maps = [(drawn, make_cells(state, code, drawn)) for drawn in world.layouts]
        if waits:
            fill_each(instance, layout, code, state)
        for drawn, cells in maps:
            run_legends(state, code, drawn, cells, luck)
            seat_actors(state)
        for position, body in enumerate(world.setups):
            delta = Delta(layout, luck, state.seed, 0)
            delta.by("setup", (), (position,))
            _ask(body, layout, code, state, delta)
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
