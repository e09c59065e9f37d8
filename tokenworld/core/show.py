"""Core as text, a line for each statement: for people, and for `tw explain --stages`."""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.core import nodes as core
from tokenworld.core.visitor import StatementVisitor, TermVisitor
from tokenworld.model import EnumType, IntervalRange, TypeRange, show_type

_INFIX = frozenset({"==", "<", "<=", "in", "+", "-", "*", "scale", "/", "div", "mod"})


def shown_term(term: core.Term) -> str:
    """A term on one line."""
    return _TERMS.term(term, False)


def shown(body: core.Body) -> list[str]:
    """A body, a line for each statement, nested ones indented."""
    return [line for statement in body for line in _STATEMENTS.statement(statement, 0)]


class _ShownTerms(TermVisitor[bool, str]):
    """Terms; the environment says whether an infix operator needs parentheses."""

    def constant(self, term: core.Constant, env: bool) -> str:
        value, kind = term.value, term.type
        if value is not None and isinstance(kind, EnumType):
            return f"{kind.name}[{value}]"
        return "none" if value is None else str(value).lower()

    def _named(self, term: core.ObjectName | core.ParamValue | core.Variable, env: bool) -> str:
        return term.name

    object_name = param_value = variable = _named

    def actor(self, term: core.Actor, env: bool) -> str:
        return "me"

    def read(self, term: core.Read, env: bool) -> str:
        return f"{'was ' if term.was else ''}{term.fluent}({self.listed(term.args)})"

    def members(self, term: core.Members, env: bool) -> str:
        if term.by == "list":
            return f"[{self.listed(term.items)}]"
        was = "was " if term.was else ""
        return f"{was}{term.by} {term.fluent}({self.listed(term.items)})"

    def call(self, term: core.Call, env: bool) -> str:
        if term.op in _INFIX:
            text = f" {term.op} ".join(self.term(one, True) for one in term.args)
            return f"({text})" if env else text
        detail = f" {term.detail}" if term.detail else ""
        return f"{term.op}{detail}({self.listed(term.args)})"

    def fold(self, term: core.Fold, env: bool) -> str:
        value = "" if term.value is None else f"{self.term(term.value, False)} "
        return f"{term.fold}({value}for {self.bound(term.binders, term.where)})"

    def choice(self, term: core.Choice, env: bool) -> str:
        parts = (term.condition, term.then, term.otherwise)
        tested, then, otherwise = (self.term(one, True) for one in parts)
        return f"(if {tested} then {then} else {otherwise})"

    def type_test(self, term: core.TypeTest, env: bool) -> str:
        return f"{self.term(term.term, True)} is {term.of}"

    def derive_call(self, term: core.DeriveCall, env: bool) -> str:
        return f"{'was ' if term.was else ''}{term.derive}({self.listed(term.args)})"

    def text(self, term: core.Text, env: bool) -> str:
        return self.template(term.template)

    def listed(self, terms: Iterable[core.Term]) -> str:
        """Terms between commas."""
        return ", ".join(self.term(one, False) for one in terms)

    def template(self, template: core.Template) -> str:
        """A text with its holes, in quotes."""
        parts = (
            f"{{{self.term(one.term, False)}}}" if isinstance(one, core.Hole) else one.text
            for one in template.parts
        )
        return f'"{"".join(parts)}"'

    def bound(self, binders: Iterable[core.Binder], where: core.Term | None) -> str:
        """Binders and their condition."""
        text = ", ".join(self._binder(one) for one in binders)
        return text if where is None else f"{text} where {self.term(where, False)}"

    def _binder(self, binder: core.Binder) -> str:
        domain = binder.domain
        if isinstance(domain, TypeRange):
            return f"{binder.name}: {show_type(domain.of)}"
        if isinstance(domain, IntervalRange):
            return f"{binder.name}: {domain.low} to {domain.high}"
        only = "" if binder.only is None else f": {binder.only}"
        return f"{binder.name}{only} in {self.term(domain, True)}"

    def draw(self, draw: core.Draw) -> str:
        """A draw."""
        if isinstance(draw, core.BranchDraw):
            return f"branch({self.listed(draw.probabilities)})"
        if isinstance(draw, core.UniformDraw):
            return f"uniform({self.listed((draw.low, draw.high))})"
        key = draw.key if draw.weight is None else f"{draw.key} {self.term(draw.weight, False)}"
        return f"pick({self.bound(draw.binders, draw.where)} {key})"


class _ShownStatements(StatementVisitor[int, list[str]]):
    """Statements; the environment is the depth."""

    def _line(self, depth: int, text: str) -> list[str]:
        return [f"{'  ' * depth}{text}"]

    def _body(self, body: core.Body, depth: int) -> list[str]:
        return [line for one in body for line in self.statement(one, depth)]

    def _place(self, place: core.Place) -> str:
        return f"{place.fluent}({_TERMS.listed(place.args)})"

    def let(self, statement: core.Let, env: int) -> list[str]:
        value = statement.value
        if isinstance(value, (core.BranchDraw, core.PickDraw, core.UniformDraw)):
            text = _TERMS.draw(value)
        else:
            text = _TERMS.term(value, False)
        return self._line(env, f"let {', '.join(statement.names)} = {text}")

    def write(self, statement: core.Write, env: int) -> list[str]:
        place = self._place(statement.target)
        if statement.op in ("add", "remove"):
            return self._line(env, f"{statement.op} {place}")
        op = "+=" if statement.op == "+" else statement.op
        return self._line(env, f"{place} {op} {_TERMS.term(statement.value, False)}")

    def choose(self, statement: core.If, env: int) -> list[str]:
        lines = self._line(env, f"if {_TERMS.term(statement.condition, False)}")
        lines += self._body(statement.then, env + 1)
        if statement.otherwise:
            lines += [*self._line(env, "else"), *self._body(statement.otherwise, env + 1)]
        return lines

    def loop(self, statement: core.For, env: int) -> list[str]:
        head = f"for {_TERMS.bound(statement.binders, statement.where)}"
        return [*self._line(env, head), *self._body(statement.body, env + 1)]

    def create(self, statement: core.Create, env: int) -> list[str]:
        given = ", ".join(f"{one.fluent} = {_TERMS.term(one.value, False)}"
                          for one in statement.fields)  # fmt: skip
        return self._line(env, f"create {statement.name}: {statement.of} ({given})")

    def destroy(self, statement: core.Destroy, env: int) -> list[str]:
        return self._line(env, f"destroy {_TERMS.term(statement.target, False)}")

    def require(self, statement: core.Require, env: int) -> list[str]:
        label = f" else {statement.label}" if statement.label else ""
        return self._line(env, f"require {_TERMS.term(statement.condition, False)}{label}")

    def emit(self, statement: core.Emit, env: int) -> list[str]:
        return self._line(env, f"emit {statement.event}({_TERMS.listed(statement.args)})")

    def say(self, statement: core.Say, env: int) -> list[str]:
        return self._line(env, f"say {_TERMS.template(statement.template)}")

    def describe(self, statement: core.Describe, env: int) -> list[str]:
        return self._line(env, f"describe {_TERMS.term(statement.target, False)}")

    def reward(self, statement: core.Reward, env: int) -> list[str]:
        return self._line(env, f"reward {_TERMS.term(statement.amount, False)}")


_TERMS = _ShownTerms()
_STATEMENTS = _ShownStatements()
