"""Mutation operators: small wrong changes of a checked program, one at a time.

Each changes one place as a slip of the author would: a require left out, a comparison turned, two
arguments exchanged, an effect forgotten. Prose is left alone: what is said is no rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import (
    Action,
    And,
    Arithmetic,
    Assign,
    Body,
    BoolLiteral,
    Chance,
    Compare,
    DeriveCall,
    DescribeEffect,
    Draw,
    Effect,
    EnumLiteral,
    EnumType,
    Fold,
    For,
    If,
    Law,
    Let,
    Not,
    NumberLiteral,
    NumberType,
    Or,
    Pick,
    Program,
    Read,
    Require,
    Say,
    Term,
    Transfer,
    children,
    map_children,
)

__all__ = ["Mutant", "mutants"]

_FLIPPED = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_FOLDS = {"any": "all", "all": "any", "first": "last", "last": "first", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one change: the operator's name, what was changed, and where."""

    operator: str
    what: str
    span: Span
    program: Program


@dataclass(frozen=True, slots=True)
class _Change:
    """A changed part, and how it came about."""

    operator: str
    what: str
    span: Span


Changed = tuple[_Change, Term]


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of the actions, laws and derives, in order of declaration."""
    for name, action in program.actions.items():
        for change, new in _of_action(action, program):
            actions = {**program.actions, name: new}
            yield _mutant(change, replace(program, actions=actions))
    for name, law in program.laws.items():
        rest = {key: one for key, one in program.laws.items() if key != name}
        gone = _Change("drop law", f"law {name} left out", law.span)
        if not _spoken_of(program, name):
            yield _mutant(gone, replace(program, laws=rest))
        for change, changed in _of_law(law, program):
            yield _mutant(change, replace(program, laws={**program.laws, name: changed}))
    for name, derive in program.derives.items():
        for change, value in terms(derive.value, program):
            new_derive = replace(derive, value=value)
            yield _mutant(change, replace(program, derives={**program.derives, name: new_derive}))


def _mutant(change: _Change, program: Program) -> Mutant:
    return Mutant(change.operator, change.what, change.span, program)


def _spoken_of(program: Program, law: str) -> bool:
    """Whether a `conserve … except` names the law, which then must stay."""
    return any(law in rule.exempt for rule in program.conserves.values())


def _of_action(action: Action, program: Program) -> Iterator[tuple[_Change, Action]]:
    for index, guard in enumerate(action.guards):
        before, after = action.guards[:index], action.guards[index + 1 :]
        if isinstance(guard, Require):
            text = f"require {guard.source} left out"
            gone = _Change("drop require", text, guard.span)
            yield gone, replace(action, guards=(*before, *after))
            for change, term in terms(guard.condition, program):
                new = replace(guard, condition=term)
                yield change, replace(action, guards=(*before, new, *after))
        else:
            for change, let in _of_let(guard, program):
                yield change, replace(action, guards=(*before, let, *after))
    for change, body in bodies(action.body, program):
        yield change, replace(action, body=body)
    for change, body in bodies(action.cancelled, program):
        yield change, replace(action, cancelled=body)


def _of_law(law: Law, program: Program) -> Iterator[tuple[_Change, Law]]:
    if law.when is not None:
        for change, term in terms(law.when, program):
            yield change, replace(law, when=term)
    for change, body in bodies(law.body, program):
        yield change, replace(law, body=body)


def _of_let(let: Let, program: Program) -> Iterator[tuple[_Change, Let]]:
    if not isinstance(let.value, Draw):
        for change, term in terms(let.value, program):
            yield change, replace(let, value=term)


# ---- terms ------------------------------------------------------------------------------


def terms(term: Term, program: Program) -> Iterator[Changed]:
    """The term with one change, at its root or below."""
    yield from _root(term, program)
    for place, child in enumerate(children(term)):
        for change, new in terms(child, program):
            yield change, _with_child(term, place, new)


def _with_child(term: Term, place: int, new: Term) -> Term:
    """The term with its child number ``place`` replaced.

    `map_children` visits a fold's range, filter and value in another order than `children` lists
    them, so the child is told by identity.
    """
    old = children(term)[place]
    done = False

    def change(child: Term) -> Term:
        nonlocal done
        if child is old and not done:
            done = True
            return new
        return child

    return map_children(term, change)


def _root(term: Term, program: Program) -> Iterator[Changed]:
    match term:
        case Compare(op=op):
            what = f"{op} became {_FLIPPED[op]}"
            yield _Change("flip comparison", what, term.span), replace(term, op=_FLIPPED[op])  # type: ignore[arg-type]
        case And(terms=parts):
            yield _Change("and to or", "and became or", term.span), Or(parts, term.type, term.span)
        case Or(terms=parts):
            yield _Change("or to and", "or became and", term.span), And(parts, term.type, term.span)
        case Not(term=inner):
            yield _Change("drop not", "not left out", term.span), inner
        case BoolLiteral(value=value):
            what = f"{str(value).lower()} became {str(not value).lower()}"
            yield _Change("flip truth", what, term.span), replace(term, value=not value)
        case NumberLiteral() | EnumLiteral():
            yield from _literal(term, program)
        case Arithmetic(op="+" | "-" as op):
            other: Literal["+", "-"] = "-" if op == "+" else "+"
            yield (
                _Change("plus to minus", f"{op} became {other}", term.span),
                replace(term, op=other),
            )
        case Fold(fold=fold) if fold in _FOLDS:
            what = f"{fold} became {_FOLDS[fold]}"
            if fold not in ("any", "all") or term.value is not None:
                yield _Change("other fold", what, term.span), replace(term, fold=_FOLDS[fold])  # type: ignore[arg-type]
        case Read(args=args) | DeriveCall(args=args) if len(args) == 2:
            if args[0].type == args[1].type and args[0] != args[1]:
                change = _Change("swap arguments", "two arguments changed places", term.span)
                yield change, replace(term, args=(args[1], args[0]))
        case _:
            return


def _literal(term: NumberLiteral | EnumLiteral, program: Program) -> Iterator[Changed]:
    """The next number, the next member."""
    if isinstance(term, NumberLiteral):
        if isinstance(term.type, NumberType) and isinstance(term.value, int):
            value = term.value + 1
            kind = replace(term.type, low=value, high=value)
            change = _Change("other number", "a number became greater by one", term.span)
            yield change, replace(term, value=value, type=kind)
        return
    members = program.enums[term.enum].members
    if len(members) > 1 and isinstance(term.type, EnumType):
        index = (term.index + 1) % len(members)
        what = f"{term.member} became {members[index]}"
        yield (
            _Change("other member", what, term.span),
            replace(term, index=index, member=members[index]),
        )


# ---- bodies -----------------------------------------------------------------------------


def bodies(body: Body, program: Program) -> Iterator[tuple[_Change, Body]]:
    """The body with one change: an effect left out or altered, here or further in."""
    for place, effect in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if isinstance(effect, (Say, DescribeEffect)):
            continue
        if not _named(effect):
            what = f"{effect.kind} left out"
            yield _Change("drop effect", what, effect.span), (*before, *after)
        for change, new in _effects(effect, program):
            yield change, (*before, new, *after)


def _named(effect: Effect) -> bool:
    """Whether the effect brings a name that later ones may use."""
    return effect.kind in ("let", "create")


def _effects(effect: Effect, program: Program) -> Iterator[tuple[_Change, Effect]]:
    match effect:
        case Assign(op="+=" | "-=" as op):
            other: Literal["+=", "-="] = "-=" if op == "+=" else "+="
            yield (
                _Change("turn step", f"{op} became {other}", effect.span),
                replace(effect, op=other),
            )
            yield from _assigned(effect, program)
        case Assign():
            yield from _assigned(effect, program)
        case Transfer(source=source, target=target):
            turned = replace(effect, source=target, target=source)
            yield _Change("turn transfer", "transfer goes the other way", effect.span), turned
        case If(condition=condition, then=then, otherwise=otherwise):
            for change, term in terms(condition, program):
                yield change, replace(effect, condition=term)
            for change, body in bodies(then, program):
                yield change, replace(effect, then=body)
            for change, body in bodies(otherwise, program):
                yield change, replace(effect, otherwise=body)
        case For(body=inner):
            for change, body in bodies(inner, program):
                yield change, replace(effect, body=body)
        case Chance() | Pick():
            yield from _drawn(effect, program)
        case Let():
            yield from _of_let(effect, program)
        case _:
            return


def _assigned(effect: Assign, program: Program) -> Iterator[tuple[_Change, Effect]]:
    for change, term in terms(effect.value, program):
        yield change, replace(effect, value=term)


def _drawn(effect: Chance | Pick, program: Program) -> Iterator[tuple[_Change, Effect]]:
    for change, body in bodies(effect.otherwise, program):
        yield change, replace(effect, otherwise=body)
    if isinstance(effect, Pick):
        for change, body in bodies(effect.body, program):
            yield change, replace(effect, body=body)
        return
    for index, branch in enumerate(effect.branches):
        for change, body in bodies(branch.body, program):
            branches = list(effect.branches)
            branches[index] = replace(branch, body=body)
            yield change, replace(effect, branches=tuple(branches))
