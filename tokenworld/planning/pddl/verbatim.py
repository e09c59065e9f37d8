"""Programs in the fragment of PDDL as PDDL files: import and export are inverse.

Such a program (relations, unbounded functions, derives over objects) is not compiled: each
construct has one counterpart, and nesting, order and names stay as written (language.md §16). The
``pddl`` block holds the facts that the rules lack: name, requirements, foreign spellings, the order
of the effects and of the derived predicates, the place of ``(total-cost)``. `verbatim_domain` gives
``None`` for a program outside the fragment, which `lift_domain` compiles.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import assert_never

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.program import lowered
from tokenworld.core.rules import Action, Derive, Ending
from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw, slots
from tokenworld.model import scaled_text
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.problem import Stored, Values, needed
from tokenworld.planning.pddl.tree import variables
from tokenworld.planning.pddl.values import comparison, implication, is_made, number
from tokenworld.planning.pddl.words import (
    LABEL,
    Names,
    StepOrigin,
    kebab,
    made,
    parts_of_union,
    pddl_entries,
    union_type,
)

_COST = "total-cost"
_WORD = re.compile(r"[^\s();?\"'`{}\[\]:-][^\s();?\"'`{}\[\]]*\Z")
_TAKEN = {
    *("and", "or", "not", "imply", "forall", "exists", "when", "either", "assign", "undefined"),
    *("increase", "decrease", "scale-up", "scale-down", "preference"),
    *("=", "<", ">", "<=", ">=", "+", "*", "/", "probabilistic", "oneof"),
}
_PLACE = re.compile(r"(\d{1,6})(?:\.(\d{1,6})(?:-(\d{1,6}))?)?\Z")

Env = Mapping[str, tree.Expr]
"""The meaning of the local names of a rule: variables, and the terms of its lets."""


class Richer(Exception):
    """The program says something that PDDL has no word for."""


def verbatim(name: str) -> str:
    """The name as it is; `Richer` where PDDL cannot have it."""
    if not _WORD.match(name) or name.lower() in _TAKEN:
        raise Richer
    return name


class Verbatim:
    """A program as a PDDL domain and problems; `Richer` where it says more.

    ``types`` are the PDDL types by name, ``derived`` the derives that are kept as such, ``entries``
    those of the ``pddl`` block.
    """

    def __init__(self, program: m.Program, comments: tuple[str, ...]) -> None:
        self.program, self.comments, self.rules = program, comments, lowered(program)
        self.entries, self.made = pddl_entries(program), made(program)
        requirements = self.entries.get("requirements", ())
        declared = "derived-predicates" in [one.lower() for one in requirements]
        kept = declared or "derived" in self.entries
        self.derives = {
            name: one
            for name, one in self.rules.derives.items()
            if not (self.made and program.derives[name].over_time)
        }
        derives = self.derives.items()
        self.derived = frozenset(name for name, one in derives if kept or one.recursive)
        self.types = self._type_names()
        self.domain = self._domain()

    # ---- variables --------------------------------------------------------------------------

    def bind(self, binders: Sequence[core.Binder], env: Env) -> tuple[tuple[tree.Typed, ...], Env]:
        """The variables of a rule or a loop, typed as written."""
        found, inner = [], dict(env)
        for binder in binders:
            if not isinstance(binder.domain, m.TypeRange) or not isinstance(
                binder.type, m.ObjectType
            ):
                raise Richer
            kind = self.type(binder.type.name) if binder.typed else None
            word = binder.name if binder.name.startswith("?") else f"?{binder.name}"
            verbatim(word[1:])
            found.append(tree.Typed(word, kind))
            inner[binder.name] = word
        return tuple(found), inner

    def type(self, name: str) -> str:
        return "object" if name == m.ROOT else self.types[name]

    def _variables(self, binders: Sequence[core.Binder], env: Env) -> tuple[tree.Expr, Env]:
        typed, inner = self.bind(binders, env)
        return variables(typed), inner

    # ---- terms ------------------------------------------------------------------------------

    def term(self, term: core.Term, env: Env) -> tree.Expr:
        """A term as it is written; `Richer` where PDDL has no such term."""
        match term:
            case core.Variable(name=name):
                return env[name]
            case core.ObjectName(name=name):
                return verbatim(name)
            case core.Constant(value=bool(value)):
                return tree.TRUE if value else tree.FALSE
            case core.Constant(value=int(value), type=m.NumberType(decimals=decimals, unit="")):
                return scaled_text(value, decimals)
            case core.Constant(value=None):
                return "undefined"
            case core.Read(was=False):
                return self.slot(term, env)
            case core.DeriveCall(derive=derive, args=args, was=False) if derive in self.derived:
                return (verbatim(derive), *(self.term(arg, env) for arg in args))
            case core.Call():
                return self._call(term, env)
            case core.Fold(fold="any" | "all", value=value) if value is not None:
                return self._fold(term, value, env)
            case (
                core.LeafTerm() | core.Read() | core.Members() | core.Fold() | core.Choice()
                | core.TypeTest() | core.DeriveCall() | core.Text()
            ):  # fmt: skip
                raise Richer
            case _:
                assert_never(term)

    def slot(self, place: core.Read | core.Place, env: Env) -> tuple[tree.Expr, ...]:
        """A fact or function with its arguments."""
        if place.fluent not in self.program.fluents:
            raise Richer
        name = self.program.fluents[place.fluent].name
        return (verbatim(name), *(self.term(arg, env) for arg in place.args))

    def _call(self, term: core.Call, env: Env) -> tree.Expr:
        match term.op:
            case "real":
                return self.term(term.args[0], env)
            case "neg":
                part = self.term(term.args[0], env)
                literal = isinstance(term.args[0], core.Constant)
                return f"-{part}" if literal else ("-", part)
            case "==" | "<" | "<=":
                op, left, right = comparison(term)
                return ("=" if op == "==" else op, self.term(left, env), self.term(right, env))
            case "not" | "and" | "or" | "+" | "-" | "*" | "/":
                implied = implication(term)
                head, args = (term.op, term.args) if implied is None else ("imply", implied)
                return (head, *(self.term(one, env) for one in args))
            case _:
                raise Richer

    def _fold(self, fold: core.Fold, value: core.Term, env: Env) -> tree.Expr:
        variables, inner = self._variables(fold.binders, env)
        body = self.term(value, inner)
        some = fold.fold == "any"
        if fold.where is not None:
            body = ("and" if some else "imply", self.term(fold.where, inner), body)
        return ("exists" if some else "forall", variables, body)

    # ---- effects ----------------------------------------------------------------------------

    def effects(self, body: core.Body, env: Env) -> list[tree.Expr]:
        """The effects of a body in written order; a `let` is put in where it is used."""
        found: list[tree.Expr] = []
        for one in body:
            if isinstance(one, core.Let):
                env = self.named(one, env)
            else:
                found += self._effect(one, env)
        return found

    def named(self, let: core.Let, env: Env) -> Env:
        """The names, and the term of a `let` for its name."""
        if isinstance(let.value, (core.BranchDraw, core.PickDraw, core.UniformDraw)):
            raise Richer
        return {**env, let.names[0]: self.term(let.value, env)}

    def _is_made(self, one: core.Statement) -> bool:
        """Return whether a statement only records the history that a constraint needs."""
        if isinstance(one, core.Write):
            return one.target.fluent in self.made
        body = one.then if isinstance(one, core.If) and not one.otherwise else ()
        body = one.body if isinstance(one, core.For) else body
        return bool(body) and all(map(self._is_made, body))

    def _effect(self, one: core.Statement, env: Env) -> list[tree.Expr]:
        if self.made and self._is_made(one):
            return []
        match one:
            case core.Write():
                return [self._write(one, env)]
            case core.If(condition=condition, then=then, otherwise=()):
                return [("when", self.term(condition, env), tree.joined(self.effects(then, env)))]
            case core.For(binders=binders, where=where, body=body):
                variables, inner = self._variables(binders, env)
                done = tree.joined(self.effects(body, inner))
                if where is not None:
                    done = ("when", self.term(where, inner), done)
                return [("forall", variables, done)]
            case core.Say() | core.Emit() | core.Describe():
                return []
            case (
                core.Let() | core.If() | core.Create() | core.Destroy() | core.Require()
                | core.Reward()
            ):  # fmt: skip
                raise Richer
            case _:
                assert_never(one)

    def _write(self, one: core.Write, env: Env) -> tree.Expr:
        target = self.slot(one.target, env)
        match one.op, one.value:
            case "add", _:
                return target
            case "remove", _:
                return ("not", target)
            case "+", core.Call(op="neg", args=(taken,)) if is_made(one.value):
                return ("decrease", target, self.term(taken, env))
            case "+", _:
                return ("increase", target, self.term(one.value, env))
        value = self.term(one.value, env)
        match value:
            case ("*" | "/" as sign, first, factor) if first == target:
                return ("scale-up" if sign == "*" else "scale-down", target, factor)
            case _:
                return ("assign", target, value)

    # ---- the domain -------------------------------------------------------------------------

    def _domain(self) -> tree.PddlDomain:
        self._nothing_else()
        predicates = self._predicates()
        functions = self._functions()
        types, constants = tuple(self._types()), tuple(self._constants())
        actions = tuple(
            self._action(one) for one in self.rules.actions.values() if one.name not in self.made
        )
        for names in (
            [one.name for one in types],
            [one.name for one in (*predicates, *functions)],
            [one.name for one in actions],
        ):
            _distinct(names)
        return tree.PddlDomain(
            verbatim(self.entries["domain"][0] if self.entries.get("domain") else self._world()),
            tuple(word for word in self.entries.get("requirements", ()) if word),
            types,
            constants,
            predicates,
            functions,
            tuple(self._derived()),
            actions,
            self.comments,
            self._kept("constraints"),
        )

    def _kept(self, key: str) -> tree.Expr | None:
        """An expression that the ``pddl`` block has as it was written."""
        entry = self.entries.get(key)
        return None if entry is None else tree.parsed(entry[0])

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
            if name != m.ROOT:
                foreign = self.entries.get(name)
                found[name] = foreign[0] if foreign else kebab(name)
        return found | {name: union_type(self.entries[name][1:]) for name in self._unions(found)}

    def _unions(self, spelled: Mapping[str, str]) -> Iterator[str]:
        """The types that represent an ``either``: ``AOrB = either, a, b`` in the ``pddl`` block.

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

    def _types(self) -> Iterator[tree.Typed]:
        implicit, several = (self.entries.get(one, ()) for one in ("implicit", "either"))
        kinds = sorted(self.program.types.values(), key=lambda one: self._place(one.span))
        for kind in kinds:
            spelled = self.types.get(kind.name)
            unions = [one for one in kind.parents if parts_of_union(self.types[one])]
            parents = [one for one in kind.parents if one not in unions]
            if kind.attributes or (len(parents) > 1 and spelled not in several):
                raise Richer
            if spelled is None or spelled in implicit or parts_of_union(spelled):
                continue
            above = [self.type(one) for one in parents]
            parent = union_type(above) if len(above) > 1 else (above[0] if above else None)
            verbatim(spelled)
            yield tree.Typed(spelled, "object" if kind.rooted and parent is None else parent)

    def _place(self, span: Span) -> tuple[int, int]:
        names = [source.name for source in self.program.sources]
        return (names.index(span.file) if span.file in names else -1, span.start)

    def _object(self, one: m.ObjectDecl) -> tree.Typed:
        """An object with its type as written."""
        return tree.Typed(verbatim(one.name), self.type(one.of) if one.typed else None)

    def _constants(self) -> Iterator[tree.Typed]:
        known = [one for one in self.program.objects.values() if one.world is None]
        own = self.entries.get("constants")
        for one in known if own is None else known[: int(own[0])]:
            yield self._object(one)

    # ---- facts and functions ----------------------------------------------------------------

    def _predicates(self) -> tuple[tree.Signature, ...]:
        found = [
            (self._place(one.span), self._signature(one))
            for one in self.program.fluents.values()
            if isinstance(one.type, m.BoolType) and one.name not in self.made
        ]
        for derive in self.derives.values():
            if derive.name not in self.derived or not isinstance(derive.type, m.BoolType):
                raise Richer
            found.append((self._place(derive.span), self._head(derive)[0]))
        return tuple(signature for _, signature in sorted(found, key=lambda one: one[0]))

    def _signature(self, fluent: m.Fluent, result: str = "number") -> tree.Signature:
        if fluent.fluent_kind not in ("relation", "function") or _flagged(fluent):
            raise Richer
        if fluent.fluent_kind == "function" and isinstance(fluent.type, m.BoolType):
            raise Richer
        params = tuple(self._formal(one) for one in fluent.params)
        return tree.Signature(verbatim(fluent.name), params, result)

    def _formal(self, param: m.FluentParam) -> tree.Typed:
        if not isinstance(param.type, m.ObjectType):
            raise Richer
        kind = self.type(param.type.name) if param.typed else None
        return tree.Typed(f"?{verbatim(param.name.removeprefix('?'))}", kind)

    def _head(self, derive: Derive) -> tuple[tree.Signature, Env]:
        params, env = self.bind(derive.params, {})
        return tree.Signature(verbatim(derive.name), params), env

    def _derived(self) -> Iterator[tree.PddlDerived]:
        order = self.entries.get("derived", ())
        derives = sorted(self.derives.values(), key=lambda one: self._place(one.span))
        parts = {one.name: self._rules(one, order.count(one.name)) for one in derives}
        names = [name for name in order if name in parts]
        for name in (*names, *(name for name in parts if name not in names)):
            yield parts[name].pop(0)

    def _rules(self, derive: Derive, count: int) -> list[tree.PddlDerived]:
        """The rules of a derive: one for each operand of its `or` if it is named so often."""
        head, env = self._head(derive)
        value = derive.value
        parts: tuple[core.Term, ...] = (value,)
        if count > 1:
            parts = value.args if isinstance(value, core.Call) and value.op == "or" else ()
            if len(parts) != count:
                raise Richer
        return [tree.PddlDerived(head, self.term(one, env)) for one in parts]

    def _functions(self) -> tuple[tree.Signature, ...]:
        found = [
            self._function(one)
            for one in self.program.fluents.values()
            if not isinstance(one.type, m.BoolType) and one.name not in self.made
        ]
        position = self.entries.get(_COST)
        at = len(found) + 1 if position is None else int(position[0])
        if at and (self.costs or position is not None):
            found.insert(at - 1, tree.Signature(_COST, ()))
        return tuple(found)

    def _function(self, fluent: m.Fluent) -> tree.Signature:
        match fluent.type:
            case m.NumberType(low=None, high=None, decimals=0, unit="", optional=False):
                return self._signature(fluent)
            case m.RealType(optional=False):
                return self._signature(fluent)
            case m.ObjectType(name=name) if self._keeps_objects():
                return self._signature(fluent, self.type(name))
            case (
                m.BoolType() | m.EnumType() | m.ObjectType() | m.NumberType() | m.RealType()
                | m.TextType() | m.NoneType() | m.CollectionType()
            ):  # fmt: skip
                raise Richer
            case _:
                assert_never(fluent.type)

    def _keeps_objects(self) -> bool:
        """Object fluents stay only in domains that were written with them."""
        return self.entries.get("functions", ("",))[0] == "objects"

    # ---- actions ----------------------------------------------------------------------------

    def _action(self, action: Action) -> tree.PddlAction:
        if action.takes is not None or action.until is not None or action.cancelled:
            raise Richer
        params, env = self.bind(action.params, {})
        asked: list[tree.Expr] = []
        for guard in action.guards:
            if isinstance(guard, core.Let):
                env = self.named(guard, env)
            elif not self.made or guard.label != LABEL:
                asked.append(self.term(guard.condition, env))
        self._prefer(action, asked)
        effects = self.effects(action.body, env)
        note = self.entries.get(f"order {action.name}")
        if note:
            effects = in_written_order(effects, note[0])
        effects += self._pays(action, env)
        return tree.PddlAction(verbatim(action.name), params, tree.joined(asked), tuple(effects))

    def _prefer(self, action: Action, asked: list[tree.Expr]) -> None:
        """Put the preferences of a precondition at their places."""
        start = f"preference {action.name} "
        soft = [key for key in self.entries if key.startswith(start)]
        for place, key in sorted((int(key.removeprefix(start)), key) for key in soft):
            asked.insert(place, tree.parsed(self.entries[key][0]))

    def _pays(self, action: Action, env: Env) -> Iterable[tree.Expr]:
        """Return the increases of ``(total-cost)`` by an action, as written for other measures."""
        if "scale" in self.entries:
            written = tree.parsed(f"({self.entries.get(f'costs {action.name}', ('',))[0]})")
            return written if isinstance(written, tuple) else ()
        return () if action.cost is None else self._paid(action.cost, env)

    def _paid(self, cost: core.Term, env: Env) -> list[tree.Expr]:
        """The increases of ``total-cost``. If the program was read from PDDL, an increase under
        a condition, or for all of some objects, becomes an effect of its own."""
        parts = list(_addends(cost))
        partial = [one for one in parts if isinstance(one, (core.Choice, core.Fold))]
        if not partial or "requirements" not in self.entries:
            return [("increase", (_COST,), self.term(cost, env))]
        whole = [self.term(one, env) for one in parts if one not in partial]
        amount = reduce(lambda one, other: ("+", one, other), whole) if whole else None
        always = [] if amount is None else [("increase", (_COST,), amount)]
        return [*always, *(self._partly(one, env) for one in partial)]

    def _partly(self, cost: core.Choice | core.Fold, env: Env) -> tree.Expr:
        match cost:
            case core.Choice(condition=test, then=then, otherwise=core.Constant(value=0)):
                return ("when", self.term(test, env), tree.joined(self._paid(then, env)))
            case core.Fold(fold="sum", value=value, binders=binders, where=None) if value:
                variables, inner = self._variables(binders, env)
                return ("forall", variables, tree.joined(self._paid(value, inner)))
            case _:
                raise Richer

    # ---- problems ---------------------------------------------------------------------------

    @property
    def costs(self) -> bool:
        """Return whether some action pays ``(total-cost)``."""
        if "scale" in self.entries:
            return any(key.startswith("costs ") for key in self.entries)
        return any(one.cost is not None for one in self.rules.actions.values())

    def pair(
        self, instance: Instance, values: Values, goal: Ending | None, stored: Stored | None
    ) -> tree.PddlPair:
        """Domain and problem of a world."""
        world, domain = instance.world, self.domain
        line = _only_goal(self.rules.worlds[world.name].endings, goal)
        if any((world.params, world.spares, world.turns, world.start, world.layouts, world.born)):
            raise Richer
        if world.time_always or len(instance.members[m.ROOT]) < len(instance.objects):
            raise Richer
        constants = {one.name for one in domain.constants}
        own = [one.decl for one in instance.objects if one.decl.name not in constants]
        objects = tuple(self._object(one) for one in own)
        _distinct(one.name for one in (*domain.constants, *objects))
        metric, sense = self._metric(world.name)
        problem = tree.PddlProblem(
            verbatim(self.entries.get(f"problem {world.name}", (world.name,))[0]),
            domain.name,
            objects,
            tuple(self._init(instance, values, stored)),
            self._kept(f"goal {world.name}") or self.term(line.condition, {}),
            metric,
            self.comments,
            sense,
            self._kept(f"constraints {world.name}"),
        )
        pair = tree.PddlPair(domain, problem)
        if "requirements" not in self.entries:
            pair = replace(pair, domain=replace(domain, requirements=needed(pair)))
        return pair

    def _metric(self, world: str) -> tuple[tree.Expr | None, str]:
        """The metric and its sense: that of costs, unless the ``pddl`` block has another one."""
        note = self.entries.get(f"metric {world}")
        if note is None:
            return (("total-cost",) if self.costs else None), "minimize"
        sense, _, text = note[0].partition(" ")
        return (text or None), sense or "minimize"

    def _init(
        self, instance: Instance, values: Values, stored: Stored | None
    ) -> Iterator[tree.Expr]:
        """Facts and values: those of `setup` in its order, then the others of the state."""
        written = _written(instance)
        fluents, known = self.program.fluents, self.entries.get("init", ("",))[0] == "written"

        def holding(one: m.Fluent) -> Iterable[tuple[Raw, ...]]:
            if stored is None or not isinstance(one.type, m.BoolType):
                return slots(instance, one)
            return sorted((args for args, _ in stored(one.id)), key=str)

        known_to_pddl = [one for one in fluents.values() if one.name not in self.made]
        every = {(one.id, args): None for one in known_to_pddl for args in holding(one)}
        for slot in {**written, **every}:
            raw, literal = values(*slot), written.get(slot)
            if raw is False:
                continue
            if known and literal is None and raw == 0:
                continue  # an import: the problem gave no value either
            yield from _fact(instance, fluents[slot[0]], slot[1], raw, literal)
        if self.costs and any(one.name == _COST for one in self.domain.functions):
            yield ("=", (_COST,), "0")


