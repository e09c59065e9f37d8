"""The rules of one world: without the monitors of conditions that only other worlds ask about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tokenworld import model as m


def rules_of(program: m.Program, world: m.World) -> m.Program:
    """The program with the monitors (`check.over_time`) that a world needs, and no other worlds.

    A world needs those of its endings, of requires and of costs. The same program is returned
    where these are all, or none.
    """
    monitors = frozenset(name for name, one in program.fluents.items() if one.monitor)
    dropped = monitors - _needed(program, world) if monitors else monitors
    if not dropped:
        return program
    return replace(
        program,
        worlds={world.name: world},
        fluents={name: one for name, one in program.fluents.items() if name not in dropped},
        derives={
            name: one
            for name, one in program.derives.items()
            if m.fluents_read((one.value,), program.derives).isdisjoint(dropped)
        },
        actions={
            name: replace(one, notes=tuple(_others(one.notes, dropped)))
            for name, one in program.actions.items()
        },
        laws={name: one for name, one in program.laws.items() if not _sets(one.body) & dropped},
    )


def _needed(program: m.Program, world: m.World) -> frozenset[str]:
    """The fluents that the conditions of a world read, directly or through the rules that note."""
    asked = [line.condition for line in world.endings]
    for action in program.actions.values():
        asked += (*m.guard_terms(action), *(() if action.cost is None else (action.cost,)))
    notes: list[tuple[m.Term | None, m.Body]] = [
        (None, (one,)) for action in program.actions.values() for one in action.notes
    ]
    notes += ((one.when, one.body) for one in program.laws.values() if one.added)
    found = m.fluents_read(asked, program.derives)
    while True:
        terms = [
            term
            for when, body in notes
            if _sets(body) & found
            for term in (*m.body_terms(body), *(() if when is None else (when,)))
        ]
        more = found | m.fluents_read(terms, program.derives)
        if more == found:
            return found
        found = more


def _others(notes: Iterable[m.Effect], dropped: frozenset[str]) -> Iterator[m.Effect]:
    return (one for one in notes if not _sets((one,)) & dropped)


def _sets(body: m.Body) -> frozenset[str]:
    """The fluents that a body changes."""
    return frozenset(
        one.target.fluent for effect in m.effects_in(body) for one in m.slot_writes(effect)
    )
