"""Terms, predicates and templates as text of the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokenworld.syntax.tables import tables
from tokenworld.verbs.learn.propose.scenes import ANY, Fluent, Value, Vocabulary
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import ME, Exists, Predicate, Term, Var

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_OTHER = "o"
"""The variable of `any` and `count`."""


def word(text: str) -> str:
    """Return a name, in backquotes unless it can be written without."""
    return text if _NAME.match(text) and text not in tables().keywords else f"`{text}`"


def kind_word(text: str) -> str:
    """Return the name of a type or an enum."""
    return text if re.match(r"[A-Z][A-Za-z0-9_]*\Z", text) else f"`{text}`"


def quoted(text: str) -> str:
    """Return a text in quotes."""
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("{", "\\{"), ("}", "\\}"), ("\n", "\\n")):
        text = text.replace(old, new)
    return f'"{text}"'


def number(value: float) -> str:
    """Return a number without needless decimals."""
    return str(int(value)) if value == int(value) else f"{value:.6f}".rstrip("0")


@dataclass(slots=True)
class Wording:
    """Writes the text of one rule. ``sorts`` are the known types of its terms."""

    vocabulary: Vocabulary
    sorts: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def knows(self, one: Var) -> None:
        """Note the type of a variable."""
        self.sorts[(one.name, ())] = one.sort

    def term(self, one: Term) -> str:
        """Return the text of a term."""
        if one.args:
            led = [self.term(_inner(one))] if one.base else []
            return f"{word(one.path[-1])}({', '.join((*led, *map(word, one.args)))})"
        if not one.base:
            return f"{word(one.path[0])}()"
        if one.counted:
            inner = self.term(Term(one.base, one.path[:-1], "object"))
            kind = kind_word(one.counted)
            same = f"{_OTHER}.{word(one.path[-1])} == {inner}"
            return f"count({_OTHER} for {_OTHER}: {kind} where {same})"
        return ".".join([ME if one.base == ME else word(one.base), *map(word, one.path)])

    def value(self, value: Value, kind: str, unit: str = "") -> str:
        """Return the text of a constant of a kind; a number has its unit."""
        if value is None or isinstance(value, tuple):
            return "none"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            if kind == "object" and isinstance(value, int):
                self.vocabulary.named.add(value)
                return word(self.vocabulary.constants[value])
            text = number(value)
            return (f"{text}.0" if kind == "real" and "." not in text else text) + unit
        return word(value) if kind == "enum" else quoted(value)

    # ---- types --------------------------------------------------------------------------------

    def needs(self, term: Term | None) -> list[str]:
        """Return the type tests that a term needs: those of the owners of its attributes. They are
        known from here on."""
        found = []
        if term is not None and term.args and term.base:
            fluent, led = self.vocabulary.fluents[term.path[-1]], _inner(term)
            owners = fluent.owners or self.vocabulary.members(fluent.params[0])
            return [one for one in (*self.needs(led), self.narrowed(led, owners)) if one]
        if term is not None and term.args:
            fluent = self.vocabulary.fluents[term.path[0]]
            for name, sort in zip(term.args, fluent.params, strict=True):
                kinds = fluent.owners if name == term.args[0] and fluent.owners else (
                    self.vocabulary.members(sort)
                )  # fmt: skip
                if kinds:
                    test = self.narrowed(Term(name, (), "object"), kinds)
                    found += [test] if test else []
            return found
        if term is None or not term.base or term.counted:
            return []
        for length in range(len(term.path)):
            fluent = self.vocabulary.fluents[term.path[length]]
            inner = Term(term.base, term.path[:length], "object")
            test = self.narrowed(inner, fluent.owners)
            found += [test] if test else []
        return found

    def narrowed(self, term: Term, owners: frozenset[str]) -> str:
        """Return the test that an object is of one of some types; empty where that is known."""
        key = (term.base, term.path)
        known = self.vocabulary.members(self.sorts.get(key) or self._led(term))
        if term.base == ME and not term.path and key not in self.sorts:
            return ""
        if term.path and key not in self.sorts and owners == self.vocabulary.members(ANY):
            return ""
        if known <= owners:
            return ""
        sort = self.vocabulary.group(owners) or ANY
        self.sorts[key] = sort
        return f"{self.term(term)} is {kind_word(sort)}"

    def _led(self, term: Term) -> str:
        """Return the declared type of the object to which a term leads."""
        fluent = self.vocabulary.fluents[term.path[-1]] if term.path else None
        sure = fluent is not None and fluent.of and not fluent.optional
        return fluent.of if fluent is not None and sure else ANY

    # ---- predicates ---------------------------------------------------------------------------

    def guard(self, predicates: Sequence[Predicate]) -> list[str]:
        """Return the conjuncts of a guard, the type tests first."""
        found: list[str] = []
        ordered = sorted(predicates, key=lambda one: one.op != "is")
        for one in ordered:
            right = one.right if isinstance(one.right, Term) else one.far
            found += [test for test in (*self.needs(one.left), *self.needs(right))
                      if test not in found]  # fmt: skip
            if one.op == "is" and one.positive and one.left is not None:
                assert isinstance(one.right, str)
                test = self.narrowed(one.left, self.vocabulary.members(one.right))
                found += [test] if test and test not in found else []
                continue
            text = self.predicate(one)
            found += [text] if text not in found else []
        return found

    def predicate(self, one: Predicate) -> str:
        """Return the text of a single condition."""
        left = "" if one.left is None else self.term(one.left)
        match one.op:
            case "is":
                assert isinstance(one.right, str)
                text = f"{left} is {kind_word(one.right)}"
                return text if one.positive else f"not {text}"
            case "true":
                return left if one.positive else f"not {left}"
            case "=" | "==":
                assert one.left is not None
                assert not isinstance(one.right, Exists)
                other = self._compared(one.left, one.right)
                return f"{left} {'==' if one.positive else '!='} {other}"
            case ">=" | "<":
                assert one.left is not None
                assert not isinstance(one.right, Exists)
                other = self._compared(one.left, one.right)
                above = (one.op == ">=") == one.positive
                return f"{left} {'>=' if above else '<'} {other}"
            case "any":
                assert isinstance(one.right, Exists)
                text = (
                    self._linked(one) if one.far is not None else self._exists(one.left, one.right)
                )
                return text if one.positive else f"not {text}"
            case _:
                raise ValueError(one.op)

    def _compared(self, left: Term, right: object) -> str:
        """Return the text of the right side of a comparison."""
        if isinstance(right, Term):
            return self.term(right)
        return self.value(_plain(right), left.kind, left.unit)

    def _exists(self, term: Term | None, one: Exists) -> str:
        kind = kind_word(one.sort)
        held = self._property(one)
        inner = "" if term is None else self.term(term)
        links = {
            "": "",
            "under": f"{_OTHER} in {inner}.inside",
            "over": f"{inner} in {_OTHER}.inside",
        }
        link = links.get(one.how, f"{_OTHER}.{word(one.how)} == {inner}")
        conditions = [part for part in (link, held) if part]
        if one.how in ("under", "over") and not held:
            conditions = [link]
        body = " and ".join(conditions) or f"{_OTHER} is {kind}"
        return f"any({body} for {_OTHER}: {kind})"

    def _linked(self, one: Predicate) -> str:
        assert isinstance(one.right, Exists)
        assert one.left is not None
        assert one.far is not None
        first, second = f"{_OTHER}.{word(one.right.how)}", f"{_OTHER}.{word(one.right.other)}"
        left, far = self.term(one.left), self.term(one.far)
        link = f"{first} == {left} and {second} == {far}"
        if one.right.both:
            link = f"({link} or {first} == {far} and {second} == {left})"
        held = self._property(one.right)
        body = f"{link} and {held}" if held else link
        return f"any({body} for {_OTHER}: {kind_word(one.right.sort)})"

    def _property(self, one: Exists) -> str:
        if not one.fluent:
            return ""
        fluent = self.vocabulary.fluents[one.fluent]
        name = f"{_OTHER}.{word(one.fluent)}"
        if fluent.kind == "bool":
            return name if one.value else f"not {name}"
        return f"{name} == {self.value(one.value, fluent.kind)}"

    # ---- templates ----------------------------------------------------------------------------

    def template(self, one: Template, fluent: Fluent) -> str:
        """Return the text of a new value."""
        if one.op == "value":
            return self.value(one.value, fluent.kind, fluent.unit)
        assert one.term is not None
        text = self.term(one.term)
        match one.op:
            case "term":
                return text
            case "not":
                return f"not {text}"
            case "shift":
                assert isinstance(one.value, (int, float))
                sign = "+" if one.value >= 0 else "-"
                return f"{text} {sign} {self.value(abs(one.value), fluent.kind, fluent.unit)}"
            case "plus":
                assert one.other is not None
                return f"{text} + {self.term(one.other)}"
            case "name":
                return f"recordName({text})"
            case "table":
                return self._table(one, text, fluent)
            case _:
                raise ValueError(one.op)

    def _table(self, one: Template, text: str, fluent: Fluent) -> str:
        assert one.term is not None
        kind, unit = one.term.kind, one.term.unit
        news = [self.value(new, fluent.kind, fluent.unit) for _, new in one.rows]
        cases = "".join(
            f"if {text} == {self.value(key, kind, unit)} then {new} else "
            for (key, _), new in zip(one.rows[:-1], news, strict=False)
        )
        return f"{cases}{news[-1]}"


def _inner(one: Term) -> Term:
    """Return the object that a function with a base is applied to."""
    return Term(one.base, one.path[:-1], "object")


def _plain(value: object) -> Value:
    return value if isinstance(value, (bool, int, float, str)) else None


# ---- putting one term for a variable ------------------------------------------------------------


def put(one: Term, to: Mapping[str, Term]) -> Term | None:
    """Return a term with others in place of its variables; ``None`` if the language has no such."""
    if one.args:
        names = []
        for name in one.args:
            other = to.get(name)
            if other is not None and (other.path or not other.base):
                return None
            names.append(name if other is None else other.base)
        one = replace(one, args=tuple(names))
        if not one.base:
            return one
    other = to.get(one.base)
    if other is None:
        return one
    if other.args or not other.base:
        return None
    return replace(one, base=other.base, path=(*other.path, *one.path))


def put_predicate(one: Predicate, to: Mapping[str, Term]) -> Predicate | None:
    """Return a predicate with terms in place of variables."""
    left = None if one.left is None else put(one.left, to)
    right = put(one.right, to) if isinstance(one.right, Term) else one.right
    if (one.left is not None and left is None) or (isinstance(one.right, Term) and right is None):
        return None
    far = None if one.far is None else put(one.far, to)
    if one.far is not None and far is None:
        return None
    return replace(one, left=left, right=right, far=far)


def put_template(one: Template, to: Mapping[str, Term]) -> Template | None:
    """Return a template with terms in place of variables."""
    term = None if one.term is None else put(one.term, to)
    other = None if one.other is None else put(one.other, to)
    if (one.term is not None and term is None) or (one.other is not None and other is None):
        return None
    parts = [put_template(part, to) for part in one.parts]
    if None in parts:
        return None
    return replace(one, term=term, other=other, parts=tuple(x for x in parts if x is not None))


def anchor(guard: Iterable[Predicate], name: str, free: frozenset[str]) -> Term | None:
    """Return the term that a guard says a variable is, if it names none of the free variables."""
    for one in guard:
        if one.op == "==" and one.positive:
            pairs = ((one.left, one.right), (one.right, one.left))
            for mine, other in pairs:
                if isinstance(mine, Term) and isinstance(other, Term) and mine == replace(
                    other, base=name, path=(), kind=mine.kind, of=mine.of, args=(), counted="",
                    optional=mine.optional,
                ) and not other.args and other.base and other.base not in free:  # fmt: skip
                    return other
    return None


def same_term(one: Predicate) -> bool:
    """Return whether a predicate says that a term is itself."""
    left, right = one.left, one.right
    if one.op != "==" or not isinstance(left, Term) or not isinstance(right, Term):
        return False
    return one.positive and (left.base, left.path, left.args) == (
        right.base,
        right.path,
        right.args,
    )


def template_text(text: str) -> str:
    """Return a template in quotes, with its braces kept."""
    return f'"{text}"'