def _addends(term: core.Term) -> Iterator[core.Term]:
    """The parts of a sum as written: ``a + b + c``."""
    match term:
        case core.Call(op="+", args=(first, last)):
            yield from _addends(first)
            yield _exact(last)
        case _:
            yield _exact(term)


def _exact(term: core.Term) -> core.Term:
    """A term without its conversion to `real`."""
    return term.args[0] if isinstance(term, core.Call) and term.op == "real" else term


def _distinct(names: Iterable[str]) -> None:
    """PDDL ignores case: two names of a kind must differ otherwise."""
    keys = [name.lower() for name in names]
    if len(set(keys)) < len(keys):
        raise Richer


def _flagged(fluent: m.Fluent) -> bool:
    flags = (
        *(fluent.secret, fluent.clamped, fluent.unique, fluent.ordered, fluent.nested),
        *(fluent.symmetric, fluent.acyclic, fluent.inverse, fluent.closure, fluent.default),
    )
    return any(flags)


def _only_goal(endings: Sequence[Ending], goal: Ending | None) -> Ending:
    if len(endings) != 1 or endings[0].ending != "goal":
        raise Richer
    if goal is not None and goal is not endings[0]:
        raise Richer
    return endings[0]


# ---- start facts ------------------------------------------------------------------------------

