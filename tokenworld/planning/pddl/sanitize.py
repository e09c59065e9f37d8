"""Names that every planner takes: each is used for one thing, is no keyword, and is short.

PDDL lets a type, a predicate, an action, an object and a variable have one name, and ignores case.
Some planners do not. Here names are changed, and all requirements declared; the original names
are in the comments of both files, and plans are read back by `PddlExport.steps`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.problem import needed
from tokenworld.planning.pddl.tree import heads
from tokenworld.planning.pddl.words import Names, parts_of_union, union_type

MOST_LETTERS = 48
"""Letters of a name at most; the oldest planners cut longer ones off."""
_WORDS = """
action always always-within and assign at at-most-once axiom axioms condition constants constraints
decrease define derived domain duration durative-action effect either end event exists false forall
function functions goal hold-after hold-during imply increase init is-violated length maximize
metric minimize not number object objects observe oneof or over parameters precondition predicate
predicates preference probabilistic problem process requirements reward scale-down scale-up
situation sometime sometime-after sometime-before start supply-demand t total-cost total-time true
type types undefined unknown variable vars when within
"""
RESERVED = frozenset(_WORDS.split())
"""Words that PDDL, one of its extensions or a planner has for itself."""
_HEADS = """
and or not imply forall exists when either = < > <= >= + - * / assign increase decrease scale-up
scale-down probabilistic oneof
"""
_KEPT = frozenset(_HEADS.split())
"""Heads that are no names."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "<", ">", "<=", ">=", "increase", "decrease"})
_SCALES = frozenset({"scale-up", "scale-down"})
_OTHER = re.compile(r"[^a-z0-9_-]+")
_COST = "total-cost"
_PROBABILISTIC = ("probabilistic-effects", "rewards")
_ROOT = "object"


