"""Walking core: the parts of terms and statements, in written order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tokenworld.core import nodes as core
from tokenworld.core.visitor import StatementVisitor, TermVisitor
from tokenworld.model import IntervalRange, TypeRange

Terms = tuple[core.Term, ...]


def binder_terms(binders: Iterable[core.Binder]) -> Terms:
    """The collections that binders range over."""
    return tuple(
        one.domain for one in binders if not isinstance(one.domain, (TypeRange, IntervalRange))
    )


def template_terms(template: core.Template) -> Terms:
    """The terms in the holes of a text."""
    return tuple(part.term for part in template.parts if isinstance(part, core.Hole))


def _present(*terms: core.Term | None) -> Terms:
    return tuple(term for term in terms if term is not None)


class _Parts(TermVisitor[None, Terms]):
    """The direct subterms of a term."""

    def _none(self, term: core.Term, env: None) -> Terms:
        return ()

    constant = object_name = param_value = variable = actor = _none

    def read(self, term: core.Read, env: None) -> Terms:
        return term.args

    def members(self, term: core.Members, env: None) -> Terms:
        return term.items

    def call(self, term: core.Call, env: None) -> Terms:
        return term.args

    def fold(self, term: core.Fold, env: None) -> Terms:
        return (*binder_terms(term.binders), *_present(term.where, term.value))

    def choice(self, term: core.Choice, env: None) -> Terms:
        return (term.condition, term.then, term.otherwise)

    def type_test(self, term: core.TypeTest, env: None) -> Terms:
        return (term.term,)

    def derive_call(self, term: core.DeriveCall, env: None) -> Terms:
        return term.args

    def text(self, term: core.Text, env: None) -> Terms:
        return template_terms(term.template)


class _Evaluated(StatementVisitor[None, tuple[Terms, tuple[core.Body, ...]]]):
    """The terms a statement evaluates itself, and its nested bodies.

    A place counts by its arguments only: writing a slot does not read it. Prose is rendered on the
    state after the body and is no read.
    """

    def let(self, statement: core.Let, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        value = statement.value
        if isinstance(value, core.BranchDraw):
            return value.probabilities, ()
        if isinstance(value, core.UniformDraw):
            return (value.low, value.high), ()
        if isinstance(value, core.PickDraw):
            return (*binder_terms(value.binders), *_present(value.where, value.weight)), ()
        return (value,), ()

    def write(self, statement: core.Write, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (*statement.target.args, statement.value), ()

    def choose(self, statement: core.If, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (statement.condition,), (statement.then, statement.otherwise)

    def loop(self, statement: core.For, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        terms = (*binder_terms(statement.binders), *_present(statement.where))
        return terms, (statement.body,)

    def create(self, statement: core.Create, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return tuple(one.value for one in statement.fields), ()

    def destroy(self, statement: core.Destroy, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (statement.target,), ()

    def require(self, statement: core.Require, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (statement.condition,), ()

    def emit(self, statement: core.Emit, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return statement.args, ()

    def say(self, statement: core.Say, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (), ()

    def describe(self, statement: core.Describe, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (), ()

    def reward(self, statement: core.Reward, env: None) -> tuple[Terms, tuple[core.Body, ...]]:
        return (statement.amount,), ()


_PARTS = _Parts()
_EVALUATED = _Evaluated()


def parts(term: core.Term) -> Terms:
    """The direct subterms."""
    return _PARTS.term(term, None)


def subterms(term: core.Term) -> Iterator[core.Term]:
    """The term and everything below it, parents first."""
    todo = [term]
    while todo:
        one = todo.pop()
        yield one
        todo += parts(one)[::-1]


def conjuncts(terms: Iterable[core.Term]) -> Iterator[core.Term]:
    """The parts of conditions that must all hold, in written order."""
    for term in terms:
        if isinstance(term, core.Call) and term.op == "and":
            yield from conjuncts(term.args)
        else:
            yield term


def evaluated(statement: core.Statement) -> Terms:
    """The terms that a statement evaluates itself, those of nested bodies left out."""
    return _EVALUATED.statement(statement, None)[0]


def is_draw(statement: core.Statement) -> bool:
    """Return whether a statement names a drawn value (``by least`` and ``by most`` count too)."""
    draws = (core.BranchDraw, core.PickDraw, core.UniformDraw)
    return isinstance(statement, core.Let) and isinstance(statement.value, draws)


def statements_in(body: core.Body) -> Iterator[core.Statement]:
    """Every statement of a body, nested ones included."""
    for statement in body:
        yield statement
        for inner in _EVALUATED.statement(statement, None)[1]:
            yield from statements_in(inner)


def terms_in(body: core.Body) -> Iterator[core.Term]:
    """The terms that the statements of a body evaluate, nested ones included."""
    for statement in statements_in(body):
        yield from evaluated(statement)


def mentions(body: core.Body, names: Collection[str]) -> bool:
    """Return whether some term of a body evaluates one of these variables."""
    every = (part for term in terms_in(body) for part in subterms(term))
    return any(isinstance(one, core.Variable) and one.name in names for one in every)