Slot = tuple[str, tuple[Raw, ...]]


def _written(instance: Instance) -> dict[Slot, core.Term | None]:
    """The slots that `setup` sets, in order, with the term of a value."""
    found: dict[Slot, core.Term | None] = {}
    setups = lowered(instance.program).starts[instance.world.name].setups
    for one in (one for body in setups for one in body):
        if not isinstance(one, core.Write) or one.op == "+":
            raise Richer
        slot = _slot(instance, one.target)
        if one.op == "=":
            found[slot] = one.value
        else:
            found.setdefault(slot, None)
    return found


def _slot(instance: Instance, place: core.Place) -> Slot:
    args: list[Raw] = []
    for arg in place.args:
        if not isinstance(arg, core.ObjectName):
            raise Richer
        args.append(instance.numbers[arg.name])
    return place.fluent, tuple(args)


def _fact(
    instance: Instance, fluent: m.Fluent, args: tuple[Raw, ...], raw: Raw, written: core.Term | None
) -> Iterator[tree.Expr]:
    def name(number_: Raw) -> str:
        assert isinstance(number_, int)
        return instance.objects[number_].decl.name

    atom = (fluent.name, *(name(arg) for arg in args))
    if isinstance(raw, bool):
        yield atom
    elif isinstance(fluent.type, m.ObjectType):
        if raw is not None:
            yield ("=", atom, name(raw))
    else:
        assert isinstance(raw, (int, float))
        yield ("=", atom, _literal(written, raw) or number(raw).expr)


