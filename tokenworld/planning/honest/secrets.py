"""Secrets: those that a plan depends on, and those that trying commands can reveal.

A plan is made with full knowledge. If an action of it reads a `secret` value in a require or in its
effects, a player could not have made that plan (TW0808), unless an earlier step showed the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod

from tokenworld.core import lowered
from tokenworld.core.nodes import (
    Body,
    Call,
    DeriveCall,
    Describe,
    Members,
    Read,
    Say,
    Term,
    Variable,
)
from tokenworld.core.rules import Action
from tokenworld.core.walk import statements_in, subterms, template_terms, terms_in
from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Instance, parameter_domains, slots
from tokenworld.model import BoolType, Program


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
        action = lowered(program).actions[command.action]
        for fluent, place in _reads(program, _decided_by(action)):
            if fluent not in known:
                known.add(fluent)
                found.append(_warning(program, action, number, fluent, place))
        known |= {fluent for fluent, _ in _reads(program, _spoken(program, action))}
    return tuple(found)


def told_by(instance: Instance, actions: Iterable[str]) -> frozenset[str]:
    """The secrets that executed actions always show: those with one slot, which play never changes,
    printed unchanged."""
    program, rules = instance.program, lowered(instance.program)
    said = (one for name in dict.fromkeys(actions) for one in rules.actions[name].body)
    shown = (term for one in said if isinstance(one, Say) for term in template_terms(one.template))
    fluents = {one.fluent for one in shown if isinstance(one, Read)} - rules.changing
    return frozenset(
        one for one in fluents if len(tuple(islice(slots(instance, program.fluents[one]), 2))) == 1
    )


def deciding(
    instance: Instance, actions: Sequence[str], shown: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The names of secrets that decide the effect of these actions, in this order, and of time.

    The actions, the laws, the endings or the invariants read them; those that were ``shown`` or
    that an earlier action shows are known.
    """
    program, known = instance.program, set(shown)
    found = dict.fromkeys(fluent for fluent, _ in _reads(program, _standing(instance)))
    for name in actions:
        action = lowered(program).actions[name]
        found |= {one: None for one, _ in _reads(program, _decided_by(action)) if one not in known}
        known |= told_by(instance, (name,))
    return tuple(program.fluents[one].name for one in found if one not in shown)


def _standing(instance: Instance) -> Iterator[Term]:
    """The terms that are evaluated in every tick."""
    rules = lowered(instance.program)
    for law in rules.laws.values():
        yield from () if law.when is None else (law.when,)
        yield from terms_in(law.body)
    yield from (one.condition for one in rules.worlds[instance.world.name].endings)
    yield from (one.condition for one in rules.invariants.values())
    yield from (one.value for one in rules.conserves.values())


def _warning(program: Program, action: Action, step: int, fluent: str, place: Span) -> Diagnostic:
    name = program.fluents[fluent].name
    return Diagnostic(
        "TW0808",
        f"Step {step} of the plan, `{action.name}`, depends on the secret `{name}`.",
        place,
        "reads a secret",
        hint="Let the world reveal it first, and make this depend on that.",
    )


def _reads(program: Program, terms: Iterator[Term]) -> Iterator[tuple[str, Span]]:
    """Yield the secrets that terms read, also through derives, each with its place."""
    for term in terms:
        for part in subterms(term):
            if isinstance(part, (Read, Members)) and part.fluent:
                if program.fluents[part.fluent].secret:
                    yield part.fluent, part.span
            elif isinstance(part, DeriveCall):
                touched = lowered(program).derives[part.derive].footprint
                read = touched.reads | touched.was
                every = (one for one in program.fluents.values() if one.id in read)
                yield from ((one.id, part.span) for one in every if one.secret)


def _decided_by(action: Action) -> Iterator[Term]:
    """The terms that decide whether an action is executed, and its effect."""
    yield from terms_in(action.guards)
    yield from (term for term in (action.takes, action.until) if term is not None)
    yield from terms_in((*action.body, *action.cancelled))


def _spoken(program: Program, action: Action) -> Iterator[Term]:
    """The terms that an action shows in words, those of descriptions included."""
    body = (*action.body, *action.cancelled)
    yield from _said(body)
    if any(isinstance(one, Describe) for one in statements_in(body)):
        for rule in lowered(program).descriptions:
            yield from _said(rule.body)


def _said(body: Body) -> Iterator[Term]:
    for one in statements_in(body):
        if isinstance(one, Say):
            yield from template_terms(one.template)


# ---- guessing ---------------------------------------------------------------------------------


def guesses(instance: Instance) -> tuple[Guess, ...]:
    """The actions by which a secret can be found out by trying."""
    found = (_guess(instance, action) for action in lowered(instance.program).actions.values())
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
    if isinstance(term, Call) and term.op == "==":
        left, right = term.args
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Variable) and (secret := _secret(program, other)):
                yield one.name, secret
    elif isinstance(term, Read) and isinstance(term.type, BoolType):
        hidden = program.fluents[term.fluent].secret
        yield from (
            (arg.name, term.fluent) for arg in term.args if hidden and isinstance(arg, Variable)
        )


def _secret(program: Program, term: Term) -> str:
    """The secret that a term shows, if it does."""
    for part in subterms(term):
        if isinstance(part, Read) and program.fluents[part.fluent].secret:
            return part.fluent
    return ""
