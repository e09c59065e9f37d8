"""The declarations and rules of a domain as lines of a `.tw` file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tokenworld.planning.reader.bodies import Bodies, Line, costs
from tokenworld.planning.reader.conditions import Expressions, conjuncts, formals
from tokenworld.planning.reader.ordering import Dependence, is_cost, told_order
from tokenworld.planning.reader.spelling import Locals, Spelling, word
from tokenworld.planning.reader.symbols import TOTAL_COST, Symbols
from tokenworld.planning.reader.tree import (
    ActionDecl,
    Calculated,
    FunctionDecl,
    Name,
    PredicateDecl,
    TermExpr,
    Typed,
)

__all__ = ["declare_objects", "pddl_block", "rule_lines", "uses_costs"]

_WIDTH = 100


def declare_objects(objects: Iterable[Typed], spelling: Spelling, indent: str) -> Iterator[Line]:
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


# ---- what the rules do not say --------------------------------------------------------------


def pddl_block(
    symbols: Symbols, spelling: Spelling, entries: Sequence[tuple[str, str]]
) -> Iterator[Line]:
    """The ``pddl { }`` block: the name, the requirements, foreign spellings, ``entries``."""
    domain = symbols.domain
    place = domain.name.span
    lines = [("domain", word(domain.name.text)), ("requirements", _requirements(symbols))]
    if symbols.implicit:
        lines.append(("implicit", ", ".join(word(n.text) for n in symbols.implicit.values())))
    position = _cost_position(symbols)
    if position is not None:
        lines.append((f"`{TOTAL_COST}`", str(position)))
    derived = _derived_entry(symbols)
    if derived:
        lines.append(("derived", derived))
    if any(one.result is not None for one in domain.functions):
        lines.append(("functions", "objects"))
    if any(one.result is None and one.name.key != TOTAL_COST for one in domain.functions):
        lines.append(("init", "written"))
    lines += [(of, word(foreign)) for of, foreign in spelling.foreign.items()]
    for key, choice in symbols.choices.items():
        listed = ", ".join(word(part.text) for part in choice.parts)
        lines.append((spelling.choices[key], f"either, {listed}"))
    lines += [*_orders(symbols), *entries]
    width = max(len(key) for key, _ in lines)
    yield "pddl {", place
    for key, value in lines:
        yield f"  {key.ljust(width)} = {value}", place
    yield "}", place


def _requirements(symbols: Symbols) -> str:
    return ", ".join(word(one.text) for one in symbols.domain.requirements) or '""'


def _cost_position(symbols: Symbols) -> int | None:
    """Where ``(total-cost)`` stands among the functions, if that is not plain: used, and last."""
    functions = symbols.domain.functions
    keys = [function.name.key for function in functions]
    used = any(costs(action.effects) for action in symbols.domain.actions)
    if TOTAL_COST not in keys:
        return 0 if used else None
    position = keys.index(TOTAL_COST) + 1
    return None if used and position == len(keys) else position


def _derived_entry(symbols: Symbols) -> str:
    """The rules for derived predicates in order, where nothing else tells it.

    A predicate with several rules is named several times; its derive joins them with `or`.
    """
    order = [derived.name.key for derived in symbols.domain.derived]
    told = [key for key in symbols.predicates if key in symbols.derived]
    required = {one.key for one in symbols.domain.requirements}
    if not order or (order == told and "derived-predicates" in required):
        return ""
    return ", ".join(word(symbols.predicates[key].name.text) for key in order)


def _orders(symbols: Symbols) -> Iterator[tuple[str, str]]:
    """The written order of effects that a body has in another one."""
    dependence = Dependence(symbols)
    for action in symbols.domain.actions:
        order = told_order(dependence, action.effects)
        if order:
            yield f"`order {action.name.text}`", f'"{order}"'


# ---- declarations ---------------------------------------------------------------------------


def _types(symbols: Symbols, spelling: Spelling) -> Iterator[Line]:
    for key, choice in symbols.choices.items():
        above = ", ".join(spelling.type(one) for one in symbols.above_choice(choice))
        yield f"type {spelling.choices[key]}{f' : {above}' if above else ''}", choice.span
    for name in symbols.implicit.values():
        yield _type(name, None, symbols, spelling)
    for of in symbols.types.values():
        yield _type(of.name, of.type, symbols, spelling)


def _type(name: Name, parent: Name | None, symbols: Symbols, spelling: Spelling) -> Line:
    """A type below its parent, and below the unions that it is a part of."""
    above: list[str] = []
    if parent is not None:
        above.append("Object" if parent.key == name.key else spelling.type(parent.key))
    above += [spelling.choices[key] for key in symbols.choices_with(name.key)]
    below = f" : {', '.join(above)}" if above else ""
    return f"type {spelling.types[name.key]}{below}", name.span


def _predicate(
    predicate: PredicateDecl, symbols: Symbols, expressions: Expressions, taken: frozenset[str]
) -> Line:
    name = word(predicate.name.text)
    derived = symbols.derived.get(predicate.name.key)
    if derived is None:
        inside = formals(predicate.params, expressions.spelling)
        return f"relation {name}({inside})", predicate.name.span
    first = derived[0]
    names = Locals(taken).bind(first.params)
    shown = [names[param.name.key] for param in first.params]
    parts = [
        expressions.condition(one.condition, Locals(taken).alias(one.params, shown),
                              2 if len(derived) > 1 else 0)
        for one in derived
    ]  # fmt: skip
    inside = expressions.binders(first.params, names)
    return f"derive {name}({inside}): bool = {' or '.join(parts)}", first.span


def _function(
    function: FunctionDecl, spelling: Spelling, real: frozenset[str], open_: frozenset[str]
) -> Line:
    inside = formals(function.params, spelling)
    key = function.name.key
    if function.result is not None:
        of = spelling.type(function.result.key) + ("?" if key in open_ else "")
    else:
        of = "real" if key in real else "int"
    return f"function {word(function.name.text)}({inside}): {of}", function.name.span


# ---- actions --------------------------------------------------------------------------------


def _cost(values: tuple[TermExpr, ...], action: ActionDecl) -> TermExpr:
    return values[0] if len(values) == 1 else Calculated("+", values, action.span)


def _action(
    action: ActionDecl, expressions: Expressions, bodies: Bodies, taken: frozenset[str]
) -> Iterator[Line]:
    names = Locals(taken).bind(action.params)
    head = f"action {word(action.name.text)}({expressions.binders(action.params, names)})"
    paid = costs(action.effects)
    if paid:
        head += f" cost {expressions.term(_cost(paid, action), names)}"
    yield f"{head} {{", action.name.span
    for condition in conjuncts(action.precondition):
        yield f"  require {expressions.condition(condition, names)}", condition.span
    yield from bodies.body(action.effects, names, "  ")
    yield "}", action.name.span


def rule_lines(
    symbols: Symbols, spelling: Spelling, real: frozenset[str], open_: frozenset[str]
) -> Iterator[Line]:
    """Everything behind the ``pddl`` block: types, constants, facts, functions, actions.

    ``real`` are the functions with decimals, ``open_`` the object fluents that may have no value.
    """
    domain = symbols.domain
    place = domain.name.span
    taken = frozenset(symbols.constants)
    constants = {key: spelling.constant(key) for key in symbols.constants}
    expressions = Expressions(spelling, constants)
    functions = [one for one in symbols.functions.values() if one.name.key != TOTAL_COST]
    sections = [
        list(_types(symbols, spelling)),
        list(declare_objects(symbols.constants.values(), spelling, "")),
        [_predicate(one, symbols, expressions, taken) for one in symbols.predicates.values()],
        [_function(one, spelling, real, open_) for one in functions],
    ]
    bodies = Bodies(symbols, expressions)
    sections += [list(_action(one, expressions, bodies, taken)) for one in domain.actions]
    for lines in sections:
        if lines:
            yield "", place
            yield from lines


def uses_costs(symbols: Symbols) -> bool:
    """Whether some action has a cost."""
    return any(is_cost(effect) for action in symbols.domain.actions for effect in action.effects)
