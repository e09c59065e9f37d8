"""Putting a lifted domain and its problem together: declarations, objects, start facts, metric,
and the ``:requirements`` that the text needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from tokenworld.ground import Raw, slots
from tokenworld.model import ROOT, Fluent
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.domain import LiftedDomain
from tokenworld.planning.pddl.values import number
from tokenworld.planning.pddl.words import Ladder, Vocabulary, legal, made, pddl_entries, sort_of

Values = Callable[[str, tuple[Raw, ...]], Raw]
"""The start value of a slot, after setup."""
Stored = Callable[[str], Iterable[tuple[tuple[Raw, ...], Raw]]]
"""The slots of a fluent that hold a value then, with these."""


def domain_name(words: Vocabulary) -> str:
    """The name of the `pddl` block, else that of the world."""
    entry = pddl_entries(words.instance.program).get("domain")
    return legal(entry[0] if entry else words.instance.world.name)


def declared_requirements(words: Vocabulary) -> tuple[str, ...] | None:
    """The requirements of the `pddl` block as written, if it has some."""
    program = words.instance.program
    found = pddl_entries(program).get("requirements")
    if found is None or not made(program):
        return found
    return tuple(one for one in found if one.lower() not in ("preferences", "constraints"))


def _fluents(words: Vocabulary, numeric: bool) -> Iterator[Fluent]:
    for fluent in words.instance.program.fluents.values():
        if not words.lacks(fluent) and (sort_of(fluent.type) == "number") is numeric:
            yield fluent


def _predicates(domain: LiftedDomain) -> tuple[tree.Signature, ...]:
    words = domain.words
    found = [words.signature(fluent) for fluent in _fluents(words, numeric=False)]
    found += [
        tree.Signature(head, (tree.Typed("?x", None),)) for head in words.types.asked.values()
    ]
    for (enum, _), head in words.ladders.items():
        kind = words.types.enums[enum]
        found.append(tree.Signature(head, (tree.Typed("?low", kind), tree.Typed("?high", kind))))
    found += [derived.head for derived in domain.derived]
    if domain.token is not None:
        found.append(tree.Signature(domain.token[0], (tree.Typed("?step", domain.token[1]),)))
    return tuple(found)


def _functions(domain: LiftedDomain) -> tuple[tree.Signature, ...]:
    found = [domain.words.signature(fluent) for fluent in _fluents(domain.words, numeric=True)]
    if domain.turn.costs and not domain.words.luck:
        found.append(tree.Signature("total-cost", ()))
    return tuple(found)


def _object(words: Vocabulary, index: int) -> tree.Typed:
    of = words.instance.objects[index].of
    return tree.Typed(words.objects[index], None if of == ROOT else words.types.spelling(of))


def _split_objects(domain: LiftedDomain) -> tuple[tuple[tree.Typed, ...], tuple[tree.Typed, ...]]:
    """Constants and objects: top-level objects and those that rules name are constants."""
    words = domain.words
    constants: list[tree.Typed] = []
    objects: list[tree.Typed] = []
    living = frozenset(words.instance.members[ROOT])
    for one in words.instance.objects:
        if one.id not in living:
            continue
        top = one.decl.world is None or one.id in words.constants
        (constants if top else objects).append(_object(words, one.id))
    for enum, members in words.members.items():
        constants += [tree.Typed(member, words.types.enums[enum]) for member in members]
    if domain.token is not None:
        constants += [tree.Typed(step, domain.token[1]) for step in domain.token[2]]
    return tuple(constants), tuple(objects)


# ---- start facts ----------------------------------------------------------------------------


def _facts(words: Vocabulary, fluent: Fluent, values: Values) -> Iterator[tree.Expr]:
    head, kinds = words.fluents[fluent.id], [param.type for param in fluent.params]
    for args in slots(words.instance, fluent):
        raw = values(fluent.id, args)
        if fluent.symmetric and raw is False:
            raw = values(fluent.id, args[::-1])
        atom = (head, *map(words.symbol, kinds, args))
        match sort_of(fluent.type):
            case "truth":
                if raw is True:
                    yield atom
            case "symbol":
                if raw is not None:
                    yield (*atom, words.symbol(fluent.type, raw))
            case _:
                assert isinstance(raw, (int, float))
                yield ("=", atom, number(raw).expr)


def _ladder_facts(words: Vocabulary, enum: str, kind: Ladder, head: str) -> Iterator[tree.Expr]:
    members = words.members[enum]
    last = len(members) - 1
    for index, member in enumerate(members):
        match kind:
            case "next":
                yield (head, member, members[min(index + 1, last)])
            case "prev":
                yield (head, member, members[max(index - 1, 0)])
            case "at-most":
                yield from ((head, member, other) for other in members[index:])
            case _:
                assert_never(kind)


def _init(domain: LiftedDomain, values: Values) -> Iterator[tree.Expr]:
    words = domain.words
    if domain.token is not None:
        yield (domain.token[0], domain.token[2][0])
    for numeric in (False, True):
        for fluent in _fluents(words, numeric):
            yield from _facts(words, fluent, values)
    for name, head in words.types.asked.items():
        for member in words.instance.members[name]:
            yield (head, words.objects[member])
    for (enum, kind), head in words.ladders.items():
        yield from _ladder_facts(words, enum, kind, head)
    if domain.turn.costs and not words.luck:
        yield ("=", ("total-cost",), "0")


# ---- the pair -------------------------------------------------------------------------------


def _types(domain: LiftedDomain, used: frozenset[str]) -> tuple[tree.Typed, ...]:
    """The declared types; enums only where something is of them."""
    enums = set(domain.words.types.enums.values())
    found = [
        one for one in domain.words.types.declared() if one.name not in enums or one.name in used
    ]
    if domain.token is not None:
        found.append(tree.Typed(domain.token[1], None))
    if all(one.type is None for one in found):
        return tuple(found)
    return tuple(tree.Typed(one.name, one.type or "object") for one in found)


def _used_types(domain: LiftedDomain, predicates: tuple[tree.Signature, ...]) -> frozenset[str]:
    params = [param for one in predicates for param in one.params]
    params += [param for action in domain.actions for param in action.params]
    return frozenset(param.type for param in params if param.type is not None)


def assemble(domain: LiftedDomain, values: Values, comments: tuple[str, ...]) -> tree.PddlPair:
    """The pair of a domain that was lifted without errors."""
    words = domain.words
    predicates, functions = _predicates(domain), _functions(domain)
    used = _used_types(domain, (*predicates, *functions))
    constants, objects = _split_objects(domain)
    unused = set(words.types.enums.values()) - used
    constants = tuple(one for one in constants if one.type not in unused)
    name = domain_name(words)
    task = tree.PddlDomain(
        name,
        (),
        _types(domain, used),
        constants,
        predicates,
        functions,
        tuple(domain.derived),
        tuple(domain.actions),
        comments,
    )
    problem = tree.PddlProblem(
        legal(words.instance.world.name),
        name,
        objects,
        tuple(_init(domain, values)),
        domain.goal,
        ("total-cost",) if domain.turn.costs else None,
        comments,
    )
    if words.luck:
        return probabilistic(tree.PddlPair(task, problem))
    pair = tree.PddlPair(task, problem)
    wanted = declared_requirements(words) or needed(pair)
    return replace(pair, domain=replace(task, requirements=wanted))


# ---- requirements ---------------------------------------------------------------------------

_ORDER = (
    "strips",
    "typing",
    "equality",
    "negative-preconditions",
    "disjunctive-preconditions",
    "existential-preconditions",
    "universal-preconditions",
    "conditional-effects",
    "numeric-fluents",
    "derived-predicates",
    "action-costs",
)
_NUMERIC = frozenset({">=", "<=", "assign", "increase", "decrease", "scale-up", "scale-down"})
_OF_CONDITIONS = {
    "not": "negative-preconditions",
    "or": "disjunctive-preconditions",
    "imply": "disjunctive-preconditions",
    "exists": "existential-preconditions",
    "forall": "universal-preconditions",
    **dict.fromkeys(_NUMERIC, "numeric-fluents"),
}


def _conditions(pair: tree.PddlPair) -> Iterator[tree.Expr]:
    yield pair.problem.goal
    for derived in pair.domain.derived:
        yield derived.condition
    for action in pair.domain.actions:
        yield action.precondition
        for effect in action.effects:
            yield from (one[1] for one in tree.lists(effect) if one[0] == "when")


def _of_conditions(pair: tree.PddlPair) -> Iterator[str]:
    for head, *rest in (part for condition in _conditions(pair) for part in tree.lists(condition)):
        if head == "=":
            numeric = any(isinstance(side, tuple) for side in rest)
            yield "numeric-fluents" if numeric else "equality"
        elif isinstance(head, str) and head in _OF_CONDITIONS:
            yield _OF_CONDITIONS[head]


def _of_effects(domain: tree.PddlDomain) -> Iterator[str]:
    for action in domain.actions:
        for effect in action.effects:
            words = frozenset(tree.heads(effect))
            cost = "total-cost" in words or "reward" in words
            if "when" in words or "forall" in words:
                yield "conditional-effects"
            if words & _NUMERIC and not cost:
                yield "numeric-fluents"


def needed(pair: tree.PddlPair) -> tuple[str, ...]:
    """The requirements of a task in the usual order, `:strips` always first."""
    domain = pair.domain
    found = {"strips", *_of_conditions(pair), *_of_effects(domain)}
    typed = any(one.type is not None for one in (*domain.constants, *pair.problem.objects))
    if domain.types or typed:
        found.add("typing")
    if domain.derived:
        found.add("derived-predicates")
    if any(one.name == "total-cost" for one in domain.functions):
        found.add("action-costs")
    return tuple(word for word in _ORDER if word in found)


def probabilistic(pair: tree.PddlPair) -> tree.PddlPair:
    """A PPDDL pair with its requirements and its aim.

    Where actions have rewards or costs their expected sum counts, else whether the goal is reached.
    """
    words = {word for one in pair.domain.actions for e in one.effects for word in tree.heads(e)}
    found = [*needed(pair)]
    found += ["probabilistic-effects"] if "probabilistic" in words else []
    found += ["rewards"] if "reward" in words else []
    aim: tree.Expr = ("reward",) if "reward" in words else ("goal-achieved",)
    return tree.PddlPair(
        replace(pair.domain, requirements=tuple(found)),
        replace(pair.problem, metric=aim, sense="maximize"),
    )