def _literal(term: core.Term | None, raw: float) -> str | None:
    """A number as it was written, if it still is the value."""
    sign = ""
    while isinstance(term, core.Call) and term.op in ("real", "neg"):
        sign = "-" if term.op == "neg" and not sign else sign
        term = term.args[0]
    match term:
        case core.Constant(value=int(value), type=m.NumberType(decimals=decimals)):
            text = sign + scaled_text(value, decimals)
        case _:
            return None
    return text if float(text) == raw else None


# ---- the order of effects -----------------------------------------------------------------------


def in_written_order(effects: Sequence[tree.Expr], note: str) -> list[tree.Expr]:
    """The effects in the order of a ``note`` of the importer (``2 1.1 1.2-3``).

    A body may not read slots that it changed above, so its loops may have another order than in
    the PDDL that it came from, and two loops joined to one (`planning.reader.effects`). If the note
    does not name each effect just once, the order of the body is kept.
    """
    found: list[tree.Expr] = []
    for word in note.split():
        match = _PLACE.match(word)
        place = int(match[1]) if match is not None else 0
        if match is None or not 1 <= place <= len(effects):
            return list(effects)
        first, last = match[2], match[3] or match[2]
        part = effects[place - 1]
        found.append(part if first is None else _taken(part, int(first), int(last)))
    same = Counter(_single(found)) == Counter(_single(effects))
    return found if same else list(effects)


