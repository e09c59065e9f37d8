"""Compute the scores of the published script of Text2World, including its defects.

The script (`text2world/utils/evaluator.py` of its repository, commit 9440ff7) reads both domains
with tarski and compares sets of texts: predicates as `name_arity`, an action's parameters,
preconditions and effects. `official` gives the same numbers without tarski:

- the precondition, as a text without its first and last letter, is cut at every `and`, also inside
  `hands-full`; an action that asks nothing makes the three scores of its domain 0;
- a domain with `:action-costs` or `:numeric-fluents` has `<`, `<=`, `>` and `>=` as predicates;
- costs, types of parameters and additional actions do not count; a missing action costs all three;
- a domain that tarski does not read gets 0 for everything. `_Reader` refuses what tarski refuses:
  sections in another order, a type below one that comes later, `either`, derived predicates,
  number-valued functions without `:action-costs`, an `or` of one operand, a hidden variable.

`tests/bench/test_official.py` compares it with the script and tarski where they are installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenworld.verbs.bench.normal import Tree, read

FACETS: Final = ("predicates", "parameters", "preconditions", "effects")


@dataclass(frozen=True, slots=True)
class Official:
    """Percentages, rounded to one decimal as the script does; ``executable``: tarski reads it."""

    executable: bool
    predicates: float
    parameters: float
    preconditions: float
    effects: float


def official(original: str, text: str) -> Official:
    """Return the script's scores of ``text`` against ``original``, whose comments do not count.

    `tw bench text2world` calls it for golds, their round trips and predictions.
    """
    wanted = _opened(re.sub(r";[^\n]*(\n|\Z)", r"\1", original))
    found = _opened(text)
    readable = found is not None
    if wanted is None or found is None or not wanted.actions:  # without actions the script stops
        return Official(readable, 0.0, 0.0, 0.0, 0.0)
    predicates = _f1(found.heads(), wanted.heads())
    means = _of_actions(found, wanted)
    return Official(readable, *(round(100 * one, 1) for one in (predicates, *means)))


def _of_actions(found: _Reader, wanted: _Reader) -> tuple[float, ...]:
    each: list[list[float]] = []
    try:
        theirs = {name: one.facets() for name, one in found.actions.items()}
        for name, ours in [(name, one.facets()) for name, one in wanted.actions.items()]:
            each.append([_f1(*pair) for pair in zip(theirs[name], ours, strict=True)])
        return tuple(sum(values) / len(values) for values in zip(*each, strict=True))
    except (KeyError, IndexError):
        return 0.0, 0.0, 0.0


def _f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    if not found and not wanted:
        return 1.0
    one, other = set(found), set(wanted)
    both = len(one & other)
    precision = both / len(one) if one else 0.0
    recall = both / len(other) if other else 0.0
    return 2 * precision * recall / (precision + recall) if both else 0.0


# ---- comparison ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Action:
    params: tuple[str, ...]
    asked: str
    effects: tuple[str, ...]

    def facets(self) -> tuple[list[str], list[str], list[str]]:
        """Return the three lists of texts; raises `IndexError` where one of the texts is empty."""
        asked = [part.strip() for part in self.asked[1:-1].split("and")]
        return _sorted(self.params), _sorted(asked), _sorted(self.effects)


def _sorted(texts: Sequence[str]) -> list[str]:
    """Apply the script's `_preprocess`: sort the operands of an `or`, cut at any depth."""
    found = sorted(texts)
    for place, text in enumerate(found):
        if text[0] == "(" and " or " in text:
            parts = sorted(part.strip() for part in text[1:-1].strip().split(" or "))
            found[place] = f"({' or '.join(parts)})"
    return sorted(found)


# ---- what tarski reads --------------------------------------------------------------------------


class _Refused(ValueError):
    """Raised when tarski does not read a domain."""


def _opened(text: str) -> _Reader | None:
    """Return a domain as tarski reads it, or ``None`` where it does not."""
    try:
        return _Reader(_first(text.strip()))
    except (ValueError, RecursionError):
        return None


