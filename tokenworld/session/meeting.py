"""What happens on the edges of a packed graph, told by ticks that the interpreter plays.

One tick is enough of all those that agree in the bits which decide the question.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.reading import columns_by_time
from tokenworld.model import Watch, binder_terms
from tokenworld.planning.space.graph import Node
from tokenworld.planning.space.packed_graph import PackedGraph
from tokenworld.session.rules_met import RulesMet
from tokenworld.session.witnesses import told_apart

__all__ = ["meet"]


def meet(simulator: EngineSimulator, graph: PackedGraph[State], met: RulesMet) -> None:
    """Tell ``met`` what happens on the edges of a packed graph and was not met before."""
    met.actions |= graph.done()
    _meet_ends(graph, met)
    _meet_laws(simulator, graph, met)
    _meet_watches(graph, met)


def _whole(mask: int | None) -> int:
    return -1 if mask is None else mask


def _meet_ends(graph: PackedGraph[State], met: RulesMet) -> None:
    """Endings and awards: a state made from its bits tells which of them it has reached."""
    world, parts = met.engine.instance.world, graph.world.parts
    endings = met.engine.stepper.endings
    conditions = [line.condition for line in world.endings if line.name not in met.endings]
    conditions += [one.when for n, one in enumerate(world.awards) if n not in met.awards]
    if not conditions:
        return
    every = (*(line.condition for line in world.endings), *conditions)
    mask = 0
    for condition in every:
        mask |= _whole(parts.condition(condition, ()))
    for node in told_apart(graph, graph.nodes(), mask):
        state = graph.states[node]
        met.endings |= set(endings.reached(state, state.me))
        met.awards |= set(state.awarded)


def _meet_laws(simulator: EngineSimulator, graph: PackedGraph[State], met: RulesMet) -> None:
    """Laws: the interpreter plays one tick of each kind that could tell."""
    program, world = simulator.instance.program, graph.world
    asked = {
        law.name: (_whole(world.parts.law(law)), set[int]())
        for law in program.laws.values()
        if law.name not in met.laws
    }
    if not asked:
        return
    simulator.listener = met
    try:
        for node in range(graph.expanded):
            made = graph.numbers(node)
            for number, begun in world.begun(graph.keys[node]):
                if number in world.free or number not in made:
                    continue
                if any(begun & mask not in seen for mask, seen in asked.values()):
                    for mask, seen in asked.values():
                        seen.add(begun & mask)
                    simulator.successors(graph.states[node], world.commands[number])
                    asked = {name: one for name, one in asked.items() if name not in met.laws}
            if not asked:
                return
    finally:
        simulator.listener = None


def _meet_watches(graph: PackedGraph[State], met: RulesMet) -> None:
    """Watches: each kind of edge, by what their conditions look at before and after it."""
    engine = met.engine
    for watch in engine.instance.program.watches.values():
        if watch.name in met.begun:
            continue
        mask = _whole(_looked_at(graph, engine, watch))
        if any(_begins(graph, watch.name, met, pair) for pair in _edges(graph, mask)):
            met.begun.add(watch.name)


def _looked_at(graph: PackedGraph[State], engine: Engine, watch: Watch) -> int | None:
    """The bits that a watch looks at, at the start of a tick and at its end."""
    parts = graph.world.parts
    if not watch.uses_was and (mask := parts.condition(watch.when, watch.params)) is not None:
        return mask
    terms = (*binder_terms(watch.params), watch.when)
    read = columns_by_time(engine.layout, terms, clock=True)
    if read is None or read.deeds:
        return None
    columns = engine.layout.columns
    return parts.stored({columns[one].fluent.id for one in (*read.now, *read.past)})


def _edges(graph: PackedGraph[State], mask: int) -> Iterator[tuple[Node, Node]]:
    """One edge of each kind that differs in the bits of ``mask`` at its ends."""
    seen: set[tuple[int, int]] = set()
    keys = graph.keys
    for node in range(graph.expanded):
        before = keys[node] & mask
        for target in graph.targets(node):
            pair = before, keys[target] & mask
            if pair not in seen:
                seen.add(pair)
                yield node, target


def _begins(graph: PackedGraph[State], name: str, met: RulesMet, edge: tuple[Node, Node]) -> bool:
    before, after = graph.states[edge[0]], graph.states[edge[1]]
    return met.engine.stepper.watches.begins(name, before, after, before.me)
