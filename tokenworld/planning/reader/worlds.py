"""Problems as worlds: objects, setup, one goal (language.md §16)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tokenworld.planning.reader.bodies import Line
from tokenworld.planning.reader.conditions import Expressions
from tokenworld.planning.reader.rules import declare_objects
from tokenworld.planning.reader.spelling import Locals, Spelling, word
from tokenworld.planning.reader.symbols import ROOT, TOTAL_COST, Symbols
from tokenworld.planning.reader.tree import Change, Constant, Literal_, Problem, Undefined

__all__ = ["open_fluents", "world_lines", "world_names"]

_MOST_LINES = 50
"""Of one `setup`: the checker compares the changes of a body with each other."""


def world_names(problems: tuple[Problem, ...]) -> tuple[str, ...]:
    """A world's name for each problem: its own, or with a number where two have the same."""
    found: list[str] = []
    for problem in problems:
        name, number = problem.name.text, 2
        while name in found:
            name, number = f"{problem.name.text}-{number}", number + 1
        found.append(name)
    return tuple(found)


def open_fluents(symbols: Symbols, problems: tuple[Problem, ...]) -> frozenset[str]:
    """The object fluents that some problem leaves without a value."""
    fluents = [one for one in symbols.functions.values() if one.result is not None]
    found: set[str] = set()
    for problem in problems:
        for fluent in fluents:
            slots = set(product(*(_members(symbols, problem, p.type) for p in fluent.params)))
            if slots - _set(problem, fluent.name.key):
                found.add(fluent.name.key)
    return frozenset(found)


def _members(symbols: Symbols, problem: Problem, of: object) -> list[str]:
    wanted = getattr(of, "key", ROOT)
    everything = wanted == ROOT and not symbols.has_root
    return [
        key
        for key, one in symbols.objects(problem).items()
        if everything or wanted in symbols.above(one.type.key if one.type else ROOT)
    ]


def _set(problem: Problem, key: str) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for line in problem.init:
        named = isinstance(line, Change) and line.target.function.key == key
        if named and isinstance(line, Change) and not isinstance(line.value, Undefined):
            args = line.target.args
            found.add(tuple(arg.name.key for arg in args if isinstance(arg, Constant)))
    return found


def world_lines(
    symbols: Symbols, spelling: Spelling, problem: Problem, name: str
) -> Iterator[Line]:
    """One world."""
    place = problem.name.span
    objects = {key: word(one.name.text) for key, one in symbols.objects(problem).items()}
    expressions = Expressions(spelling, objects)
    nobody = Locals(frozenset())
    yield "", place
    yield f"world {word(name)} {{", place
    yield from declare_objects(symbols.own_objects(problem), spelling, "  ")
    setup = list(_setup(problem, expressions, nobody))
    for start in range(0, len(setup), _MOST_LINES):
        yield "  setup {", place
        yield from setup[start : start + _MOST_LINES]
        yield "  }", place
    goal = expressions.condition(problem.goal, Locals(frozenset(objects)))
    yield f"  goal reached: {goal}", problem.goal.span
    yield "}", place


def _setup(problem: Problem, expressions: Expressions, nobody: Locals) -> Iterator[Line]:
    """What holds at the start, each line once; what does not hold needs no line."""
    seen: set[str] = set()
    for text, span in _start(problem, expressions, nobody):
        if text not in seen:
            yield text, span
        seen.add(text)


def _start(problem: Problem, expressions: Expressions, nobody: Locals) -> Iterator[Line]:
    for line in problem.init:
        match line:
            case Literal_(fact=fact, positive=positive):
                if positive:
                    yield f"    add {expressions.fact(fact, nobody)}", fact.span
            case Change(target=target, value=value, span=span):
                if target.function.key != TOTAL_COST:
                    left = expressions.term(target, nobody)
                    yield f"    {left} = {expressions.term(value, nobody)}", span