def _first(text: str) -> list[Tree]:
    """Return the first list; ignore the rest. A comment without a line end is an error."""
    if re.search(r";[^\n]*\Z", text):
        raise _Refused("a comment at the end")
    plain = re.sub(r";[^\n]*\n", "\n", text)
    depth = 0
    for place in re.finditer(r"[()]", plain):
        depth += 1 if place.group() == "(" else -1
        if depth == 0:
            return read(plain[: place.end()], keep_case=True)
    raise _Refused("unbalanced parentheses")


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_VARIABLE = re.compile(r"\?[A-Za-z][A-Za-z0-9_-]*\Z")
_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_KEPT = """domain either problem assign max min sin cos sqrt tan acos asin atan exp abs minimize
maximize preference at-end always sometime within at-most-once sometime-after sometime-before
always-within hold-during hold-after is-violated scale-up scale-down int float object number"""
_NO_NAMES: Final = frozenset(_KEPT.split())
"""Reserved words of tarski's lexer, as they are written here."""
_CONNECTIVES: Final = frozenset(
    ("and", "not", "or", "imply", "exists", "forall", "when", "define", "increase", "decrease")
)
_FLAGS = """:strips :typing :negative-preconditions :disjunctive-preconditions :equality
:existential-preconditions :universal-preconditions :quantified-preconditions :conditional-effects
:object-fluents :numeric-fluents :fluents :adl :durative-actions :derived-predicates
:timed-initial-literals :preferences :constraints :action-costs"""
_KEYS: Final = frozenset(_FLAGS.split())
_ORDER: Final = (":requirements", ":types", ":constants", ":predicates", ":functions")
_COMPARED: Final = ("<", "<=", ">", ">=")
_ROOT: Final = "object"


def _name(tree: Tree) -> str:
    if not isinstance(tree, str) or not _NAME.match(tree):
        raise _Refused(f"no name: {tree}")
    if tree in _NO_NAMES or tree.lower() in _CONNECTIVES:
        raise _Refused(f"a word of the language: {tree}")
    return tree.lower()


def _list(tree: Tree) -> list[Tree]:
    if not isinstance(tree, list):
        raise _Refused(f"no list: {tree}")
    return tree


def _word(tree: Tree) -> str:
    """Return the first word of a list in lower case; empty where there is none."""
    head = tree[0] if isinstance(tree, list) and tree else ""
    return head.lower() if isinstance(head, str) else ""


Sorted = tuple[str, str]
"""A name and its type."""


