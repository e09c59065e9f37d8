"""The order in which a rule is joined: from the new fact on, what says most comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokenworld.planning.grounding.rules import (
    Amount,
    Arg,
    Atom,
    Literal,
    Number,
    Operation,
    Range,
    Same,
    Slotted,
    Var,
    Widening,
    variables_in,
)

__all__ = ["ordered", "substituted", "unified"]


def unified(
    head: Atom | Widening, body: Sequence[Literal], kept: frozenset[Var]
) -> tuple[Atom | Widening, list[Literal]]:
    """A rule without variables that are equal to something else; those ``kept`` stay."""
    known: dict[Var, Arg] = {}
    literals = list(body)
    while (found := _equality(literals, kept)) is not None:
        place, var, value = found
        known = {one: value if to == var else to for one, to in known.items()}
        known[var] = value
        del literals[place]
        literals = [substituted(one, {var: value}) for one in literals]
    if isinstance(head, Atom):
        return Atom(head.relation, _args(head.args, known)), literals
    amount = None if head.amount is None else _amount(head.amount, known)
    return Widening(head.fluent, _args(head.args, known), amount), literals


def _equality(literals: Sequence[Literal], kept: frozenset[Var]) -> tuple[int, Var, Arg] | None:
    for place, one in enumerate(literals):
        if isinstance(one, Same) and one.op == "==" and one.left != one.right:
            for var, value in ((one.left, one.right), (one.right, one.left)):
                if isinstance(var, Var) and var not in kept:
                    return place, var, value
    return None


def substituted(literal: Literal, known: Mapping[Var, Arg]) -> Literal:
    """A literal with variables replaced."""
    match literal:
        case Atom(relation=relation, args=args, absent=absent):
            return Atom(relation, _args(args, known), absent)
        case Same(op=op, left=left, right=right):
            return Same(op, *_args((left, right), known))
        case Range(op=op, left=first, right=second):
            return Range(op, _amount(first, known), _amount(second, known))


def _args(args: tuple[Arg, ...], known: Mapping[Var, Arg]) -> tuple[Arg, ...]:
    return tuple(known.get(one, one) if isinstance(one, Var) else one for one in args)


def _amount(amount: Amount, known: Mapping[Var, Arg]) -> Amount:
    match amount:
        case Number(arg=arg):
            return Number(*_args((arg,), known))
        case Slotted(fluent=fluent, args=args):
            return Slotted(fluent, _args(args, known))
        case Operation(name=name, left=left, right=right):
            return Operation(name, _amount(left, known), _amount(right, known))


def ordered(body: Sequence[Literal], bound: frozenset[Var], fixed: frozenset[str]) -> list[Literal]:
    """The literals in the order to join them, with these variables bound already.

    A test comes as soon as all that it speaks of is bound. Of the others that atom comes next of
    which nothing is left open, then one that says something of what is bound, facts that are
    ``fixed`` before those that grow, and lists of a type last.
    """
    atoms = [_Waiting(one, fixed) for one in body if isinstance(one, Atom) and not one.absent]
    tests = [one for one in body if not (isinstance(one, Atom) and not one.absent)]
    known, found = {one.name for one in bound}, list[Literal]()
    while True:
        if tests:
            waits = {(one.atom.relation, one.atom.args) for one in atoms}
            ready = [one for one in tests if _is_ready(one, known, waits)]
            found += ready
            tests = [one for one in tests if one not in ready]
        if not atoms:
            return found + tests
        best = max(atoms, key=lambda one: one.says(known)) if len(atoms) > 1 else atoms[0]
        atoms.remove(best)
        found.append(best.atom)
        known.update(best.names)


class _Waiting:
    """An atom that is yet to be joined, with the names of its variables as they stand in it."""

    __slots__ = ("atom", "fixed", "names")

    def __init__(self, atom: Atom, fixed: frozenset[str]) -> None:
        self.atom = atom
        self.names = [arg.name for arg in atom.args if isinstance(arg, Var)]
        self.fixed = atom.relation in fixed and not atom.relation.startswith(":")

    def says(self, known: set[str]) -> tuple[bool, bool, bool, int]:
        left = 0
        for name in self.names:
            left += name not in known
        return left == 0, len(self.atom.args) > left, self.fixed, -left


def _is_ready(test: Literal, known: set[str], waits: set[tuple[str, tuple[Arg, ...]]]) -> bool:
    if isinstance(test, Range) and waits & _slots(test):
        return False
    return all(one.name in known for one in variables_in(test))


def _slots(part: Range | Amount) -> set[tuple[str, tuple[Arg, ...]]]:
    """The atoms that say that the slots in a comparison are there."""
    match part:
        case Slotted(fluent=fluent, args=args):
            return {(f"#{fluent}", args)}
        case Operation(left=left, right=right) | Range(left=left, right=right):
            return _slots(left) | _slots(right)
        case Number():
            return set()