class _Taken:
    """All names given so far, for any kind."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)

    def give(self, name: str, kind: str) -> str:
        """A free name close to this one: with its kind after, then with a number."""
        plain = _plain(name, kind)
        word, number = plain, 2
        while word in self._taken:
            end = f"-{kind}" if number == 2 else f"-{kind}{number - 1}"
            word = f"{plain[: MOST_LETTERS - len(end)].rstrip('-')}{end}"
            number += 1
        self._taken.add(word)
        return word


def _plain(name: str, kind: str) -> str:
    """Small letters, digits, hyphens and underscores, beginning with a letter."""
    word = _OTHER.sub("-", name.lower()).strip("-_")
    if not word or not word[0].isalpha():
        word = f"{kind}-{word}".rstrip("-_")
    return word[:MOST_LETTERS].rstrip("-_")


def sanitized(pair: tree.PddlPair) -> Renaming:
    """The pair with every name used once, in small letters, and all that it needs declared.

    Derived predicates that no rule asks for are left out: many planners know none.
    """
    return Renaming(replace(pair, domain=_asked(pair)))


def _asked(pair: tree.PddlPair) -> tree.PddlDomain:
    """The domain without derived predicates, if nothing asks for one of them."""
    domain = pair.domain
    parts = [pair.problem.goal, *(one.precondition for one in domain.actions)]
    parts += [effect for one in domain.actions for effect in one.effects]
    used = {word for part in parts for word in heads(part)}
    derived = {one.head.name for one in domain.derived}
    if derived & used:
        return domain
    kept = tuple(one for one in domain.predicates if one.name not in derived)
    return replace(domain, derived=(), predicates=kept)


@dataclass(slots=True)
class Renaming:
    """A pair with new names, and the new names of each kind by the old ones.

    Actions are named first, so that plans read best, then objects, fluents, types.
    """

    pair: tree.PddlPair
    taken: _Taken = field(default_factory=_Taken)
    actions: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    fluents: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    numeric: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        domain, problem = self.pair.domain, self.pair.problem
        self._name(self.actions, (one.name for one in domain.actions), "do")
        objects = (*domain.constants, *problem.objects)
        self._name(self.objects, (one.name for one in objects), "obj")
        heads = (one.head for one in domain.derived)
        signatures = (*domain.predicates, *domain.functions, *heads)
        self.fluents[_COST] = _COST
        self._name(self.fluents, (one.name for one in signatures), "of")
        for name in self._type_names(signatures):
            self._type(name)
        numbers = (one.name for one in domain.functions if one.result.lower() == "number")
        self.numeric = frozenset((*numbers, _COST, "+", "-", "*", "/"))
        self.pair = self._commented(self._renamed())

    def names(self, old: Names) -> Names:
        """The way back from the new names."""
        steps = {new.lower(): old.steps[name.lower()] for name, new in self.actions.items()}
        objects = {
            new.lower(): old.objects[name.lower()]
            for name, new in self.objects.items()
            if name.lower() in old.objects
        }
        words = {key: self.objects.get(word, word) for key, word in old.words.items()}
        return Names(steps, objects, words)

    def changes(self) -> Iterator[tuple[str, str, str]]:
        """The renamed names: kind, new name, old name."""
        kinds = (
            ("type", self.types),
            ("object", self.objects),
            ("fluent", self.fluents),
            ("action", self.actions),
            ("variable", self.variables),
        )
        for kind, names in kinds:
            yield from ((kind, new, old) for old, new in names.items() if new != old)

    def _type_names(self, signatures: Iterable[tree.Signature]) -> Iterator[str]:
        """All types, those that nothing declares included."""
        domain, problem = self.pair.domain, self.pair.problem
        yield from (one.name for one in domain.types)
        used = [*domain.types, *domain.constants, *problem.objects]
        used += [param for one in signatures for param in one.params]
        used += [param for one in domain.actions for param in one.params]
        yield from (one.type for one in used if one.type is not None)

    def _name(self, known: dict[str, str], names: Iterable[str], kind: str) -> None:
        for name in names:
            if name not in known:
                known[name] = self.taken.give(name, kind)

    def _type(self, name: str) -> str:
        if name.lower() == _ROOT:
            return _ROOT
        if parts := parts_of_union(name):
            return union_type([self._type(part) for part in parts])
        self._name(self.types, [name], "type")
        return self.types[name]

    def _variable(self, name: str) -> str:
        """One new name for a variable everywhere; case makes no difference."""
        key = name.lower()
        if key not in self.variables:
            self.variables[key] = f"?{self.taken.give(key.lstrip('?'), 'var')}"
        return self.variables[key]

    # ---- expressions ----------------------------------------------------------------------------

    def _word(self, word: str) -> str:
        if word.startswith("?"):
            return self._variable(word)
        return self.objects.get(word, word)

    def _expr(self, expr: tree.Expr) -> tree.Expr:
        if isinstance(expr, str):
            return self._word(expr)
        if not expr:
            return expr
        head, *rest = expr
        if head in ("forall", "exists"):
            return (head, self._list(rest[0]), *(self._expr(one) for one in rest[1:]))
        if not isinstance(head, str):
            return tuple(self._expr(one) for one in expr)
        numbers = self._of_numbers(head, rest)
        name = head if head in _KEPT else self.fluents.get(head, head)
        if head == "probabilistic":
            return (head, *(one if isinstance(one, str) else self._expr(one) for one in rest))
        return (name, *(self._part(one, numbers) for one in rest))

    def _part(self, part: tree.Expr, number: bool) -> tree.Expr:
        """An operand; a word among numbers is a number, even where an object is called so."""
        return part if number and isinstance(part, str) and part[0] != "?" else self._expr(part)

    def _of_numbers(self, head: str, rest: Sequence[tree.Expr]) -> bool:
        if head in _ARITHMETIC or head in _SCALES:
            return True
        if head not in ("=", "assign"):
            return False
        return any(isinstance(one, tuple) and one and one[0] in self.numeric for one in rest)

    def _list(self, words: tree.Expr) -> tree.Expr:
        found: list[tree.Expr] = []
        for word in words:
            after = bool(found) and found[-1] == "-"
            found.append(self._type(str(word)) if after else self._word(str(word)))
        return tuple(found)

    # ---- declarations ---------------------------------------------------------------------------

    def _typed(self, one: tree.Typed) -> tree.Typed:
        return tree.Typed(self._word(one.name), one.type and self._type(one.type))

    def _formals(self, params: Sequence[tree.Typed]) -> tuple[tree.Typed, ...]:
        """The formals of a declaration, where PDDL lets a name come twice."""
        found: list[tree.Typed] = []
        for one in params:
            name = self._variable(one.name)
            while name in {other.name for other in found}:
                name = self._variable(f"{one.name}-{len(found) + 1}")
            found.append(tree.Typed(name, one.type and self._type(one.type)))
        return tuple(found)

    def _signature(self, one: tree.Signature) -> tree.Signature:
        result = one.result if one.result.lower() == "number" else self._type(one.result)
        return tree.Signature(self.fluents[one.name], self._formals(one.params), result)

    def _derived(self, one: tree.PddlDerived) -> tree.PddlDerived:
        params = tuple(self._typed(param) for param in one.head.params)
        head = tree.Signature(self.fluents[one.head.name], params)
        return tree.PddlDerived(head, self._expr(one.condition))

    def _action(self, one: tree.PddlAction) -> tree.PddlAction:
        return replace(
            one,
            name=self.actions[one.name],
            params=tuple(self._typed(param) for param in one.params),
            precondition=self._expr(one.precondition),
            effects=tuple(self._expr(effect) for effect in one.effects),
        )

    def _types(self) -> tuple[tree.Typed, ...]:
        """The declared types; `object` needs no declaration, and is no type of its own."""
        declared = (one for one in self.pair.domain.types if one.name.lower() != _ROOT)
        return tuple(tree.Typed(self._type(one.name), one.type and self._type(one.type))
                     for one in declared)  # fmt: skip

    # ---- the pair -------------------------------------------------------------------------------

    def _renamed(self) -> tree.PddlPair:
        domain, problem = self.pair.domain, self.pair.problem
        name = self.taken.give(domain.name, "domain")
        changed = replace(
            domain,
            name=name,
            types=self._types(),
            constants=tuple(self._typed(one) for one in domain.constants),
            predicates=tuple(self._signature(one) for one in domain.predicates),
            functions=tuple(self._signature(one) for one in domain.functions),
            derived=tuple(self._derived(one) for one in domain.derived),
            actions=tuple(self._action(one) for one in domain.actions),
        )
        pair = tree.PddlPair(changed, self._problem(problem, name))
        kept = (word for word in domain.requirements if word in _PROBABILISTIC)
        return replace(pair, domain=replace(changed, requirements=(*needed(pair), *kept)))

    def _commented(self, pair: tree.PddlPair) -> tree.PddlPair:
        """The pair with the changes of names as comments above both files."""
        changes = (one for one in self.changes() if one[0] != "variable")
        rows = [f"  {kind} {new} = {old}" for kind, new, old in changes]
        head = "Names that are not as they were, for planners that take no others:"
        comments = (head, *rows) if rows else ("Names are fit for all planners, and as they were.",)
        return tree.PddlPair(
            replace(pair.domain, comments=(*pair.domain.comments, *comments)),
            replace(pair.problem, comments=(*pair.problem.comments, *comments)),
        )

    def _problem(self, problem: tree.PddlProblem, domain: str) -> tree.PddlProblem:
        return replace(
            problem,
            name=self.taken.give(problem.name, "problem"),
            domain=domain,
            objects=tuple(self._typed(one) for one in problem.objects),
            init=tuple(self._expr(one) for one in problem.init),
            goal=self._expr(problem.goal),
            metric=None if problem.metric is None else self._expr(tree.parsed(problem.metric)),
        )
