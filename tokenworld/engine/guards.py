"""What must hold at every commit: invariants and conserved sums (language.md §7)."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.applying import apply
from tokenworld.engine.compile import Code, Function, compile_term, extend
from tokenworld.engine.delta import Delta, RawChange
from tokenworld.engine.result import BreachReport
from tokenworld.engine.state import State
from tokenworld.model import Conserve, Invariant, Program, Read, Term, deep_subterms
from tokenworld.model.terms import ClosureOf, InverseOf

__all__ = ["Broken", "Guards"]


class Broken(Exception):
    """An invariant or a conserved sum is broken: the tick is rolled back.

    ``names`` are those of all objects in the discarded state, which may have more than any other.
    """

    def __init__(
        self, report: BreachReport, changes: list[RawChange], names: tuple[str, ...]
    ) -> None:
        super().__init__(report.message)
        self.report, self.changes, self.names = report, changes, names


@frozen
class _Invariant:
    rule: Invariant
    reads: frozenset[str] | None
    broken: Function


@frozen
class _Conserve:
    rule: Conserve
    reads: frozenset[str] | None
    value: Function


def reads_of(program: Program, *terms: Term) -> frozenset[str] | None:
    """The fluents that terms read, through derives; ``None``: who lives matters too."""
    from tokenworld.model import BuiltinCall

    found: set[str] = set()
    for term in deep_subterms(terms, program.derives):
        if isinstance(term, (Read, InverseOf, ClosureOf)):
            found.add(term.fluent)
        elif isinstance(term, BuiltinCall) and term.name in ("tick", "score", "busy", "did"):
            return None
    return frozenset(found)


class Guards:
    """The invariants and conserved sums of one compiled program."""

    def __init__(self, code: Code, program: Program) -> None:
        self._invariants = tuple(
            _Invariant(rule, reads_of(program, rule.condition), _broken(code, rule))
            for rule in program.invariants.values()
        )
        self._conserves = tuple(
            _Conserve(rule, reads_of(program, rule.value), compile_term(code, rule.value))
            for rule in program.conserves.values()
        )

    @property
    def conserves(self) -> bool:
        """Whether any sum is conserved."""
        return bool(self._conserves)

    def keeps_sums(self, before: State, after: State, fluents: frozenset[str]) -> bool:
        """Whether the conserved sums that rest on these fluents are the same in both states."""
        return all(
            one.value(before, before, before.me) == one.value(after, before, before.me)
            for one in self._conserves
            if one.reads is None or one.reads & fluents
        )

    def watches(self, fluents: frozenset[str]) -> bool:
        """Whether a change of these fluents may break an invariant."""
        return any(one.reads is None or one.reads & fluents for one in self._invariants)

    def check_invariants(
        self, before: State, after: State, changes: list[RawChange], me: int | None
    ) -> None:
        """Raise `Broken` for the first invariant that the changes broke."""
        if not self._invariants:
            return
        touched = {column.fluent.id for column, *_ in changes}
        everything = before.kinds is not after.kinds
        for one in self._invariants:
            if not everything and one.reads is not None and not (one.reads & touched):
                continue
            witness = one.broken(after, before, me)
            if witness is not None:
                raise Broken(self._report(after, one.rule, witness, changes), changes, after.names)

    def first_broken(self, state: State, me: int | None) -> BreachReport | None:
        """The first invariant that a state breaks, for the start state (TW0605)."""
        for one in self._invariants:
            witness = one.broken(state, state, me)
            if witness is not None:
                return self._report(state, one.rule, witness, [])
        return None

    def broken(self, state: State, me: int | None) -> tuple[BreachReport, ...]:
        """Every invariant that a state breaks, each with its first witness."""
        found = ((one.rule, one.broken(state, state, me)) for one in self._invariants)
        return tuple(
            self._report(state, rule, witness, []) for rule, witness in found if witness is not None
        )

    def _report(
        self,
        state: State,
        rule: Invariant,
        witness: tuple[object, ...],
        changes: list[RawChange],
    ) -> BreachReport:
        shown = tuple(
            state.names[value]
            if isinstance(value, int) and binder.type.kind == "object"
            else str(value)
            for binder, value in zip(rule.params, witness, strict=True)
        )
        culprits = tuple(dict.fromkeys(title for *_, title in changes))
        what = f"The invariant `{rule.name}` would be broken: `{rule.source}`."
        return BreachReport("TW1001", "invariant", what, rule.name, str(rule.span), shown, culprits)

    def check_conserved(
        self, before: State, after: State, delta: Delta, changes: list[RawChange], me: int | None
    ) -> None:
        """Raise `Broken` where a rule that may not changed a conserved sum."""
        if not self._conserves:
            return
        touched = {column.fluent.id for column, *_ in changes}
        everything = before.kinds is not after.kinds
        for one in self._conserves:
            if not everything and one.reads is not None and not (one.reads & touched):
                continue
            first = one.value(before, before, me)
            last = one.value(self._unexempted(one, before, after, delta), before, me)
            if first != last:
                report = self._conserve_report(one.rule, changes, first, last)
                raise Broken(report, changes, after.names)

    def _unexempted(self, one: _Conserve, before: State, after: State, delta: Delta) -> State:
        """The state as the rules that may not change the sum, applied alone, would leave it."""
        exempt = {f"{kind} {name}" for name in one.rule.exempt for kind in ("action", "law")}
        if exempt.isdisjoint(rule.title for rule in delta.fired):
            return after
        alone = before.fork()
        apply(alone, delta.without(frozenset(exempt)))
        return alone

    def _conserve_report(
        self, rule: Conserve, changes: list[RawChange], first: int, last: int
    ) -> BreachReport:
        culprits = tuple(dict.fromkeys(title for *_, title in changes))
        what = f"`{rule.name}` is conserved, and would go from {first} to {last}: `{rule.source}`."
        return BreachReport(
            "TW1002", "conserve", what, rule.name, str(rule.span), (), culprits, first, last
        )


def _broken(code: Code, rule: Invariant) -> Function:
    """``(S, W, me)``: the first binding for which the condition is false, or ``None``."""
    emitter = code.emitter
    clauses, inner = emitter.clauses(rule.params, None, {})
    condition = emitter.term(rule.condition, inner)
    row = ", ".join(inner[binder.name] for binder in rule.params)
    comma = "," if len(rule.params) == 1 else ""
    name = emitter.fresh("inv")
    if rule.params:
        value = f"next((({row}{comma}) {clauses} if not {condition}), None)"
    else:
        value = f"None if {condition} else ()"
    extend(code, f"def {name}(S, W, me):\n    return {value}\n")
    found: Function = code.space[name]
    return found


__all__ += ["reads_of"]
