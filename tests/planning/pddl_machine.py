"""A small PDDL interpreter, written from the PDDL papers alone: a second reader of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

Atom = tuple[str, ...]
Binding = Mapping[str, str]


def read(text: str) -> Any:
    """The first s-expression of a text, in lower case, comments dropped."""
    plain = re.sub(r";[^\n]*", "", text).lower()
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", plain):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1, "unbalanced parentheses"
    return stack[0][0]


def typed(words: list[Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            found += [(name, kind) for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return found + [(name, "object") for name in waiting]


@dataclass(frozen=True)
class State:
    facts: frozenset[Atom]
    numbers: frozenset[tuple[Atom, Fraction]]


class Machine:
    def __init__(self, domain: str, problem: str) -> None:
        tree, task = read(domain), read(problem)
        assert tree[0] == task[0] == "define"
        sections: dict[str, list[Any]] = {}
        self.actions: dict[str, dict[str, Any]] = {}
        self.derived: list[tuple[str, list[tuple[str, str]], Any]] = []
        for section in tree[2:]:
            if section[0] == ":action":
                rest = dict(zip(section[2::2], section[3::2], strict=True))
                self.actions[section[1]] = rest
            elif section[0] == ":derived":
                self.derived.append((section[1][0], typed(section[1][1:]), section[2]))
            else:
                sections[section[0]] = section[1:]
        self.parent = dict(typed(sections.get(":types", [])))
        parts = {part[0]: part[1:] for part in task[2:]}
        objects = typed(sections.get(":constants", [])) + typed(parts.get(":objects", []))
        self.kind = dict(objects)
        assert len(self.kind) == len(objects), "an object is declared twice"
        self.signatures = {one[0]: typed(one[1:]) for one in sections.get(":predicates", [])}
        self.goal = parts[":goal"][0]
        self.start = self._start(parts[":init"])

    def _start(self, init: list[Any]) -> State:
        facts: set[Atom] = set()
        numbers: dict[Atom, Fraction] = {}
        for one in init:
            if one[0] == "=":
                numbers[tuple(one[1])] = Fraction(one[2])
            else:
                for argument, (_, kind) in zip(one[1:], self.signatures[one[0]], strict=True):
                    assert self.is_a(argument, kind), (one, kind)
                facts.add(tuple(one))
        return State(frozenset(facts), frozenset(numbers.items()))

    def is_a(self, name: str, kind: str) -> bool:
        found: str | None = self.kind[name]
        while found is not None and found != kind:
            found = self.parent.get(found) if found != "object" else None
        return found == kind

    def bindings(self, params: list[tuple[str, str]]) -> Iterator[dict[str, str]]:
        domains = [[name for name in self.kind if self.is_a(name, kind)] for _, kind in params]
        for values in product(*domains):
            yield dict(zip((name for name, _ in params), values, strict=True))

    def world(self, state: State) -> View:
        facts = set(state.facts)
        view = View(self, facts, dict(state.numbers))
        size = -1
        while size != len(facts):
            size = len(facts)
            for head, params, condition in self.derived:
                for binding in self.bindings(params):
                    if view.holds(condition, binding):
                        facts.add((head, *(binding[name] for name, _ in params)))
        return view

    def steps(self, state: State) -> Iterator[tuple[str, tuple[str, ...], State]]:
        """Every applicable ground action with its successor."""
        view = self.world(state)
        for name, action in self.actions.items():
            params = typed(action[":parameters"])
            for binding in self.bindings(params):
                if view.holds(action[":precondition"], binding):
                    after = view.after(action[":effect"], binding, state)
                    yield name, tuple(binding[one] for one, _ in params), after

    def won(self, state: State) -> bool:
        return self.world(state).holds(self.goal, {})


@dataclass
class View:
    machine: Machine
    facts: set[Atom]
    numbers: dict[Atom, Fraction]

    def ground(self, atom: list[str], binding: Binding) -> Atom:
        words = (word if i == 0 else binding.get(word, word) for i, word in enumerate(atom))
        return tuple(words)

    def holds(self, expr: Any, binding: Binding) -> bool:
        if not expr:
            return True
        head, *rest = expr
        match head:
            case "and":
                return all(self.holds(one, binding) for one in rest)
            case "or":
                return any(self.holds(one, binding) for one in rest)
            case "not":
                return not self.holds(rest[0], binding)
            case "imply":
                return not self.holds(rest[0], binding) or self.holds(rest[1], binding)
            case "exists":
                inner = self.machine.bindings(typed(rest[0]))
                return any(self.holds(rest[1], {**binding, **more}) for more in inner)
            case "forall":
                inner = self.machine.bindings(typed(rest[0]))
                return all(self.holds(rest[1], {**binding, **more}) for more in inner)
            case ">=":
                return self.number(rest[0], binding) >= self.number(rest[1], binding)
            case "<=":
                return self.number(rest[0], binding) <= self.number(rest[1], binding)
            case "=" if isinstance(rest[0], str) and not re.match(r"-?\d", rest[0]):
                one, other = (binding.get(word, word) for word in rest)
                return one == other
            case "=":
                return self.number(rest[0], binding) == self.number(rest[1], binding)
            case _:
                return self.ground(expr, binding) in self.facts

    def number(self, expr: Any, binding: Binding) -> Fraction:
        if isinstance(expr, str):
            return Fraction(expr)
        head, *rest = expr
        if head in ("+", "-", "*", "/"):
            one, other = (self.number(part, binding) for part in rest)
            if head == "/":
                return one / other
            return {"+": one + other, "-": one - other, "*": one * other}[head]
        return self.numbers[self.ground(expr, binding)]

    def after(self, effect: Any, binding: Binding, state: State) -> State:
        added: set[Atom] = set()
        deleted: set[Atom] = set()
        assigned: dict[Atom, Fraction] = {}
        change: dict[Atom, Fraction] = {}
        self._collect(effect, binding, added, deleted, assigned, change)
        assert not set(assigned) & set(change), "assigned and increased at once"
        numbers = dict(state.numbers) | assigned
        for atom, amount in change.items():
            numbers[atom] += amount
        return State((state.facts - deleted) | added, frozenset(numbers.items()))

    def _collect(
        self,
        effect: Any,
        binding: Binding,
        added: set[Atom],
        deleted: set[Atom],
        assigned: dict[Atom, Fraction],
        change: dict[Atom, Fraction],
    ) -> None:
        if not effect:
            return
        head, *rest = effect
        every = (added, deleted, assigned, change)
        match head:
            case "and":
                for one in rest:
                    self._collect(one, binding, *every)
            case "forall":
                for more in self.machine.bindings(typed(rest[0])):
                    self._collect(rest[1], {**binding, **more}, *every)
            case "when":
                if self.holds(rest[0], binding):
                    self._collect(rest[1], binding, *every)
            case "not":
                deleted.add(self.ground(rest[0], binding))
            case "increase" | "decrease":
                atom, sign = self.ground(rest[0], binding), 1 if head == "increase" else -1
                amount = sign * self.number(rest[1], binding)
                change[atom] = change.get(atom, Fraction(0)) + amount
            case "assign":
                atom, value = self.ground(rest[0], binding), self.number(rest[1], binding)
                assert assigned.get(atom, value) == value, "two values for one number"
                assigned[atom] = value
            case _:
                added.add(self.ground(effect, binding))