def _taken(effect: tree.Expr, first: int, last: int) -> tree.Expr:
    """A loop over the effects ``first`` to ``last`` of a loop, from 1; nothing of other effects."""
    match effect:
        case ("forall", variables, body) if first <= last <= len(tree.top_conjuncts(body)):
            return ("forall", variables, tree.joined(tree.top_conjuncts(body)[first - 1 : last]))
        case _:
            return ()


def _single(effects: Sequence[tree.Expr]) -> Iterator[tree.Expr]:
    """The effects, with loops as one for each effect of their bodies."""
    for effect in effects:
        match effect:
            case ("forall", variables, body):
                yield from (("forall", variables, one) for one in tree.top_conjuncts(body))
            case _:
                yield effect


# ---- domains and problems ---------------------------------------------------------------------


def verbatim_domain(program: m.Program, comments: tuple[str, ...]) -> tree.PddlDomain | None:
    """The domain of a program if all its constructs are in PDDL, else ``None``."""
    with suppress(Richer):
        return Verbatim(program, comments).domain
    return None


def verbatim_pair(
    instance: Instance,
    values: Values,
    goal: Ending | None,
    comments: tuple[str, ...],
    stored: Stored | None,
) -> tuple[tree.PddlPair, Names] | None:
    """Domain and problem of a world, with the original names; ``None`` if the world has constructs
    that PDDL lacks.

    ``stored`` lists the facts of a relation that hold, of which there may be few among many."""
    with suppress(Richer):
        pair = Verbatim(instance.program, comments).pair(instance, values, goal, stored)
        return pair, _names(instance)
    return None


def _names(instance: Instance) -> Names:
    names = Names()
    for number_, one in enumerate(instance.objects):
        names.objects[one.decl.name.lower()] = number_
        names.words["", number_] = one.decl.name
    hidden = made(instance.program)
    for action in instance.program.actions.values():
        if action.name in hidden:
            continue
        args = tuple(range(len(action.params)))
        names.steps[action.name.lower()] = StepOrigin(action.name, args)
    return names
