"""Programs in the fragment of PDDL as the domains that they are: import and export undo each other.

The ``pddl`` block tells what the rules do not: name, requirements, foreign spellings, the order of
the derived predicates, where ``(total-cost)`` stands. `plain_domain` gives ``None`` for a program
that says more than PDDL can; such a program is compiled by `lift_domain`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tokenworld.model import (
    ROOT,
    Action,
    BoolType,
    Derive,
    Fluent,
    Let,
    NumberType,
    ObjectDecl,
    ObjectType,
    Or,
    Program,
    RealType,
)
from tokenworld.planning.pddl.names import kebab, parts_of_union, union_type
from tokenworld.planning.pddl.order import in_written_order
from tokenworld.planning.pddl.plain_terms import Env, Plain, Richer, joined, verbatim
from tokenworld.planning.pddl.tree import (
    Expr,
    PddlAction,
    PddlDerived,
    PddlDomain,
    Signature,
    Typed,
)

__all__ = ["PlainDomain", "plain_domain", "typed_object"]

_COST = "total-cost"


@dataclass(frozen=True, slots=True)
class PlainDomain:
    """A domain, the writer of its terms, and the entries of the ``pddl`` block."""

    domain: PddlDomain
    plain: Plain
    entries: Mapping[str, tuple[str, ...]]
    declared: bool
    """Whether the requirements are the author's own."""

    @property
    def costs(self) -> bool:
        """Whether some action pays ``(total-cost)``."""
        return any(_COST in str(effect) for one in self.domain.actions for effect in one.effects)


def plain_domain(program: Program, comments: tuple[str, ...] = ()) -> PlainDomain | None:
    """The domain of a program that says nothing but what PDDL says, else ``None``."""
    try:
        return _Writer(program, comments).write()
    except Richer:
        return None


def typed_object(one: ObjectDecl, plain: Plain) -> Typed:
    """An object with its type as written."""
    return Typed(verbatim(one.name), plain.type(one.of) if one.typed else None)


def _distinct(names: Iterable[str]) -> None:
    """PDDL ignores case: two names of a kind must differ otherwise."""
    keys = [name.lower() for name in names]
    if len(set(keys)) < len(keys):
        raise Richer


