"""Constraints on a plan besides the requires of its steps: endings, invariants, conserved sums.

An invariant that every rule provably keeps is left out, and so is a conserved sum that no rule
provably changes: they cost nothing and draw nothing into the plan's concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from tokenworld.core.nodes import Call, Fold, Term
from tokenworld.core.rules import Conserve, Ending, Footprint, Invariant
from tokenworld.diagnostics import Span
from tokenworld.planning.lower.algebra import Env, Refused
from tokenworld.planning.lower.blocks import Block, Moment
from tokenworld.planning.lower.diagram import Diagram, Value
from tokenworld.planning.lower.numbers import arithmetic

Part = tuple[int, Diagram]
"""A summand with its sign."""
Happening = tuple[Block, Callable[[], Diagram]]
"""A block and where it can happen."""


class Guards:
    """The conditions of one world, as diagrams over the state between two ticks."""

    def __init__(self, moment: Moment, goal: str | None) -> None:
        self._moment, self._goal = moment, goal
        self._terms, self._diagrams = moment.terms, moment.diagrams
        self._facts = moment.variables.facts
        self._endings = self._facts.rules.worlds[self._facts.instance.world.name].endings
        self._sums: dict[str, list[Part]] = {}

    # ---- endings --------------------------------------------------------------------------

    def won(self) -> Diagram:
        """Where the goal is reached: its line is the ending (language.md §8, step 11)."""
        if self._every_line_latches():
            losses = self._any(self._holds(line) for line in self._lines(self._is_loss))
            goals = self._any(self._holds(line) for line in self._lines(self._is_target))
            return self._diagrams.both(goals, self._diagrams.negate(losses))
        return self._first(self._is_target)

    def lost(self) -> Diagram:
        """Where a loss is reached, or an end that is no goal."""
        if self._every_line_latches() or self._facts.instance.world.outcomes == "live":
            return self.over()
        return self._first(lambda line: line.ending != "goal")

    def over(self) -> Diagram:
        """Where no plan goes on: after a loss, or after any end of a world that has one."""
        world = self._facts.instance.world
        if self._every_line_latches():
            return self._any(self._holds(line) for line in self._lines(self._is_loss))
        if world.outcomes == "live":
            return self._first(self._is_loss)
        return self._first(lambda line: not self._is_target(line))

    def _every_line_latches(self) -> bool:
        """Whether endings do not exclude each other; otherwise the first true line counts."""
        world = self._facts.instance.world
        return world.endless and world.outcomes == "latched"

    def _is_target(self, line: Ending) -> bool:
        return line.ending == "goal" and self._goal in (None, line.name)

    def _is_loss(self, line: Ending) -> bool:
        return line.ending == "lose"

    def _lines(self, wanted: Callable[[Ending], bool]) -> Iterator[Ending]:
        return (line for line in self._endings if wanted(line))

    def _holds(self, line: Ending) -> Diagram:
        self._looks_at_now(line.footprint, "`was` outside of laws", line.span)
        return self._terms.condition(line.condition, Env())

    def _looks_at_now(self, footprint: Footprint, what: str, span: Span) -> None:
        if footprint.was:
            raise Refused(what, span, "between two ticks nothing is kept of the tick before")

    def _first(self, wanted: Callable[[Ending], bool]) -> Diagram:
        """Where the first line that holds, in written order, is a wanted one."""
        both, negate = self._diagrams.both, self._diagrams.negate
        found, none_before = self._diagrams.false, self._diagrams.true
        for line in self._endings:
            holds = self._holds(line)
            if wanted(line):
                found = self._diagrams.either(found, both(none_before, holds))
            none_before = both(none_before, negate(holds))
        return found

    def _any(self, conditions: Iterable[Diagram]) -> Diagram:
        result = self._diagrams.false
        for condition in conditions:
            result = self._diagrams.either(result, condition)
        return result

    # ---- invariants -----------------------------------------------------------------------

    def invariants(self, blocks: Sequence[Happening]) -> Diagram:
        """The invariants that a block may break; with each block goes where it can happen."""
        result = self._diagrams.true
        for invariant in self._facts.rules.invariants.values():
            for condition in self._bound(invariant):
                if not self._kept(condition, blocks):
                    self._only_stored(invariant, condition)
                    result = self._diagrams.both(result, condition)
        return result

    def _only_stored(self, invariant: Invariant, condition: Diagram) -> None:
        """An invariant is looked at before the tick is counted: that moment is not encoded."""
        variables = self._moment.variables
        for level in sorted(self._diagrams.support(condition)):
            if not variables.is_stored(variables.slots[level]):
                reason = "it is looked at before the tick counts"
                what = f"`tick()`, `busy` or `did` in the invariant `{invariant.name}`"
                raise Refused(what, invariant.span, reason)

    def _bound(self, invariant: Invariant) -> Iterable[Diagram]:
        self._looks_at_now(invariant.footprint, "`was` in an invariant", invariant.span)
        names = [param.name for param in invariant.params]
        for args in product(*self._facts.choices(invariant.params)):
            exist = self._terms.exist(invariant.params, args)
            values = (self._diagrams.leaf(arg) for arg in args)
            env: Env[Diagram] = Env(dict(zip(names, values, strict=True)))
            holds = self._terms.condition(invariant.condition, env)
            yield self._diagrams.either(self._diagrams.negate(exist), holds)

    def _kept(self, condition: Diagram, blocks: Sequence[Happening]) -> bool:
        """Whether it is shown that no block can make a true condition false."""
        diagrams, variables = self._diagrams, self._moment.variables
        slots = [variables.slots[level] for level in sorted(diagrams.support(condition))]
        if not all(variables.is_stored(slot) for slot in slots):
            return False
        for block, possible in blocks:
            if not any(block.writes(slot) for slot in slots):
                continue
            try:
                after = self._composed(condition, block, frozenset())
                broken = diagrams.both(condition, diagrams.negate(after))
                if after != condition and diagrams.both(possible(), broken) != diagrams.false:
                    return False
            except Refused:
                return False
        return True

    def _composed(self, diagram: Diagram, block: Block, exempt: frozenset[str]) -> Diagram:
        """A diagram about the state after a block, in terms of the state before it."""
        variables = self._moment.variables
        values = {
            level: block.after_others(variables.slots[level], exempt)
            for level in sorted(self._diagrams.support(diagram))
            if block.writes(variables.slots[level])
        }
        return self._diagrams.compose(diagram, values) if values else diagram

    # ---- conserved sums ---------------------------------------------------------------------

    def conserves(self, block: Block, possible: Diagram) -> Diagram:
        """Where only exempt rules of a block change the conserved sums."""
        result = self._diagrams.true
        for conserve in self._facts.rules.conserves.values():
            if any(unit.rule.name not in conserve.exempt for unit in block.units):
                kept = self._conserved(conserve, block)
                implied = self._diagrams.either(self._diagrams.negate(possible), kept)
                result = self._diagrams.both(result, implied)
        return result

    def _conserved(self, conserve: Conserve, block: Block) -> Diagram:
        exempt = frozenset(conserve.exempt)
        alone = frozenset(unit.rule.name for unit in block.units if unit.rule.name in exempt)
        return self._unchanged(conserve, block, alone)

    def _unchanged(self, conserve: Conserve, block: Block, exempt: frozenset[str]) -> Diagram:
        """Where the rules of a block that are not exempt, applied alone, change nothing."""
        diagrams = self._diagrams
        change = diagrams.leaf(0)
        for sign, part in self._parts(conserve):
            after = self._composed(part, block, exempt)
            if after != part:
                pair = (after, part) if sign > 0 else (part, after)
                step = diagrams.lift(("arithmetic", "-"), arithmetic("-"), *pair)
                change = diagrams.lift(("arithmetic", "+"), arithmetic("+"), change, step)
        return diagrams.lift("zero", _is_zero, change)

    def _parts(self, conserve: Conserve) -> list[Part]:
        if conserve.name not in self._sums:
            self._looks_at_now(conserve.footprint, "`was` in a conserved sum", conserve.span)
            self._sums[conserve.name] = self._summands(conserve.value, 1, Env())
        return self._sums[conserve.name]

    def _summands(self, term: Term, sign: int, env: Env[Diagram]) -> list[Part]:
        """The summands of a sum, so that a rule is compared only in what it touches."""
        match term:
            case Call(op="+" | "-" as op, args=(left, right)):
                other = sign if op == "+" else -sign
                return [*self._summands(left, sign, env), *self._summands(right, other, env)]
            case Fold(fold="sum", value=value) if value is not None:
                found = []
                for inner, member in self._terms.bindings(term.binders, term.where, env):
                    summand = self._terms.value(value, inner)
                    nothing = self._diagrams.leaf(0)
                    found.append((sign, self._diagrams.choose(member, summand, nothing)))
                return found
            case _:
                return [(sign, self._terms.value(term, env))]


def _is_zero(value: Value) -> Value:
    return value == 0
