"""Walking core: the parts of terms and statements, in written order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tokenworld.core.nodes import (
    Binder,
    Body,
    BranchDraw,
    Call,
    Choice,
    Create,
    DeriveCall,
    Describe,
    Destroy,
    Emit,
    Fold,
    For,
    Hole,
    If,
    Let,
    Members,
    PickDraw,
    Read,
    Require,
    Reward,
    Say,
    Statement,
    Template,
    Term,
    Text,
    TypeTest,
    UniformDraw,
    Variable,
    Write,
)
from tokenworld.core.visitor import StatementVisitor, TermVisitor
from tokenworld.model import IntervalRange, TypeRange

__all__ = [
    "binder_terms",
    "conjuncts",
    "evaluated",
    "is_draw",
    "mentions",
    "parts",
    "statements_in",
    "subterms",
    "template_terms",
    "terms_in",
]

Terms = tuple[Term, ...]


def binder_terms(binders: Iterable[Binder]) -> Terms:
    """The collections that binders range over."""
    return tuple(
        one.domain for one in binders if not isinstance(one.domain, (TypeRange, IntervalRange))
    )


def template_terms(template: Template) -> Terms:
    """The terms in the holes of a text."""
    return tuple(part.term for part in template.parts if isinstance(part, Hole))


def _present(*terms: Term | None) -> Terms:
    return tuple(term for term in terms if term is not None)


class _Parts(TermVisitor[None, Terms]):
    """The direct subterms of a term."""

    def _none(self, term: Term, env: None) -> Terms:
        return ()

    constant = object_name = param_value = variable = actor = _none

    def read(self, term: Read, env: None) -> Terms:
        return term.args

    def members(self, term: Members, env: None) -> Terms:
        return term.items

    def call(self, term: Call, env: None) -> Terms:
        return term.args

    def fold(self, term: Fold, env: None) -> Terms:
        return (*binder_terms(term.binders), *_present(term.where, term.value))

    def choice(self, term: Choice, env: None) -> Terms:
        return (term.condition, term.then, term.otherwise)

    def type_test(self, term: TypeTest, env: None) -> Terms:
        return (term.term,)

    def derive_call(self, term: DeriveCall, env: None) -> Terms:
        return term.args

    def text(self, term: Text, env: None) -> Terms:
        return template_terms(term.template)


class _Evaluated(StatementVisitor[None, tuple[Terms, tuple[Body, ...]]]):
    """The terms a statement evaluates itself, and its nested bodies.

    A place counts by its arguments only: writing a slot does not read it. Prose is rendered on the
    state after the body and is no read.
    """

    def let(self, statement: Let, env: None) -> tuple[Terms, tuple[Body, ...]]:
        value = statement.value
        if isinstance(value, BranchDraw):
            return value.probabilities, ()
        if isinstance(value, UniformDraw):
            return (value.low, value.high), ()
        if isinstance(value, PickDraw):
            return (*binder_terms(value.binders), *_present(value.where, value.weight)), ()
        return (value,), ()

    def write(self, statement: Write, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (*statement.target.args, statement.value), ()

    def choose(self, statement: If, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (statement.condition,), (statement.then, statement.otherwise)

    def loop(self, statement: For, env: None) -> tuple[Terms, tuple[Body, ...]]:
        terms = (*binder_terms(statement.binders), *_present(statement.where))
        return terms, (statement.body,)

    def create(self, statement: Create, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return tuple(one.value for one in statement.fields), ()

    def destroy(self, statement: Destroy, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (statement.target,), ()

    def require(self, statement: Require, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (statement.condition,), ()

    def emit(self, statement: Emit, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return statement.args, ()

    def say(self, statement: Say, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (), ()

    def describe(self, statement: Describe, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (), ()

    def reward(self, statement: Reward, env: None) -> tuple[Terms, tuple[Body, ...]]:
        return (statement.amount,), ()


_PARTS = _Parts()
_EVALUATED = _Evaluated()


def parts(term: Term) -> Terms:
    """The direct subterms."""
    return _PARTS.term(term, None)


def subterms(term: Term) -> Iterator[Term]:
    """The term and everything below it, parents first."""
    todo = [term]
    while todo:
        one = todo.pop()
        yield one
        todo += parts(one)[::-1]


def conjuncts(terms: Iterable[Term]) -> Iterator[Term]:
    """The parts of conditions that must all hold, in written order."""
    for term in terms:
        if isinstance(term, Call) and term.op == "and":
            yield from conjuncts(term.args)
        else:
            yield term


def evaluated(statement: Statement) -> Terms:
    """The terms that a statement evaluates itself, those of nested bodies left out."""
    return _EVALUATED.statement(statement, None)[0]


def is_draw(statement: Statement) -> bool:
    """Whether a statement names what is drawn (``by least`` and ``by most`` are counted too)."""
    draws = (BranchDraw, PickDraw, UniformDraw)
    return isinstance(statement, Let) and isinstance(statement.value, draws)


def statements_in(body: Body) -> Iterator[Statement]:
    """Every statement of a body, nested ones included."""
    for statement in body:
        yield statement
        for inner in _EVALUATED.statement(statement, None)[1]:
            yield from statements_in(inner)


def terms_in(body: Body) -> Iterator[Term]:
    """The terms that the statements of a body evaluate, nested ones included."""
    for statement in statements_in(body):
        yield from evaluated(statement)


def mentions(body: Body, names: Collection[str]) -> bool:
    """Whether some term of a body evaluates one of these variables."""
    every = (part for term in terms_in(body) for part in subterms(term))
    return any(isinstance(one, Variable) and one.name in names for one in every)
