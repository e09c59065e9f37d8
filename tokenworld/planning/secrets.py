"""Secrets: which of them a plan rests on, and which can be found out by trying.

A plan is made by someone who sees everything. Where an action of it reads a `secret` value in a
require or in its effects, a player could not have made that plan (TW0808), unless an earlier step
told the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Instance, parameter_domains
from tokenworld.model import (
    Action,
    Body,
    BoolType,
    ClosureOf,
    Compare,
    DeriveCall,
    DescribeEffect,
    InverseOf,
    Local,
    Program,
    Read,
    Say,
    Term,
    body_terms,
    deep_subterms,
    effects_in,
    guard_terms,
    slot_terms,
    subterms,
)

__all__ = ["Guess", "guesses", "secrets_read"]


@frozen
class Guess:
    """An action that tests guesses: its ``params`` are compared with the secrets ``fluents``.

    ``tries`` guesses are enough to find the answer by trying them all.
    """

    action: str
    params: tuple[str, ...]
    fluents: tuple[str, ...]
    tries: int
    span: Span


def secrets_read(
    program: Program, commands: Sequence[Command], harmless: frozenset[str] = frozenset()
) -> tuple[Diagnostic, ...]:
    """A warning for each secret that an action of the plan reads, at the first place it does.

    What an earlier step said counts as known. ``harmless`` are secrets whose value does not
    matter to the plan.
    """
    known = set(harmless)
    found = list[Diagnostic]()
    for number, command in enumerate(commands, 1):
        if command.is_pass:
            continue
        action = program.actions[command.action]
        for fluent, place in _reads(program, _decided_by(action)):
            if fluent not in known:
                known.add(fluent)
                found.append(_warning(program, action, number, fluent, place))
        known |= {fluent for fluent, _ in _reads(program, _spoken(program, action))}
    return tuple(found)


def _warning(program: Program, action: Action, step: int, fluent: str, place: Span) -> Diagnostic:
    name = program.fluents[fluent].name
    return Diagnostic(
        "TW0808",
        f"Step {step} of the plan, `{action.name}`, rests on the secret `{name}`.",
        place,
        "reads a secret",
        hint="Let the world reveal it first, and make this depend on that.",
    )


def _reads(program: Program, terms: Iterator[Term]) -> Iterator[tuple[str, Span]]:
    """The secrets that terms read, also through what they derive, each with the place."""
    for term in terms:
        for part in subterms(term):
            match part:
                case Read() | InverseOf() | ClosureOf() if program.fluents[part.fluent].secret:
                    yield part.fluent, part.span
                case DeriveCall():
                    yield from ((one, part.span) for one in _derived_from(program, part.derive))
                case _:
                    pass


def _derived_from(program: Program, name: str) -> tuple[str, ...]:
    """The secrets that a derived fact depends on."""
    reads = (Read, InverseOf, ClosureOf)
    parts = deep_subterms([program.derives[name].value], program.derives)
    fluents = dict.fromkeys(part.fluent for part in parts if isinstance(part, reads))
    return tuple(fluent for fluent in fluents if program.fluents[fluent].secret)


def _decided_by(action: Action) -> Iterator[Term]:
    """The terms that decide whether an action is done and what it does."""
    yield from guard_terms(action)
    yield from (term for term in (action.takes, action.until) if term is not None)
    yield from body_terms(action.body)


def _spoken(program: Program, action: Action) -> Iterator[Term]:
    """The terms that an action shows in words, those of descriptions included."""
    yield from _said(action.body)
    if any(isinstance(effect, DescribeEffect) for effect in effects_in(action.body)):
        for rule in program.describes:
            yield from _said(rule.body)


def _said(body: Body) -> Iterator[Term]:
    for effect in effects_in(body):
        if isinstance(effect, Say):
            yield from slot_terms(effect.template)


# ---- guessing ---------------------------------------------------------------------------------


def guesses(instance: Instance) -> tuple[Guess, ...]:
    """The actions by which a secret can be found out by trying."""
    found = (_guess(instance, action) for action in instance.program.actions.values())
    return tuple(one for one in found if one is not None)


def _guess(instance: Instance, action: Action) -> Guess | None:
    params: dict[str, None] = {}
    fluents: dict[str, None] = {}
    for term in _decided_by(action):
        for part in subterms(term):
            for name, fluent in _compared(instance.program, part):
                params[name], fluents[fluent] = None, None
    domains = parameter_domains(instance, action.params)
    sizes = {
        binder.name: len(domain) for binder, domain in zip(action.params, domains, strict=True)
    }
    tested = tuple(binder.name for binder in action.params if binder.name in params)
    tries = prod(sizes[name] for name in tested)
    return Guess(action.name, tested, tuple(fluents), tries, action.span) if tested else None


def _compared(program: Program, term: Term) -> Iterator[tuple[str, str]]:
    """Pairs of a parameter and the secret that a term compares it with."""
    match term:
        case Compare(op="==" | "!=", left=left, right=right):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Local) and (secret := _secret(program, other)):
                    yield one.name, secret
        case Read(type=BoolType(), args=args) if program.fluents[term.fluent].secret:
            yield from ((arg.name, term.fluent) for arg in args if isinstance(arg, Local))


def _secret(program: Program, term: Term) -> str:
    """The secret that a term shows, if it does."""
    for part in subterms(term):
        if isinstance(part, Read) and program.fluents[part.fluent].secret:
            return part.fluent
    return ""