@dataclass(slots=True)
class _Writer:
    program: Program
    comments: tuple[str, ...]
    entries: dict[str, tuple[str, ...]] = field(init=False)
    plain: Plain = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        self.entries = {entry.key: entry.values for entry in program.pddl}
        requirements = self.entries.get("requirements", ())
        told = "derived-predicates" in [one.lower() for one in requirements]
        kept = told or "derived" in self.entries
        derived = (name for name, one in program.derives.items() if kept or one.recursive)
        self.plain = Plain(self._type_names(), frozenset(derived), frozenset(program.fluents))

    def write(self) -> PlainDomain:
        self._nothing_else()
        program, plain = self.program, self.plain
        costs = any(action.cost is not None for action in program.actions.values())
        predicates = self._predicates()
        functions = self._functions(costs)
        types, constants = tuple(self._types()), tuple(self._constants())
        actions = tuple(self._action(one) for one in program.actions.values())
        for names in (
            [one.name for one in types],
            [one.name for one in (*predicates, *functions)],
            [one.name for one in actions],
        ):
            _distinct(names)
        domain = PddlDomain(
            verbatim(self.entries["domain"][0] if self.entries.get("domain") else self._world()),
            tuple(word for word in self.entries.get("requirements", ()) if word),
            types,
            constants,
            predicates,
            functions,
            tuple(self._derived()),
            actions,
            self.comments,
        )
        return PlainDomain(domain, plain, self.entries, "requirements" in self.entries)

    def _world(self) -> str:
        return next(iter(self.program.worlds), "unnamed")

    def _nothing_else(self) -> None:
        """Whole kinds of rules that PDDL lacks."""
        program = self.program
        richer = (
            *(program.enums, program.params, program.phases, program.laws, program.births),
            *(program.watches, program.invariants, program.conserves),
        )
        if any(richer) or program.actor is not None:
            raise Richer
        if any(one.fields for one in program.objects.values()):
            raise Richer

    # ---- types and objects ------------------------------------------------------------------

    def _type_names(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in self.program.types:
            if name != ROOT:
                foreign = self.entries.get(name)
                found[name] = foreign[0] if foreign else kebab(name)
        return found | {name: union_type(self.entries[name][1:]) for name in self._unions(found)}

    def _unions(self, spelled: Mapping[str, str]) -> Iterator[str]:
        """The types that stand for ``either``: ``AOrB = either, a, b`` in the ``pddl`` block.

        Such a type has no objects of its own and is right above the types that it names. What it is
        below itself, they are below without it.
        """
        listed = {
            name: values[1:]
            for name in spelled
            if len(values := self.entries.get(name, ())) > 2 and values[0] == "either"
        }
        kinds = [one for one in self.program.types.values() if one.name not in listed]
        objects = {one.of for one in self.program.objects.values()}
        for name, parts in listed.items():
            below = [one.name for one in kinds if name in one.parents]
            over = [one for one in self.program.types[name].parents if one not in listed]
            same = sorted(spelled[one] for one in below) == sorted(set(parts))
            apart = all(one in self._above(part, listed) for part in below for one in over)
            if name in objects or not same or not apart:
                raise Richer
            yield name

    def _above(self, name: str, unions: Container[str]) -> set[str]:
        """All types above one, unions left out."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            parents = self.program.types[waiting.pop()].parents
            new = [one for one in parents if one not in unions and one not in found]
            found.update(new)
            waiting += new
        return found

    def _types(self) -> Iterator[Typed]:
        implicit = self.entries.get("implicit", ())
        kinds = sorted(self.program.types.values(), key=lambda one: self._place(one.span))
        for kind in kinds:
            spelled = self.plain.types.get(kind.name)
            unions = [one for one in kind.parents if parts_of_union(self.plain.types[one])]
            parents = [one for one in kind.parents if one not in unions]
            if len(parents) > 1 or kind.attributes:
                raise Richer
            if spelled is None or spelled in implicit or parts_of_union(spelled):
                continue
            parent = self.plain.type(parents[0]) if parents else None
            verbatim(spelled)
            yield Typed(spelled, "object" if kind.rooted and parent is None else parent)

    def _place(self, span: object) -> tuple[int, int]:
        names = [source.name for source in self.program.sources]
        file = getattr(span, "file", "")
        return (names.index(file) if file in names else -1, getattr(span, "start", 0))

    def _constants(self) -> Iterator[Typed]:
        for one in self.program.objects.values():
            if one.world is None:
                yield typed_object(one, self.plain)

    # ---- facts and functions ----------------------------------------------------------------

    def _predicates(self) -> tuple[Signature, ...]:
        found = [
            (self._place(one.span), self._signature(one))
            for one in self.program.fluents.values()
            if isinstance(one.type, BoolType)
        ]
        for derive in self.program.derives.values():
            if derive.name not in self.plain.derived or not isinstance(derive.type, BoolType):
                raise Richer
            found.append((self._place(derive.span), self._head(derive)[0]))
        return tuple(signature for _, signature in sorted(found, key=lambda one: one[0]))

    def _signature(self, fluent: Fluent, result: str = "number") -> Signature:
        if fluent.fluent_kind not in ("relation", "function") or _flagged(fluent):
            raise Richer
        if fluent.fluent_kind == "function" and isinstance(fluent.type, BoolType):
            raise Richer
        params: list[Typed] = []
        for param in fluent.params:
            if not isinstance(param.type, ObjectType):
                raise Richer
            kind = self.plain.type(param.type.name) if param.typed else None
            params.append(Typed(f"?{verbatim(param.name.removeprefix('?'))}", kind))
        return Signature(verbatim(fluent.name), tuple(params), result)

    def _head(self, derive: Derive) -> tuple[Signature, Env]:
        params, env = self.plain.bind(derive.params, {})
        return Signature(verbatim(derive.name), params), env

    def _derived(self) -> Iterator[PddlDerived]:
        order = self.entries.get("derived", ())
        derives = sorted(self.program.derives.values(), key=lambda one: self._place(one.span))
        parts = {one.name: self._rules(one, order.count(one.name)) for one in derives}
        names = [name for name in order if name in parts]
        for name in (*names, *(name for name in parts if name not in names)):
            yield parts[name].pop(0)

    def _rules(self, derive: Derive, count: int) -> list[PddlDerived]:
        """The rules of a derive: one for each operand of its `or` if it is named so often."""
        head, env = self._head(derive)
        value = derive.value
        if count > 1 and isinstance(value, Or) and len(value.terms) == count:
            return [PddlDerived(head, self.plain.condition(one, env)) for one in value.terms]
        if count > 1:
            raise Richer
        return [PddlDerived(head, self.plain.condition(value, env))]

    def _functions(self, costs: bool) -> tuple[Signature, ...]:
        found = [
            self._function(one)
            for one in self.program.fluents.values()
            if not isinstance(one.type, BoolType)
        ]
        position = self.entries.get(_COST)
        at = len(found) + 1 if position is None else int(position[0])
        if at and (costs or position is not None):
            found.insert(at - 1, Signature(_COST, ()))
        return tuple(found)

    def _function(self, fluent: Fluent) -> Signature:
        match fluent.type:
            case NumberType(low=None, high=None, decimals=0, unit="", optional=False):
                return self._signature(fluent)
            case RealType(optional=False):
                return self._signature(fluent)
            case ObjectType(name=name) if self._keeps_objects():
                return self._signature(fluent, self.plain.type(name))
            case _:
                raise Richer

    def _keeps_objects(self) -> bool:
        """Object fluents stay only in domains that were written with them."""
        return self.entries.get("functions", ("",))[0] == "objects"

    # ---- actions ----------------------------------------------------------------------------

    def _action(self, action: Action) -> PddlAction:
        if action.takes is not None or action.until is not None or action.cancelled:
            raise Richer
        params, env = self.plain.bind(action.params, {})
        asked: list[Expr] = []
        for guard in action.guards:
            if isinstance(guard, Let):
                env = {**env, guard.name: self.plain.named(guard, env)}
            else:
                asked.append(self.plain.condition(guard.condition, env))
        effects = self.plain.effects(action.body, env)
        told = self.entries.get(f"order {action.name}")
        if told:
            effects = in_written_order(effects, told[0])
        if action.cost is not None:
            effects.append(("increase", (_COST,), self.plain.term(action.cost, env)))
        return PddlAction(verbatim(action.name), params, joined(asked), tuple(effects))


def _flagged(fluent: Fluent) -> bool:
    flags = (
        *(fluent.secret, fluent.clamped, fluent.unique, fluent.ordered, fluent.nested),
        *(fluent.symmetric, fluent.acyclic, fluent.inverse, fluent.closure, fluent.default),
    )
    return any(flags)
