"""Encoding D: operators without conditional effects, one micro-action per case of a law.

An operator whose effects depend on conditions becomes a run of micro-steps, each for variables
that must change together, in an order in which every step still reads what the operator would have
read. A step has one micro-action per case; the cases are disjoint and exhaustive, and the one in
which nothing changes is explicit. A token says which step is next, so that nothing comes between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable

__all__ = ["micro_task"]

_MOST_CASES = 1_000
"""A step with more cases than these keeps its conditional effects."""

Known = Mapping[int, tuple[int, ...]]
"""The positions that variables may have, where that is known."""


def micro_task(task: Task) -> Task:
    """The same task in micro-actions; the first of an operator carries its command and its draws.

    Every plan of one is a plan of the other, with the same costs and commands.
    """
    runs = [_run(task, operator) for operator in task.operators]
    if all(len(run) == 1 for run in runs):
        return Task(task.variables, _renamed(one for run in runs for one in run[0]), task.goal)
    token, values, made = len(task.variables), ["none"], list[Operator]()
    for operator, run in zip(task.operators, runs, strict=True):
        word = operator.name.split()[0]
        places = [0, *range(len(values), len(values) + len(run) - 1), 0]
        values += [f"{word}-{number}" for number in range(1, len(run))]
        for step, before, after in zip(run, places, places[1:], strict=False):
            made += (_tokened(one, token, before, after) for one in step)
    variables = (*task.variables, Variable("micro", "token", tuple(values), 0))
    return Task(variables, _renamed(made), (*task.goal, (token, (0,))))


def _tokened(operator: Operator, token: int, before: int, after: int) -> Operator:
    """The micro-action at its turn."""
    moved = (Effect((), token, after),) if before != after else ()
    condition = (*operator.precondition, (token, (before,)))
    return replace(operator, precondition=condition, effects=(*operator.effects, *moved))


def _renamed(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Names made unique by a number in front.

    Where nothing follows, the case in which nothing changes is left out: it leads nowhere, and the
    planner's translator does not read an action that only costs something.
    """
    changing = (one for one in operators if one.effects)
    return tuple(
        replace(one, name=" ".join((f"o{number}", *one.name.split()[1:])))
        for number, one in enumerate(changing)
    )


# ---- one operator --------------------------------------------------------------------------


def _run(task: Task, operator: Operator) -> list[list[Operator]]:
    """The steps of an operator, each as its micro-actions.

    A step asks again for what the operator asks for and no earlier step has changed.
    """
    known = dict(operator.precondition)
    effects = _simplified(operator.effects, known)
    steps = _joined(task, _groups(task, effects, known), known)
    if not steps:
        return [[replace(operator, effects=tuple(effects))]]
    changed = {effect.variable for group, _ in steps for effect in group}
    loose = tuple(effect for effect in effects if effect.variable not in changed)
    follower = Operator(f"{operator.name.split()[0]} then {_rest(operator)}", (), ())
    run: list[list[Operator]] = []
    for number, (group, cases) in enumerate(steps):
        base = operator if number == 0 else replace(follower, precondition=tuple(known.items()))
        more = loose if number == len(steps) - 1 else ()
        run.append([_action(base, tests, (*made, *more)) for tests, made in cases])
        known = {one: known[one] for one in known if one not in {two.variable for two in group}}
    return run


def _rest(operator: Operator) -> str:
    return " ".join(operator.name.split()[1:])


_Case = tuple[tuple[Literal, ...], tuple[Effect, ...]]


def _action(operator: Operator, tests: Sequence[Literal], effects: Sequence[Effect]) -> Operator:
    condition = dict(operator.precondition)
    condition.update(tests)
    return replace(operator, precondition=tuple(sorted(condition.items())), effects=tuple(effects))


def _simplified(effects: Iterable[Effect], known: Known) -> list[Effect]:
    """The effects that can still happen, without the conditions that are known to hold."""
    found: list[Effect] = []
    for effect in effects:
        kept: list[Literal] = []
        for variable, positions in effect.conditions:
            may = known.get(variable)
            if may is None:
                kept.append((variable, positions))
            elif not set(may) & set(positions):
                break
            elif not set(may) <= set(positions):
                kept.append((variable, positions))
        else:
            found.append(replace(effect, conditions=tuple(kept)))
    return found


def _joined(
    task: Task, groups: Sequence[list[Effect]], known: Known
) -> list[tuple[list[Effect], list[_Case]]]:
    """The groups with their cases; neighbours in one step where that makes no more actions."""
    found: list[tuple[list[Effect], list[_Case]]] = []
    for group in groups:
        cases = _split(task, group, known, _MOST_CASES) or [((), tuple(group))]
        if found:
            before, so_far = found[-1]
            both = [*before, *group]
            together = _split(task, both, known, len(so_far) + len(cases))
            if together:
                found[-1] = (both, together)
                continue
        found.append((group, cases))
    return found


