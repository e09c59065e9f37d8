"""The declarations, rules and problems of a domain as lines of a `.tw` file (language.md §16).

A `.tw` body may not read a slot that it changed before (TW0403), while PDDL has no such rule: all
effects read the state before. So `Bodies` names with `let`, at the start of the body, a condition
or a value that an earlier effect changes, and puts a `forall` that reads such a slot before the
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import assert_never

from tokenworld.diagnostics import Span
from tokenworld.planning.reader.spelling import (
    Expressions,
    Locals,
    Spelling,
    conjuncts,
    formals,
    word,
)
from tokenworld.planning.reader.tree import (
    ROOT,
    TOTAL_COST,
    ActionDecl,
    Applied,
    Calculated,
    Change,
    Compared,
    Condition,
    Constant,
    Effect,
    Equal,
    Fact,
    ForEach,
    FunctionDecl,
    Literal_,
    Name,
    Number,
    PredicateDecl,
    Problem,
    Symbols,
    TermExpr,
    Typed,
    Undefined,
    When,
    leaves,
)

__all__ = [
    "Line",
    "open_fluents",
    "pddl_block",
    "real_functions",
    "rule_lines",
    "uses_costs",
    "world_lines",
    "world_names",
]


# ---- ordering ----------------------------------------------------------------------------------


def is_cost(effect: Effect) -> bool:
    """Whether an effect increases ``total-cost``."""
    return isinstance(effect, Change) and effect.target.function.key == TOTAL_COST


def without_costs(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """The effects that become changes of a body; costs are written elsewhere."""
    return tuple(one for one in effects if not is_cost(one))


@dataclass(frozen=True, slots=True)
class Placed:
    """An effect of a `.tw` body, and the written effects that it is made of.

    ``sources`` are their places among the effects as written, from 0; with several, the effect is a
    loop, and ``sizes`` says how many effects of its body came from each.
    """

    effect: Effect
    sources: tuple[int, ...]
    sizes: tuple[int, ...]


class Dependence:
    """The fluents that the effects and conditions of one domain read."""

    def __init__(self, symbols: Symbols) -> None:
        self._below = {key: frozenset(_feeds(symbols, key)) for key in symbols.derived}

    # ---- order ------------------------------------------------------------------------------

    def ordered(self, effects: Sequence[Effect]) -> tuple[Placed, ...]:
        """The effects with loops that read what comes to be changed moved before the change."""
        early: list[Placed] = []
        rest: list[Placed] = []
        changed: set[str] = set()
        for index, effect in enumerate(effects):
            placed = Placed(effect, (index,), (_size(effect),))
            if not isinstance(effect, ForEach) or not changed & self.reads_of(effect):
                rest.append(placed)
            elif not self._joined(effect, placed, early) and not self._joined(effect, placed, rest):
                early.append(placed)
            changed |= writes(effect)
        return (*early, *rest)

    def _joined(self, loop: ForEach, placed: Placed, listed: list[Placed]) -> bool:
        """Join the loop to one that reads what it writes and runs over the same variables."""
        written = writes(loop)
        for index, one in enumerate(listed):
            other = one.effect
            if isinstance(other, ForEach) and written & self.reads_of(other):
                if not _alike(loop, other):
                    continue
                both = ForEach(other.params, (*other.effects, *loop.effects), other.span)
                sources, sizes = (*one.sources, *placed.sources), (*one.sizes, *placed.sizes)
                listed[index] = Placed(both, sources, sizes)
                return True
        return False

    # ---- what is read -----------------------------------------------------------------------

    def reads(self, condition: Condition) -> set[str]:
        """The predicates and functions that a condition depends on, through derived ones too."""
        found: set[str] = set()
        for key in _mentions(condition):
            found |= {key} | self._below.get(key, frozenset())
        return found

    def term_reads(self, term: TermExpr) -> set[str]:
        """The functions in a term."""
        return set(_words_of_term(term))

    def reads_of(self, effect: Effect) -> set[str]:
        """All that an effect reads."""
        match effect:
            case When(condition=condition, effects=effects):
                inner = [self.reads_of(one) for one in effects]
                return self.reads(condition).union(*inner)
            case ForEach(effects=effects):
                return set().union(*(self.reads_of(one) for one in effects))
            case Change(value=value):
                return self.term_reads(value)
            case Literal_(fact=fact):
                return set().union(*(self.term_reads(arg) for arg in fact.args))
            case _:
                assert_never(effect)


def told_order(dependence: Dependence, effects: Sequence[Effect]) -> str:
    """The order of an action's effects in its body, as a note; empty if it is the written order.

    ``2 1 3``: the first one written stands second. ``1.1 2 1.2-3``: the loop that stands first has
    the first one as its effect 1, and the last one as its effects 2 and 3. It is empty too where
    the parts cannot be told: a joined loop is rearranged inside, or a loop has no variables.
    """
    placed = dependence.ordered(without_costs(effects))
    loops = [one for one in placed if isinstance(one.effect, ForEach)]
    if any(_unclear(dependence, one) for one in loops):
        return ""
    found: dict[int, str] = {}
    for number, one in enumerate(placed, 1):
        found |= zip(one.sources, _parts(number, one), strict=True)
    words = [found[source] for source in sorted(found)]
    plain = [str(number) for number in range(1, len(words) + 1)]
    return "" if words == plain else " ".join(words)


def _unclear(dependence: Dependence, placed: Placed) -> bool:
    loop = placed.effect
    assert isinstance(loop, ForEach)
    if not loop.params:
        return True
    inner = dependence.ordered(loop.effects)
    return len(placed.sources) > 1 and tuple(one.effect for one in inner) != loop.effects


def _parts(number: int, placed: Placed) -> Iterator[str]:
    """The names of the sources of one effect in `told_order`."""
    if len(placed.sources) == 1:
        yield str(number)
        return
    start = 1
    for size in placed.sizes:
        end = start + size - 1
        yield f"{number}.{start}-{end}" if size > 1 else f"{number}.{start}"
        start = end + 1


def _size(effect: Effect) -> int:
    return len(effect.effects) if isinstance(effect, ForEach) else 1


def _alike(one: ForEach, other: ForEach) -> bool:
    """Whether two loops have the same variables of the same types."""

    def shape(loop: ForEach) -> list[tuple[str, str | None]]:
        return [(p.name.key, None if p.type is None else p.type.key) for p in loop.params]

    return shape(one) == shape(other)


def writes(effect: Effect) -> set[str]:
    """The predicates and functions that an effect changes."""
    match effect:
        case Literal_(fact=fact):
            return {fact.predicate.key}
        case Change(target=target):
            return {target.function.key}
        case When(effects=effects) | ForEach(effects=effects):
            return set().union(*(writes(one) for one in effects))
        case _:
            assert_never(effect)


def _mentions(condition: Condition) -> Iterator[str]:
    """The predicates and functions in a condition."""
    for leaf in leaves(condition):
        match leaf:
            case Fact(predicate=predicate, args=args):
                yield predicate.key
                for arg in args:
                    yield from _words_of_term(arg)
            case Equal(left=left, right=right) | Compared(left=left, right=right):
                yield from _words_of_term(left)
                yield from _words_of_term(right)
            case _:
                pass


def _words_of_term(term: TermExpr) -> Iterator[str]:
    match term:
        case Applied(function=function, args=args):
            yield function.key
            for arg in args:
                yield from _words_of_term(arg)
        case Calculated(parts=parts):
            for part in parts:
                yield from _words_of_term(part)
        case _:
            return


def _feeds(symbols: Symbols, key: str) -> set[str]:
    """Everything that a derived predicate depends on, itself included."""
    found, waiting = {key}, [key]
    while waiting:
        for derived in symbols.derived.get(waiting.pop(), ()):
            new = set(_mentions(derived.condition)) - found
            found |= new
            waiting += sorted(new)
    return found


# ---- bodies ------------------------------------------------------------------------------------

Line = tuple[str, Span]
"""A line of the `.tw` text and the place in the PDDL that it comes from."""


def costs(effects: Iterable[Effect]) -> tuple[TermExpr, ...]:
    """The costs that an action adds to ``total-cost``, in written order."""
    found = (one.value for one in effects if isinstance(one, Change) and is_cost(one))
    return tuple(found)


@dataclass(slots=True)
class _Frame:
    """A body, or one round of a loop: what was changed so far and what was named before."""

    changed: set[str]
    lets: list[Line] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Bodies:
    """Writes the effects of the rules of one domain."""

    def __init__(self, symbols: Symbols, expressions: Expressions) -> None:
        self.expressions = expressions
        self.dependence = Dependence(symbols)

    def body(self, effects: tuple[Effect, ...], names: Locals, indent: str) -> list[Line]:
        """The changes of an action; its costs are written elsewhere."""
        return self._framed(without_costs(effects), names, indent, _Frame(set()))

    def _framed(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        placed = tuple(one.effect for one in self.dependence.ordered(effects))
        found = self._block(placed, names, indent, frame)
        return [*((indent + text, span) for text, span in frame.lets), *found]

    def _block(
        self, effects: tuple[Effect, ...], names: Locals, indent: str, frame: _Frame
    ) -> list[Line]:
        found: list[Line] = []
        for effect in effects:
            found += self._effect(effect, names, indent, frame)
            frame.changed |= writes(effect)
        return found

    def _effect(self, effect: Effect, names: Locals, indent: str, frame: _Frame) -> list[Line]:
        match effect:
            case Literal_(fact=fact, positive=positive):
                text = self._target(fact, names, frame)
                return [(f"{indent}{'add' if positive else 'remove'} {text}", fact.span)]
            case Change():
                return [(indent + self.change(effect, names, frame), effect.span)]
            case When(condition=condition, effects=effects, span=span):
                test = self.expressions.condition(condition, names)
                if frame.changed & self.dependence.reads(condition):
                    test = self._named(test, condition.span, names, frame)
                inner = self._block(effects, names, indent + "  ", frame)
                return [(f"{indent}if {test} {{", span), *inner, (indent + "}", span)]
            case ForEach():
                return self._loop(effect, names, indent, frame)
            case _:
                assert_never(effect)

    def _loop(self, loop: ForEach, names: Locals, indent: str, frame: _Frame) -> list[Line]:
        """A loop over one `when` asks its condition before the first round: ``where``."""
        inside = _Frame(set(), names=frame.names)
        if not loop.params:
            return self._framed(loop.effects, names, indent, inside)
        bound = names.bind(loop.params)
        head, effects = self.expressions.binders(loop.params, bound), loop.effects
        if len(effects) == 1 and isinstance(effects[0], When):
            head += f" where {self.expressions.condition(effects[0].condition, bound)}"
            effects = effects[0].effects
        inner = self._framed(effects, bound, indent + "  ", inside)
        return [(f"{indent}for {head} {{", loop.span), *inner, (indent + "}", loop.span)]

    def _target(self, fact: Fact, names: Locals, frame: _Frame) -> str:
        """A fact to be changed; an argument that was changed before is named first."""
        args: list[str] = []
        for arg in fact.args:
            text = self.expressions.term(arg, names)
            stale = frame.changed & self.dependence.term_reads(arg)
            args.append(self._named(text, arg.span, names, frame) if stale else text)
        return f"{self.expressions.spelling.predicate(fact.predicate.key)}({', '.join(args)})"

    def change(self, change: Change, names: Locals, frame: _Frame | None = None) -> str:
        """``f(x) += 1`` and its kin."""
        target = self.expressions.term(change.target, names)
        tight = 7 if change.op in ("scale-up", "scale-down") else 0
        value = self.expressions.term(change.value, names, tight)
        if frame is not None and frame.changed & self.dependence.term_reads(change.value):
            value = self._named(value, change.span, names, frame)
        match change.op:
            case "assign":
                return f"{target} = {value}"
            case "increase":
                return f"{target} += {value}"
            case "decrease":
                return f"{target} -= {value}"
            case "scale-up":
                return f"{target} = {target} * {value}"
            case "scale-down":
                return f"{target} = {target} / {value}"
            case _:
                assert_never(change.op)

    def _named(self, text: str, span: Span, names: Locals, frame: _Frame) -> str:
        name = names.fresh("before", frame.names)
        frame.names.append(name)
        frame.lets.append((f"let {name} = {text}", span))
        return name


# ---- numbers -----------------------------------------------------------------------------------

_FRACTION = "/"
"""Stands for a decimal or a division among the functions that one expression brings together."""


def real_functions(symbols: Symbols, problems: tuple[Problem, ...]) -> frozenset[str]:
    """The functions that must be `real`; the others are `int` and stay exact."""
    groups = list(_groups(symbols, problems))
    real = {_FRACTION}
    while True:
        met = [group for group in groups if group & real and not group <= real]
        if not met:
            return frozenset(real - {_FRACTION})
        real = real.union(*met)


def _groups(symbols: Symbols, problems: tuple[Problem, ...]) -> Iterator[frozenset[str]]:
    for action in symbols.domain.actions:
        yield from _in_condition(action.precondition)
        for effect in action.effects:
            yield from _in_effect(effect)
    for derived in symbols.domain.derived:
        yield from _in_condition(derived.condition)
    for problem in problems:
        yield from _in_condition(problem.goal)
        for line in problem.init:
            if isinstance(line, Change):
                yield _together(line.target, line.value)


def _together(*terms: TermExpr) -> frozenset[str]:
    found = frozenset(key for term in terms for key in _of_term(term))
    return found - {TOTAL_COST}


def _of_term(term: TermExpr) -> Iterator[str]:
    match term:
        case Number(text=text):
            if "." in text:
                yield _FRACTION
        case Applied(function=function):
            yield function.key
        case Calculated(op=op, parts=parts):
            if op == "/":
                yield _FRACTION
            for part in parts:
                yield from _of_term(part)
        case _:
            return


def _in_effect(effect: Effect) -> Iterator[frozenset[str]]:
    match effect:
        case Change(op=op, target=target, value=value):
            divided = frozenset((_FRACTION,) if op == "scale-down" else ())
            yield _together(target, value) | divided
        case When(condition=condition, effects=effects):
            yield from _in_condition(condition)
            for one in effects:
                yield from _in_effect(one)
        case ForEach(effects=effects):
            for one in effects:
                yield from _in_effect(one)
        case _:
            return


def _in_condition(condition: Condition) -> Iterator[frozenset[str]]:
    for leaf in leaves(condition):
        if isinstance(leaf, (Equal, Compared)):
            yield _together(leaf.left, leaf.right)


# ---- rules -------------------------------------------------------------------------------------

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


# ---- worlds ------------------------------------------------------------------------------------

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
    """The facts true at the start, each line once; a false fact needs no line."""
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
            case _:
                assert_never(line)
