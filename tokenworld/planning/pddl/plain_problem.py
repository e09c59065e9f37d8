"""A world of a plain program as the problem that it is: what `setup` says comes in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokenworld.ground import Instance, Raw, slots
from tokenworld.model import (
    ROOT,
    AddFact,
    Assign,
    Ending,
    Fluent,
    Negate,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Read,
    RemoveFact,
    Term,
    ToReal,
    World,
)
from tokenworld.planning.pddl.names import Names, StepOrigin
from tokenworld.planning.pddl.numbers import number
from tokenworld.planning.pddl.plain import PlainDomain, typed_object
from tokenworld.planning.pddl.plain_terms import Richer, verbatim
from tokenworld.planning.pddl.problem import Values
from tokenworld.planning.pddl.requirements import needed
from tokenworld.planning.pddl.tree import Expr, PddlPair, PddlProblem

__all__ = ["plain_pair"]


def plain_pair(
    found: PlainDomain,
    instance: Instance,
    values: Values,
    goal: Ending | None,
    comments: tuple[str, ...] = (),
) -> tuple[PddlPair, Names] | None:
    """Domain and problem of a world, with the way back; ``None`` where the world is no problem."""
    try:
        return _pair(found, instance, values, goal, comments)
    except Richer:
        return None


def _pair(
    found: PlainDomain,
    instance: Instance,
    values: Values,
    goal: Ending | None,
    comments: tuple[str, ...],
) -> tuple[PddlPair, Names]:
    world = instance.world
    line = _only_goal(world, goal)
    _nothing_else(world)
    domain, plain = found.domain, found.plain
    own = [one.decl for one in instance.objects if one.decl.world is not None]
    objects = tuple(typed_object(one, plain) for one in own)
    keys = [one.name.lower() for one in (*domain.constants, *objects)]
    if len(set(keys)) < len(keys) or len(instance.members[ROOT]) < len(instance.objects):
        raise Richer
    name = found.entries.get(f"problem {world.name}", (world.name,))[0]
    metric, sense = _metric(found, world.name)
    problem = PddlProblem(
        verbatim(name),
        domain.name,
        objects,
        tuple(_init(found, instance, values)),
        plain.condition(line.condition, {}),
        metric,
        comments,
        sense,
    )
    pair = PddlPair(domain, problem)
    if not found.declared:
        pair = replace(pair, domain=replace(domain, requirements=needed(pair)))
    return pair, _names(instance)


def _only_goal(world: World, goal: Ending | None) -> Ending:
    if len(world.endings) != 1 or world.endings[0].ending != "goal":
        raise Richer
    if goal is not None and goal is not world.endings[0]:
        raise Richer
    return world.endings[0]


def _nothing_else(world: World) -> None:
    richer = (world.params, world.spares, world.turns, world.start, world.layouts, world.born)
    if any(richer) or world.time_always:
        raise Richer


def _metric(found: PlainDomain, world: str) -> tuple[Expr | None, str]:
    """The metric and its sense: that of the costs, unless the ``pddl`` block has another one."""
    told = found.entries.get(f"metric {world}")
    if told is None:
        return (("total-cost",) if found.costs else None), "minimize"
    sense, _, text = told[0].partition(" ")
    return (text or None), sense or "minimize"


def _names(instance: Instance) -> Names:
    names = Names()
    for number_, one in enumerate(instance.objects):
        names.objects[one.decl.name.lower()] = number_
    for action in instance.program.actions.values():
        args = tuple(range(len(action.params)))
        names.steps[action.name.lower()] = StepOrigin(action.name, args)
    return names


# ---- start facts ------------------------------------------------------------------------------

Slot = tuple[str, tuple[Raw, ...]]


def _init(found: PlainDomain, instance: Instance, values: Values) -> Iterator[Expr]:
    """Facts and values: those of `setup` in its order, then what else holds in the state."""
    written = _written(instance)
    every = [
        (fluent.id, args)
        for fluent in instance.program.fluents.values()
        for args in slots(instance, fluent)
    ]
    known = found.entries.get("init", ("",))[0] == "written"
    for fluent_id, args in (*written, *(slot for slot in every if slot not in written)):
        fluent, raw = instance.program.fluents[fluent_id], values(fluent_id, args)
        literal = written.get((fluent_id, args))
        if known and literal is None and raw == 0:
            continue  # an import: the problem gave no value either
        yield from _fact(instance, fluent, args, raw, literal)
    if found.costs and any(one.name == "total-cost" for one in found.domain.functions):
        yield ("=", ("total-cost",), "0")


def _written(instance: Instance) -> dict[Slot, Term | None]:
    """The slots that `setup` sets, in order, with the term of a value."""
    found: dict[Slot, Term | None] = {}
    for body in instance.world.setups:
        for effect in body:
            match effect:
                case AddFact(target=target) | RemoveFact(target=target):
                    found.setdefault(_slot(instance, target), None)
                case Assign(target=target, op="=", value=value):
                    found[_slot(instance, target)] = value
                case _:
                    raise Richer
    return found


def _slot(instance: Instance, read: Read) -> Slot:
    args: list[Raw] = []
    for arg in read.args:
        if not isinstance(arg, ObjectLiteral):
            raise Richer
        args.append(instance.numbers[arg.name])
    return read.fluent, tuple(args)


def _fact(
    instance: Instance, fluent: Fluent, args: tuple[Raw, ...], raw: Raw, written: Term | None
) -> Iterator[Expr]:
    def name(number_: Raw) -> str:
        assert isinstance(number_, int)
        return instance.objects[number_].decl.name

    atom = (fluent.name, *(name(arg) for arg in args))
    if isinstance(raw, bool):
        if raw:
            yield atom
    elif isinstance(fluent.type, ObjectType):
        if raw is not None:
            yield ("=", atom, name(raw))
    else:
        assert isinstance(raw, (int, float))
        yield ("=", atom, _literal(written, raw) or number(raw).expr)


def _literal(term: Term | None, raw: float) -> str | None:
    """A number as it was written, if it still is the value."""
    sign = ""
    while isinstance(term, (ToReal, Negate)):
        sign = "-" if isinstance(term, Negate) and not sign else sign
        term = term.term
    if not isinstance(term, NumberLiteral) or not isinstance(term.type, NumberType):
        return None
    digits = str(term.value).rjust(term.type.decimals + 1, "0")
    cut = len(digits) - term.type.decimals
    text = sign + digits[:cut] + (f".{digits[cut:]}" if term.type.decimals else "")
    return text if float(text) == raw else None