@dataclass(slots=True)
class _Reader:
    """A domain: its names in one name space, and the texts of its actions."""

    tree: list[Tree]
    parents: dict[str, str] = field(default_factory=lambda: {_ROOT: ""})
    taken: set[str] = field(default_factory=lambda: {_ROOT})
    predicates: dict[str, tuple[str, ...]] = field(default_factory=dict)
    functions: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    actions: dict[str, _Action] = field(default_factory=dict)
    arithmetic: bool = False

    def __post_init__(self) -> None:
        if _word(self.tree) != "define" or len(self.tree) < 2:
            raise _Refused("no domain")
        header = _list(self.tree[1])
        if len(header) != 2 or header[0] != "domain":
            raise _Refused("no domain")
        _name(header[1])
        step = 0
        for part in self.tree[2:]:
            step = self._section(_list(part), step)

    def heads(self) -> list[str]:
        """Return the predicates as the script writes them; arithmetic brings four of its own."""
        own = [f"{name}_{len(types)}" for name, types in self.predicates.items()]
        return own + [f"{sign}_2" for sign in _COMPARED if self.arithmetic]

    # -- sections

    def _section(self, part: list[Tree], step: int) -> int:
        """Read a section; return its place in the fixed order."""
        key = part[0] if part else ""
        if key in _ORDER[step:]:
            step = _ORDER.index(str(key))
            read_it = (self._required, self._types, self._consts, self._heads, self._numbers)[step]
            read_it(part[1:])
            return step + 1
        if isinstance(key, str) and key.lower() == ":action":
            self._action(part)
            return len(_ORDER)
        raise _Refused(f"a section `{key}`")

    def _required(self, keys: list[Tree]) -> None:
        if not all(isinstance(key, str) and key in _KEYS for key in keys):
            raise _Refused("an unknown requirement")
        self.arithmetic = ":action-costs" in keys or ":numeric-fluents" in keys
        if self.arithmetic:
            self.taken.add("ite")
        if ":action-costs" in keys:
            self.parents["number"] = _ROOT

    def _claim(self, name: str) -> None:
        if name in self.taken:
            raise _Refused(f"`{name}` twice")
        self.taken.add(name)

    def _types(self, items: list[Tree]) -> None:
        for name, parent in self._typed(items, known=False, roots=True):
            if name != _ROOT:
                self._claim(name)
                self._known(parent)
                self.parents[name] = parent

    def _consts(self, items: list[Tree]) -> None:
        for name, of in self._typed(items):
            self._claim(name)
            self.constants[name] = of

    def _heads(self, items: list[Tree]) -> None:
        for item in items:
            head = _list(item)
            name = _name(head[0] if head else "")
            types = tuple(of for _, of in self._typed(head[1:], variables=True))
            self._claim(name)
            self.predicates[name] = types

    def _numbers(self, items: list[Tree]) -> None:
        rest = iter([*items, None])
        item = next(rest)
        while item is not None:
            head = _list(item)
            name = _name(head[0] if head else "")
            types = tuple(of for _, of in self._typed(head[1:], variables=True))
            item, result = next(rest), "number"
            if item == "-":
                result, item = self._type(next(rest) or ""), next(rest)
            self._known(result)
            self._claim(name)
            self.functions[name] = (types, result)

    # -- typed lists

    def _typed(
        self, items: list[Tree], *, variables: bool = False, known: bool = True, roots: bool = False
    ) -> list[Sorted]:
        """Return the names with their types; those without are last or first, as in tarski."""
        typed: list[Sorted] = []
        waiting: list[str] = []
        root = False
        words = _split(items)
        for word in words:
            if word != "-":
                root = root or word == _ROOT
                waiting.append(_variable(word) if variables else _member(word, roots))
                continue
            of = self._type(next(words, ""))
            if not waiting or root:
                raise _Refused("a type of nothing")
            typed += [(name, of) for name in waiting]
            waiting = []
        plain = [(name, _ROOT) for name in waiting]
        found = [*typed, *plain] if variables else [*plain, *typed]
        if known:
            for _, of in found:
                self._known(of)
        return found

    def _type(self, tree: Tree) -> str:
        if isinstance(tree, str) and tree in ("number", "object", "int", "float"):
            return tree
        return _name(tree)

    def _known(self, of: str) -> None:
        if of not in self.parents:
            raise _Refused(f"no type `{of}`")

    def _below(self, of: str, above: str) -> bool:
        while of and of != above:
            of = self.parents[of]
        return bool(of)

    # -- actions

    def _action(self, part: list[Tree]) -> None:
        keys = [one.lower() if isinstance(one, str) else "" for one in part[2::2]]
        if len(part) != 8 or part[2] != ":parameters" or keys[1:] != [":precondition", ":effect"]:
            raise _Refused("an action without one of its three parts")
        _name(part[1])
        params = self._typed(_list(part[3]), variables=True)
        scope = dict(params)
        asked = "T" if part[5] == [] else self._condition(part[5], scope)
        texts, costs = self._effects(part[7], scope, top=True)
        if str(part[1]) in self.actions or costs > 1:
            raise _Refused("an action twice, or two costs")
        self.actions[str(part[1])] = _Action(tuple(scope), asked, tuple(texts))

    def _inner(self, scope: dict[str, str], items: Tree) -> tuple[list[Sorted], dict[str, str]]:
        """Return the variables of a quantifier, and the scope inside it."""
        found = self._typed(_list(items), variables=True)
        names = [name for name, _ in found]
        if set(names) & scope.keys() or len(set(names)) < len(names):
            raise _Refused("a hidden variable")
        return found, {**scope, **dict(found)}

    def _condition(self, tree: Tree, scope: dict[str, str]) -> str:
        parts, head = _list(tree), _word(tree)
        match head, len(parts) - 1:
            case "and", 0:
                return "T"
            case "and", 1:
                return self._condition(parts[1], scope)
            case (("and" | "or"), count) if count > 1:
                texts = [self._condition(part, scope) for part in parts[1:]]
                return f"({f' {head} '.join(texts)})"
            case "not", 1:
                return f"(not {self._condition(parts[1], scope)})"
            case "imply", 2:
                left, right = (self._condition(part, scope) for part in parts[1:])
                return f"((not {left}) or {right})"
            case (("exists" | "forall"), 2):
                names, inner = self._inner(scope, parts[1])
                if not names:
                    raise _Refused("a quantifier without variables")
                shown = ", ".join(name for name, _ in names)
                return f"{head} {shown} : ({self._condition(parts[2], inner)})"
            case (("=" | "<" | ">" | "<=" | ">="), 2):
                return self._comparison(parts, scope)
            case _:
                return self._atom(parts, scope)

    def _comparison(self, parts: list[Tree], scope: dict[str, str]) -> str:
        if parts[0] != "=" and not self.arithmetic:
            raise _Refused("a comparison without arithmetic")
        terms = [self._term(part, scope) for part in parts[1:]]
        if parts[0] != "=" and any(of not in ("number", "") for _, of in terms):
            raise _Refused("a comparison of what is no number")
        return f"{parts[0]}({','.join(text for text, _ in terms)})"

    def _atom(self, parts: list[Tree], scope: dict[str, str]) -> str:
        name = _name(parts[0] if parts else "")
        types = self.predicates.get(name)
        if types is None or len(types) != len(parts) - 1:
            raise _Refused(f"no predicate `{name}` of {len(parts) - 1}")
        terms = [self._term(part, scope) for part in parts[1:]]
        for (_, of), wanted in zip(terms, types, strict=True):
            if not of or not self._below(of, wanted):
                raise _Refused("a term of another type")
        return f"{name}({','.join(text for text, _ in terms)})"

    def _term(self, tree: Tree, scope: dict[str, str]) -> Sorted:
        """Return a term and its type; the type of a number is empty."""
        if isinstance(tree, list):
            return self._value(tree, scope)
        if _NUMBER.match(tree):
            return str(float(tree)), ""
        if tree.startswith("?"):
            name = _variable(tree)
            if name not in scope:
                raise _Refused(f"no variable `{name}`")
            return name, scope[name]
        name = _name(tree)
        if name not in self.constants:
            raise _Refused(f"no object `{name}`")
        return name, self.constants[name]

    def _value(self, parts: list[Tree], scope: dict[str, str]) -> Sorted:
        if _word(parts) in ("+", "-", "*", "/") and len(parts) == 3:
            if not self.arithmetic:
                raise _Refused("a calculation without arithmetic")
            texts = [self._term(part, scope)[0] for part in parts[1:]]
            return f"{parts[0]}({', '.join(texts)})", "number"
        name = _name(parts[0] if parts else "")
        types, result = self.functions.get(name, ((), ""))
        if not result or len(types) != len(parts) - 1:
            raise _Refused(f"no function `{name}` of {len(parts) - 1}")
        terms = [self._term(part, scope) for part in parts[1:]]
        return f"{name}({', '.join(text for text, _ in terms)})", result

    # -- effects

    def _effects(self, tree: Tree, scope: dict[str, str], *, top: bool) -> tuple[list[str], int]:
        """Return the texts of effects, and the number of costs, which only the top leaves out."""
        parts = _list(tree)
        each = parts[1:] if _word(parts) == "and" else [parts]
        texts: list[str] = []
        costs = 0
        for one in each:
            if top and _is_cost(one):
                self._cost(_list(one), scope)
                costs += 1
            else:
                texts += self._effect(_list(one), scope)
        return texts, costs

    def _cost(self, parts: list[Tree], scope: dict[str, str]) -> None:
        self._change(parts, scope)
        if _word(parts) != "increase":
            raise _Refused("a cost that is not added")

    def _effect(self, parts: list[Tree], scope: dict[str, str]) -> list[str]:
        match _word(parts), len(parts) - 1:
            case "forall", 2:
                names, inner = self._inner(scope, parts[1])
                texts, _ = self._effects(parts[2], inner, top=False)
                shown = ", ".join(f"{name} ({of})" for name, of in names)
                return [f"(T -> forall ([{shown}]) : ({', '.join(texts)}))"]
            case "when", 2:
                asked = self._condition(parts[1], scope)
                after = _list(parts[2])
                each = after[1:] if _word(after) == "and" else [after]
                if any(_is_cost(one) for one in each):
                    raise _Refused("a cost under a condition")
                return [f"({asked} -> {self._change(_list(one), scope)})" for one in each]
            case _:
                return [f"(T -> {self._change(parts, scope)})"]

    def _change(self, parts: list[Tree], scope: dict[str, str]) -> str:
        match _word(parts), len(parts) - 1:
            case "not", 1:
                return f"DEL({self._atom(_list(parts[1]), scope)})"
            case ("assign" | "increase" | "decrease" | "scale-up" | "scale-down") as word, 2:
                left, _ = self._value(_list(parts[1]), scope)
                right, _ = self._term(parts[2], scope)
                if word == "assign":
                    return f"{left} := {right}"
                if not self.arithmetic:
                    raise _Refused("a calculation without arithmetic")
                sign = {"increase": "+", "decrease": "-", "scale-up": "*"}.get(word, "/")
                return f"{left} := {sign}({left}, {right})"
            case _:
                return f"ADD({self._atom(parts, scope)})"


def _is_cost(tree: Tree) -> bool:
    left = tree[1] if isinstance(tree, list) and len(tree) == 3 else ""
    return isinstance(left, list) and [_word(left)] == ["total-cost"]


def _split(items: list[Tree]) -> Iterator[Tree]:
    """Yield the words of a typed list; `-t` without a blank is two words."""
    for item in items:
        if isinstance(item, str) and len(item) > 1 and item[0] == "-":
            yield "-"
            yield item[1:]
        else:
            yield item


def _variable(tree: Tree) -> str:
    if not isinstance(tree, str) or not _VARIABLE.match(tree):
        raise _Refused(f"no variable: {tree}")
    return tree.lower()


def _member(tree: Tree, roots: bool) -> str:
    return _ROOT if roots and tree == _ROOT else _name(tree)
