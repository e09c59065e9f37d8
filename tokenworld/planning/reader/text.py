"""A domain and its problems as lines of a `.tw` file (language.md §16)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, product

from tokenworld.diagnostics import Diagnostic
from tokenworld.planning.reader.effects import Change, Line, Put, body_lines, told_order
from tokenworld.planning.reader.expressions import show
from tokenworld.planning.reader.files import Action, Derived, Domain, Metric, Problem
from tokenworld.planning.reader.measures import COSTS, Unmeasured, measured
from tokenworld.planning.reader.monitors import Monitors, monitors
from tokenworld.planning.reader.names import (
    FRACTION,
    OR,
    ROOT,
    TOTAL_COST,
    Choice,
    Signature,
    Spelling,
    Typed,
    alternatives,
    word,
)
from tokenworld.planning.reader.sexpr import Word
from tokenworld.planning.reader.trajectories import Bound

_WIDTH = 100
_MOST_LINES = 50
"""Of one `setup`: the checker compares the changes of a body with each other."""


def file_lines(
    domain: Domain,
    problems: tuple[Problem, ...],
    names: tuple[str, ...],
    added: Monitors,
    remarks: list[Diagnostic],
) -> Iterator[Line]:
    """All lines; ``names`` are those of the worlds, ``added`` comes from `rules_added`. Remarks on
    dropped parts go to ``remarks``."""
    real = _real_functions(domain, problems)
    yield "edition 1", domain.name.span
    yield from _pddl_block(domain, problems, names, added, remarks)
    yield from _rule_lines(domain, problems, added, real)
    for problem, name in zip(problems, names, strict=True):
        yield from _world_lines(domain, problem, name, added)


def rules_added(domain: Domain, problems: tuple[Problem, ...]) -> Monitors:
    """The rules of the constraints and preferences of the one problem that has some, of its metric,
    and of costs with decimals, as those of a rule are whole numbers."""
    if not problems:
        return Monitors()
    real = _real_functions(domain, problems) | {FRACTION}

    def members(one: Bound) -> int:
        return len(_members(domain, problems[0], one.param.type))

    metric, only = problems[0].metric, domain.own is not None and len(problems) == 1
    soft = [*domain.constraints, *problems[0].constraints, *problems[0].preferences]
    prefers = only and (domain.prefers or any(one.name is not None for one in soft))
    paid = [one.cost for one in domain.actions if one.cost is not None]
    took = [action.takes for action in domain.actions if action.takes is not None]
    decimals = any(one.numbers & real for one in paid)
    timed = any(one.numbers & real for one in took)
    try:
        if metric is not None and (prefers or _is_sum(domain, problems, metric)):
            measure = measured(metric.sense, metric.item)
            return monitors(domain, problems, measure, members, real)
        if decimals:
            return monitors(domain, problems, COSTS, members, real)
    except Unmeasured as found:
        return replace(monitors(domain, problems, None, members, real), unmeasured=str(found))
    return monitors(domain, problems, None, members, real) if only or timed else Monitors()


def _is_sum(domain: Domain, problems: tuple[Problem, ...], metric: Metric) -> bool:
    """Return whether a metric of one problem is a sum, not the plain costs or ticks."""
    counted = domain.symbols.counted and metric.is_total_cost
    told = counted or not (metric.is_known or _counts_ticks(domain, metric))
    return told and len(problems) == 1


def _counts_ticks(domain: Domain, metric: Metric) -> bool:
    return metric.is_total_time and not domain.pays


# ---- what the rules do not say --------------------------------------------------------------


def _pddl_block(
    domain: Domain,
    problems: tuple[Problem, ...],
    names: tuple[str, ...],
    added: Monitors,
    remarks: list[Diagnostic],
) -> Iterator[Line]:
    """The ``pddl { }`` block: names, requirements, foreign spellings, orders, metrics."""
    symbols, spelling, place = domain.symbols, domain.spelling, domain.name.span
    requirements = ", ".join(word(one.text) for one in domain.requirements) or '""'
    lines = [("domain", word(domain.name.text)), ("requirements", requirements)]
    if symbols.implicit:
        lines.append(("implicit", ", ".join(word(n.text) for n in symbols.implicit.values())))
    if several := [one.name for one in symbols.types.values() if isinstance(one.type, Choice)]:
        lines.append(("either", ", ".join(word(name.text) for name in several)))
    position = _cost_position(domain)
    if position is not None:
        lines.append((f"`{TOTAL_COST}`", str(position)))
    derived = _derived_entry(domain)
    if derived:
        lines.append(("derived", derived))
    if any(one.result is not None for one in domain.functions):
        lines.append(("functions", "objects"))
    if any(one.result is None for one in symbols.numbers):
        lines.append(("init", "written"))
    lines += [(of, word(foreign)) for of, foreign in spelling.foreign.items()]
    for choice in symbols.choices.values():
        listed = ", ".join(word(part.text) for part in choice.parts)
        lines.append((spelling.choice(choice), f"either, {listed}"))
    for action in domain.actions:
        if order := told_order(action.effects):
            lines.append((f"`order {action.name.text}`", f'"{order}"'))
    for problem, name in zip(problems, names, strict=True):
        if name != problem.name.text:
            lines.append((f"`problem {name}`", word(problem.name.text)))
    lines += _metrics(domain, problems, names, added, remarks)
    lines += _as_written(domain, problems, names, added)
    width = max(len(key) for key, _ in lines)
    yield "pddl {", place
    for key, value in lines:
        yield f"  {key.ljust(width)} = {value}", place
    yield "}", place


def _cost_position(domain: Domain) -> int | None:
    """The position of ``(total-cost)`` among the functions, unless it is used and last."""
    keys = [function.name.key for function in domain.functions]
    if TOTAL_COST not in keys or domain.symbols.counted:
        return 0 if domain.pays else None
    position = keys.index(TOTAL_COST) + 1
    return None if domain.pays and position == len(keys) else position


def _derived_entry(domain: Domain) -> str:
    """The rules for derived predicates in order, if that is not the default.

    A predicate with several rules is named several times; its derive joins them with `or`.
    """
    symbols = domain.symbols
    order = [derived.head.name.key for derived in domain.derived]
    default = [key for key in symbols.predicates if key in symbols.derived]
    required = {one.key for one in domain.requirements}
    if not order or (order == default and "derived-predicates" in required):
        return ""
    return ", ".join(word(symbols.predicates[key].name.text) for key in order)


def _metrics(
    domain: Domain,
    problems: tuple[Problem, ...],
    names: tuple[str, ...],
    added: Monitors,
    remarks: list[Diagnostic],
) -> Iterator[tuple[str, str]]:
    """The metrics that do not follow from the costs, word by word. Those that no preference made
    a cost are not planned with."""
    for problem, name in zip(problems, names, strict=True):
        metric, paid = problem.metric, domain.pays
        if (metric is None and not paid) or (metric is not None and metric.is_total_cost and paid):
            continue
        text = "" if metric is None else f"{metric.sense} {metric.text}"
        yield f"`metric {name}`", f'"{text}"'
        counted = domain.symbols.counted and metric is not None and metric.is_total_cost
        told = metric is not None and (
            counted or not (metric.is_known or _counts_ticks(domain, metric))
        )
        if metric is not None and told and added.paid is None:
            what = "Plans are not measured by this metric."
            if added.unmeasured:
                what = f"Plans are not measured by this metric: {added.unmeasured}."
            hint = "Only increase `(total-cost)`, by what a plan should pay."
            severity = Diagnostic("TW0809", what).severity
            remarks.append(Diagnostic("TW0810", what, metric.span, hint=hint, severity=severity))


def _as_written(
    domain: Domain, problems: tuple[Problem, ...], names: tuple[str, ...], added: Monitors
) -> Iterator[tuple[str, str]]:
    """Constraints and preferences as they are written, and the names of the rules for them."""
    if domain.own is not None and len(problems) == 1:
        yield "constants", str(domain.own)
    if added.ticks != 1:
        yield "ticks", str(added.ticks)
    if added.paid is not None:
        yield "scale", f'"{added.sign} {added.offset} {added.scale}"'
    if added.goal is not None:
        yield "made", ", ".join(map(word, added.made)) or '""'
    if domain.written is not None:
        yield "constraints", f'"{show(domain.written)}"'
    for action in domain.actions:
        for place, item in action.soft:
            yield f"`preference {action.name.text} {place}`", f'"{show(item)}"'
        if added.paid is not None and action.paid:
            paid = " ".join(show(one) for one in action.paid)
            yield f"`costs {action.name.text}`", f'"{paid}"'
    for problem, name in zip(problems, names, strict=True):
        if added.goal is not None:
            yield f"`goal {name}`", f'"{show(problem.written["goal"])}"'
        if "constraints" in problem.written:
            yield f"`constraints {name}`", f'"{show(problem.written["constraints"])}"'


# ---- declarations ---------------------------------------------------------------------------


def _rule_lines(
    domain: Domain, problems: tuple[Problem, ...], added: Monitors, real: frozenset[str]
) -> Iterator[Line]:
    """Everything after the ``pddl`` block: types, constants, facts, functions, actions."""
    symbols, spelling = domain.symbols, domain.spelling
    open_ = _open_fluents(domain, problems)
    sections = [
        list(_types(domain)),
        list(_declare_objects(symbols.constants.values(), spelling, "")),
        [_predicate(one, domain) for one in symbols.predicates.values()],
        [_function(one, spelling, real, open_) for one in symbols.numbers],
        added.declared,
        *(list(_action(one, domain, added)) for one in domain.actions),
        *added.settling,
    ]
    for lines in sections:
        if lines:
            yield "", domain.name.span
            yield from lines


def _types(domain: Domain) -> Iterator[Line]:
    symbols, spelling = domain.symbols, domain.spelling
    for choice in symbols.choices.values():
        above = ", ".join(spelling.type(one) for one in symbols.above_choice(choice))
        yield f"type {spelling.choice(choice)}{f' : {above}' if above else ''}", choice.span
    for name in symbols.implicit.values():
        yield _type(name, None, domain)
    for of in symbols.types.values():
        yield _type(of.name, of.type, domain)


def _type(name: Word, parent: Word | None, domain: Domain) -> Line:
    """A type below its parent, and below the unions that it is a part of."""
    spelling = domain.spelling
    above: list[str] = []
    if parent is not None and parent.key != name.key:
        above += map(spelling.type, alternatives(parent))
    elif domain.symbols.names_root and name.key != ROOT:
        above.append(spelling.types[ROOT])
    above += [spelling.choice(one) for one in domain.symbols.choices_with(name.key)]
    below = f" : {', '.join(above)}" if above else ""
    return f"type {spelling.types[name.key]}{below}", name.span


def _declare_objects(objects: Iterable[Typed], spelling: Spelling, indent: str) -> Iterator[Line]:
    """``object a, b: Block``: one line per run of objects of a type, broken where too long."""
    for kind, run in groupby(objects, spelling.kind):
        names: list[str] = []
        place = None
        for one in run:
            text = word(one.name.text)
            width = len(indent) + sum(len(name) + 2 for name in names) + len(text) + len(kind) + 7
            if names and place is not None and width > _WIDTH:
                yield f"{indent}object {', '.join(names)}{kind}", place
                names, place = [], None
            names.append(text)
            place = place or one.name.span
        if place is not None:
            yield f"{indent}object {', '.join(names)}{kind}", place


def _predicate(predicate: Signature, domain: Domain) -> Line:
    name = word(predicate.name.text)
    rules = [one for one in domain.derived if one.head.name.key == predicate.name.key]
    if not rules:
        inside = domain.spelling.formals(predicate.params)
        return f"relation {name}({inside})", predicate.name.span
    least = OR + 1 if len(rules) > 1 else 0
    text = " or ".join(one.condition.within(least) for one in rules)
    return f"derive {name}({_bound(rules[0], domain)}): bool = {text}", rules[0].span


def _bound(rule: Derived | Action, domain: Domain) -> str:
    """The parameters of a rule: ``x: Block, y``."""
    params = rule.head.params if isinstance(rule, Derived) else rule.params
    return domain.spelling.binders(params, rule.names)


def _function(
    function: Signature, spelling: Spelling, real: frozenset[str], open_: frozenset[str]
) -> Line:
    inside, key = spelling.formals(function.params), function.name.key
    if function.result is not None:
        of = spelling.type(function.result) + ("?" if key in open_ else "")
    else:
        of = "real" if key in real else "int"
    return f"function {word(function.name.text)}({inside}): {of}", function.name.span


def _action(action: Action, domain: Domain, added: Monitors) -> Iterator[Line]:
    head = f"action {word(action.name.text)}({_bound(action, domain)})"
    if action.takes is not None:
        head += f" takes {added.takes.get(action.name.key, action.takes.text)}"
    if added.paid is not None:
        cost = added.paid[action.name.key]
        head += f" cost {cost}" if cost else ""
    elif action.cost is not None:
        head += f" cost {action.cost.text}"
    yield f"{head} {{", action.name.span
    for condition in action.precondition.conjuncts:
        yield f"  require {condition.text}", condition.span
    yield from added.lines(action)
    yield from body_lines(action.effects, action.names, "  ")
    yield "}", action.name.span


# ---- kinds of functions ---------------------------------------------------------------------


def _real_functions(domain: Domain, problems: tuple[Problem, ...]) -> frozenset[str]:
    """The functions that must be `real`; the others are `int` and stay exact."""
    groups = [*domain.groups, *(group for problem in problems for group in problem.groups)]
    real = {FRACTION}
    while True:
        met = [group for group in groups if group & real and not group <= real]
        if not met:
            return frozenset(real - {FRACTION})
        real = real.union(*met)


def is_inexact(domain: Domain, problems: tuple[Problem, ...], added: Monitors) -> bool:
    """Return whether a cost is no whole number, as those of a `.tw` action are, in any unit."""
    real = _real_functions(domain, problems) | {FRACTION}
    costs = (one.cost for one in domain.actions if one.cost is not None)
    return added.paid is None and any(one.numbers & real for one in costs)


def _open_fluents(domain: Domain, problems: tuple[Problem, ...]) -> frozenset[str]:
    """The object fluents that some problem leaves without a value."""
    fluents = [one for one in domain.symbols.functions.values() if one.result is not None]
    found: set[str] = set()
    for problem in problems:
        for fluent in fluents:
            key = fluent.name.key
            slots = product((key,), *(_members(domain, problem, p.type) for p in fluent.params))
            if set(slots) - problem.given:
                found.add(key)
    return frozenset(found)


def _members(domain: Domain, problem: Problem, of: Word | None) -> list[str]:
    wanted, symbols = ROOT if of is None else of.key, domain.symbols
    everything = wanted == ROOT and not symbols.has_root
    return [
        key
        for key, one in problem.every.items()
        if everything or wanted in symbols.above(one.type.key if one.type else ROOT)
    ]


# ---- worlds ---------------------------------------------------------------------------------


def world_names(problems: tuple[Problem, ...]) -> tuple[str, ...]:
    """A world's name for each problem: its own, or with a number where two have the same."""
    found: list[str] = []
    for problem in problems:
        name, number = problem.name.text, 2
        while name in found:
            name, number = f"{problem.name.text}-{number}", number + 1
        found.append(name)
    return tuple(found)


def _world_lines(domain: Domain, problem: Problem, name: str, added: Monitors) -> Iterator[Line]:
    """One world; each line of its setup once."""
    place = problem.name.span
    yield "", place
    yield f"world {word(name)} {{", place
    yield from _declare_objects(problem.objects, domain.spelling, "  ")
    setup = list(dict(reversed(list(_start(problem.init)))).items())[::-1]
    for start in range(0, len(setup), _MOST_LINES):
        yield "  setup {", place
        yield from setup[start : start + _MOST_LINES]
        yield "  }", place
    goal = added.goal or problem.goal
    yield f"  goal reached: {goal.text}", goal.span
    yield "}", place


def _start(init: Sequence[Put | Change]) -> Iterator[Line]:
    """The facts true at the start; a false fact needs no line."""
    for one in init:
        if isinstance(one, Change):
            if not one.pays:
                yield f"    {one.target.text} = {one.value.text}", one.span
        elif one.positive:
            given = ", ".join(arg.text for arg in one.args)
            yield f"    add {one.predicate}({given})", one.span
