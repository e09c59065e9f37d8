"""The rules of a world as three texts: of actions, of objects, of the score.

This is the form in which rules were given to language models in Wang et al. (2024): what each
action needs and does, what each kind of object is and does by itself, and how points are scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokenworld.model import Law, ObjectType, Program, World
from tokenworld.prose.articles import capitalised
from tokenworld.prose.deeds import Line
from tokenworld.prose.rulebook import BY_ITSELF, Entry, rule_entry, rulebook
from tokenworld.prose.rulebook_vocabulary import facts, kinds
from tokenworld.prose.wording import kind_word

__all__ = ["RuleContext", "rule_context"]

_RULER = "=========="


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The three texts."""

    actions: str
    objects: str
    score: str


def rule_context(program: Program, world: World) -> RuleContext:
    """The context of one world; laws stand with the kind of object that they are about."""
    actions = (_action(rule_entry(program, one)) for one in program.actions.values())
    return RuleContext(
        "\n\n".join(actions),
        f"\n{_RULER}\n".join(_objects(program)),
        "\n".join(_score(program, world)),
    )


def _action(entry: Entry) -> str:
    lines = [f"{entry.name}:"]
    lines += [f"Description: {entry.doc}"] if entry.doc else []
    lines += ["Rules:", *_listed(entry.lines)]
    return "\n".join(lines)


def _listed(lines: tuple[Line, ...]) -> Iterator[str]:
    """Numbered at the top; what belongs to a line stands below it."""
    number = 0
    for depth, text in lines:
        if depth == 0:
            number += 1
            yield f"{number}. {text}"
        else:
            yield f"{'  ' * depth}- {text}"


def _objects(program: Program) -> Iterator[str]:
    """Every kind with its properties and what it does in each tick, then what is no object's."""
    laws: dict[str, list[Law]] = {}
    for law in program.laws.values():
        first = law.params[0].type if law.params else None
        laws.setdefault(first.name if isinstance(first, ObjectType) else "", []).append(law)
    owners = {capitalised(kind_word(name)): name for name in program.types}
    for entry in kinds(program):
        name = owners.get(entry.name, "")
        yield _object(entry, program, laws.pop(name, []) if name else [])
    for entry in facts(program):
        yield _object(entry, program, [])
    yield from _order(program)
    rest = [law for left in laws.values() for law in left]
    if rest:
        yield _object(Entry("The world", "", (), ""), program, rest)


def _order(program: Program) -> Iterator[str]:
    """In which order a tick goes: the phases, and who comes first in each."""
    by_itself = (one for one in rulebook(program).sections if one.title == BY_ITSELF)
    steps = [f"- {entry.name}: {entry.lines[0][1]}" for one in by_itself for entry in one.entries]
    if steps:
        yield "\n".join(["Object: The tick", "Properties:", *steps])


def _object(entry: Entry, program: Program, laws: list[Law]) -> str:
    lines = [f"Object: {entry.name}"]
    lines += [f"Description: {entry.doc}"] if entry.doc else []
    lines += ["Properties:", *_bullets(entry.lines)] if entry.lines else []
    if laws:
        lines.append("In every tick:")
        for law in laws:
            lines += _bullets(rule_entry(program, law).lines)
    return "\n".join(lines)


def _bullets(lines: tuple[Line, ...]) -> Iterator[str]:
    return (f"{'  ' * depth}- {text}" for depth, text in lines)


def _score(program: Program, world: World) -> Iterator[str]:
    """Endings and points of one world."""
    title = f"The world “{world.title}”"
    for section in rulebook(program).sections:
        for entry in section.entries if section.title == title else ():
            if entry.name in ("Endings", "Score"):
                yield from _bullets(entry.lines)