# ---- which variables change together ---------------------------------------------------------


def _groups(task: Task, effects: Sequence[Effect], known: Known) -> list[list[Effect]]:
    """Effects whose variables must change in one step, in an order that reads before it writes."""
    written = dict.fromkeys(effect.variable for effect in effects)
    reads: dict[int, set[int]] = {variable: set() for variable in written}
    for effect in effects:
        reads[effect.variable] |= {one for one, _ in effect.conditions if one in written}
    conditional = {one.variable for one in effects if one.conditions or _open(task, one, known)}
    parts = [part & conditional and part for part in _components(reads)]
    near = _near(reads)
    kept = sorted((part for part in parts if part), key=lambda part: min(near[one] for one in part))
    return [[effect for effect in effects if effect.variable in part] for part in kept]


def _near(reads: Mapping[int, set[int]]) -> dict[int, int]:
    """A number for each variable, equal for those that have anything to do with each other."""
    found = {variable: number for number, variable in enumerate(reads)}
    for variable, others in reads.items():
        for other in others:
            old, new = found[other], found[variable]
            found = {one: new if number == old else number for one, number in found.items()}
    return found


def _components(reads: Mapping[int, set[int]]) -> list[set[int]]:
    """Strongly connected variables, each set before whatever writes what it reads (Tarjan)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[set[int]] = []

    def visit(variable: int) -> None:
        index[variable] = low[variable] = len(index)
        stack.append(variable)
        for other in sorted(reads[variable]):
            if other not in index:
                visit(other)
                low[variable] = min(low[variable], low[other])
            elif other in stack:
                low[variable] = min(low[variable], index[other])
        if low[variable] == index[variable]:
            at = stack.index(variable)
            found.append(set(stack[at:]))
            del stack[at:]

    for variable in reads:
        if variable not in index:
            visit(variable)
    return found[::-1]  # Tarjan's algorithm finds what is read before whatever reads it


def _open(task: Task, effect: Effect, known: Known) -> bool:
    """Whether it is not known which value of many an effect replaces.

    A planner sees that a variable has one value at a time only where every action names the value
    that it takes away.
    """
    variable = task.variables[effect.variable]
    before = known.get(effect.variable, range(len(variable.values)))
    return len(before) > 1 and not all(isinstance(value, bool) for value in variable.values)


# ---- cases -------------------------------------------------------------------------------------


def _split(task: Task, effects: Sequence[Effect], known: Known, most: int) -> list[_Case]:
    """The cases of a step; none where they are more than ``most``."""
    cases: list[_Case] = []
    for case in _cases(task, effects, dict(known), ()):
        cases.append(case)
        if len(cases) > most:
            return []
    return cases


def _cases(
    task: Task, effects: Sequence[Effect], known: dict[int, tuple[int, ...]], tests: Sequence[int]
) -> Iterator[_Case]:
    """Split on one variable after the other until no condition is left."""
    effects = _simplified(effects, known)
    asked = next((effect.conditions[0][0] for effect in effects if effect.conditions), None)
    replaced = next((one.variable for one in effects if _open(task, one, known)), None)
    if asked is None and replaced is not None:
        for position in known.get(replaced) or range(len(task.variables[replaced].values)):
            told = {**known, replaced: (position,)}
            yield from _cases(task, effects, told, (*tests, replaced))
        return
    if asked is None:
        literals = tuple((variable, known[variable]) for variable in dict.fromkeys(tests))
        yield literals, tuple(dict.fromkeys(_changes(effects, known)))
        return
    every = known.get(asked) or tuple(range(len(task.variables[asked].values)))
    for positions in _classes(effects, asked, every):
        yield from _cases(task, effects, {**known, asked: positions}, (*tests, asked))


def _changes(effects: Sequence[Effect], known: Known) -> Iterator[Effect]:
    """The effects that change something."""
    for effect in effects:
        if known.get(effect.variable) != (effect.value,):
            yield effect


def _classes(
    effects: Sequence[Effect], variable: int, every: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """The positions of a variable, those together that no condition tells apart."""
    asked = [
        set(positions)
        for effect in effects
        for one, positions in effect.conditions
        if one == variable
    ]
    found: dict[tuple[bool, ...], list[int]] = {}
    for position in every:
        found.setdefault(tuple(position in one for one in asked), []).append(position)
    return [tuple(positions) for positions in found.values()]
