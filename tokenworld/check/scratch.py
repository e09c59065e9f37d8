"""Scratch slots: where rules may use them, and the laws that reset them to their defaults.

The reset is an ordinary law of the last, unnamed phase, so engine, planners, encodings and exports
need no special case. A slot has its default at every commit; within a tick later rules read the
value that was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokenworld import model as m
from tokenworld.check.analysis.uses import nodes_below
from tokenworld.check.draft import Draft
from tokenworld.check.typing.context import domain_of
from tokenworld.model import effects_in, fluents_read, targets_of


def check_scratch(draft: Draft) -> None:
    """Report reads that find the default only, and writes that nothing of the tick can read."""
    names = {one.id: one.name for one in draft.fluents.values() if one.scratch}
    if not names:
        return
    for fluent in draft.fluents.values():
        if fluent.scratch and isinstance(fluent.default, m.BoolLiteral) and fluent.default.value:
            what = f"`{fluent.name}` is true at the start of every tick, and only `false` is kept."
            draft.tell("TW0410", what, fluent.span, "true at first", "Turn its meaning around.")
    told = {
        one.name: sorted(fluents_read((one.value,), draft.derives) & names.keys())
        for one in draft.derives.values()
    }
    for node in nodes_below(tuple(_asked_late(draft)), (m.Read, m.DeriveCall)):
        read = [node.fluent] if isinstance(node, m.Read) else told.get(node.derive, [])
        for name in [one for one in read if one in names][:1]:
            what = f"`{names[name]}` has its default again when this is asked."
            hint = "Ask in an action or a law, or keep the value in a `function`."
            draft.tell("TW0410", what, node.span, "at the end of the tick", hint)
    for body, what, hint in _unread(draft):
        for effect in effects_in(body):
            for name in [one.fluent for one in targets_of(effect) if one.fluent in names]:
                said = f"{what}, so nothing reads `{names[name]}` before it is forgotten."
                draft.tell("TW0410", said, effect.span, "forgotten at once", hint)


def _asked_late(draft: Draft) -> Iterator[object]:
    """The lines that are evaluated after the reset: no scratch value is left there."""
    yield from (*draft.invariants.values(), *draft.conserves.values(), *draft.watches.values())
    for world in draft.worlds.values():
        yield from (world.endings, world.awards, world.pays)
        yield () if world.score is None else world.score


def _unread(draft: Draft) -> Iterator[tuple[m.Body, str, str]]:
    """Bodies after which no rule of the tick reads, with the reason and a hint."""
    outside = "Leave it out: a slot has its default at the start of a tick."
    for birth in draft.births:
        yield birth.body, "Births are part of the start, too", outside
    for world in draft.worlds.values():
        legends = (one.body for layout in world.layouts for one in layout.legends)
        for body in (*world.setups, *legends):
            yield body, "No tick is under way at the start", outside
    for scenario in draft.scenarios:
        for step in scenario.steps:
            if isinstance(step, m.Given):
                yield step.body, "No tick is under way in a `given`", outside
    for action in draft.actions.values():
        if action.may_be_free:
            yield action.body, f"`{action.name}` may take no time", "Let it take a tick."
    for law in draft.laws.values():
        if not law.phase:
            hint = "Give the law a phase, with `during`, before those that read it."
            yield law.body, f"`{law.name}` is one of the last laws of a tick", hint


def with_resets(program: m.Program) -> m.Program:
    """The program with a law for each scratch fluent that gives it its default again."""
    laws = dict(program.laws)
    for fluent in program.fluents.values():
        if fluent.scratch:
            law = _reset(fluent)
            laws[law.name] = law
    return replace(program, laws=laws) if len(laws) > len(program.laws) else program


def _reset(fluent: m.Fluent) -> m.Law:
    default, span = fluent.default, fluent.span
    assert default is not None
    names = [f"{one.name}`{at}" for at, one in enumerate(fluent.params)]
    params = tuple(
        m.Binder(name, domain_of(one.type), one.type, span)
        for name, one in zip(names, fluent.params, strict=True)
    )
    args = tuple(m.Local(one.name, one.type, span) for one in params)
    slot = m.Read(fluent.id, args, fluent.type, span)
    differs: m.Term = slot
    if not isinstance(fluent.type, m.BoolType):
        differs = m.Compare("!=", slot, default, m.BOOL, span)
    body = (m.Assign(slot, "=", default, span),)
    return m.Law(f"reset {fluent.name}", params, "", differs, body, span, added=True)
