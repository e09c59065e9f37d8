"""What must hold at a commit, and what it comes to: endings, awards, rewards (language.md §8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tokenworld.engine.rollout.actions import ROW
from tokenworld.engine.rollout.effects import reward_decimals
from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, heads, indented
from tokenworld.engine.rollout.ranges import Var
from tokenworld.engine.rollout.terms import Writer
from tokenworld.model import (
    Award,
    NumberType,
    Term,
    deep_subterms,
)

__all__ = ["Commits"]


@dataclass
class Commits:
    """The functions of the end of a tick."""

    writer: Writer
    rules: dict[str, int]
    tables: dict[str, list[int]] = field(default_factory=dict)

    def write(self) -> None:
        """All of them."""
        self._invariants()
        self._conserves()
        self._endings()
        self._score()
        self._pays()
        self._watches()

    def _sequential(self) -> bool:
        program = self.writer.plan.program
        return any(one.order != "simultaneous" for one in program.phases.values())

    # ---- what must hold -----------------------------------------------------------------------

    def _invariants(self) -> None:
        lines = list[str]()
        for rule in self.writer.plan.program.invariants.values():
            before = self._past(rule.condition, self._sequential())
            depth = 1
            if before:
                lines.append(indented(1, f"if {before}:"))
                depth = 2
            env, deep = heads(self.writer, rule.params, None, {}, lines, depth)
            lines += [
                indented(deep, f"if not {self.writer.test(rule.condition, env)}:"),
                indented(deep + 1, "fail(X, BROKEN)"),
                indented(deep + 1, "return"),
            ]
        lines.append(indented(1, "return"))
        function(self.writer, "invariants", ROW, lines)

    def _past(self, condition: Term, sequential: bool) -> str:
        """Where an invariant looks back: that something which it reads was changed in the tick."""
        program, plan = self.writer.plan.program, self.writer.plan
        parts = list(deep_subterms((condition,), program.derives))
        if not any(getattr(part, "was", False) for part in parts):
            return ""
        if sequential:
            raise Inexpressible("an invariant that looks back", condition.span)
        if any(part.kind == "builtin" for part in parts):
            names = {getattr(part, "name", "") for part in parts if part.kind == "builtin"}
            if names & {"tick", "score", "busy", "did"}:
                return ""
        reads = dict.fromkeys(part.fluent for part in parts if hasattr(part, "fluent"))
        tests = [f"X[TOUCHED + {plan.cell(name).column.index}] == 1" for name in reads]
        life = [f"X[TOUCHED + {len(plan.cells)}] == 1"] if plan.destroys else []
        return " or ".join([*tests, *life])

    def _conserves(self) -> None:
        lines = list[str]()
        exempt: list[int] = []
        for index, rule in enumerate(self.writer.plan.program.conserves.values()):
            name = self.writer.fresh("q")
            value = self.writer.value(rule.value, {})
            function(self.writer, name, ROW, [indented(1, f"return {value}")])
            excepted = {f"{kind} {one}" for one in rule.exempt for kind in ("action", "law")}
            exempt += [int(title in excepted) for title in self.rules]
            lines += [
                indented(1, "stale(X)"),
                indented(1, f"old = {name}(before, before, X, me)"),
                indented(1, "stale(X)"),
                indented(1, f"if spared(X, {index}):"),
                indented(2, "copy(alone, before)"),
                indented(2, f"apply(alone, X, {index})"),
                indented(2, f"new = {name}(alone, before, X, me)"),
                indented(1, "else:"),
                indented(2, f"new = {name}(S, before, X, me)"),
                indented(1, "if old != new:"),
                indented(2, "fail(X, BROKEN)"),
            ]
        lines.append(indented(1, "return"))
        function(self.writer, "conserve", "S, before, alone, X, me", lines)
        self.tables["EXEMPT"] = exempt

    # ---- progress -----------------------------------------------------------------------------

    def _endings(self) -> None:
        world = self.writer.plan.world
        self._numbered("ending", [line.condition for line in world.endings])
        self._numbered("award", [one.when for one in world.awards])

    def _numbered(self, name: str, terms: Sequence[Term]) -> None:
        lines = list[str]()
        for index, term in enumerate(terms):
            lines += [
                indented(1, f"if index == {index}:"),
                indented(2, f"return {self.writer.test(term, {})}"),
            ]
        lines.append(indented(1, "return False"))
        function(self.writer, name, f"{ROW}, index", lines)

    def score_decimals(self) -> int:
        """The decimals of the score: those of its finest part."""
        world = self.writer.plan.world
        kinds = [one.amount.type for one in world.awards]
        kinds += [world.score.type] if world.score is not None else []
        if not all(isinstance(kind, NumberType) for kind in kinds):
            raise Inexpressible("a score that is a real", world.span)
        return max((kind.decimals for kind in kinds if isinstance(kind, NumberType)), default=0)

    def _score(self) -> None:
        """The score, in units of its finest part."""
        world, finest = self.writer.plan.world, self.score_decimals()
        parts = [(world.score, "")] if world.score is not None else []
        at = self.writer.plan.awarded
        parts += [(one.amount, f"S[{at + i}] > 0") for i, one in enumerate(world.awards)]
        lines = [indented(1, "total = 0")]
        for term, when in parts:
            assert isinstance(term.type, NumberType)
            value = (
                f"counted({self.writer.value(term, {})}) * {10 ** (finest - term.type.decimals)}"
            )
            lines += [indented(1, f"if {when}:")] if when else []
            lines.append(indented(2 if when else 1, f"total += {value}"))
        lines.append(indented(1, "return total"))
        function(self.writer, "score_of", ROW, lines)

    def _pays(self) -> None:
        lines = [indented(1, "total = 0")]
        for pay in self._paying():
            assert isinstance(pay.amount.type, NumberType)
            factor = 10 ** (reward_decimals(self.writer) - pay.amount.type.decimals)
            lines += [
                indented(1, f"if {self.writer.test(pay.when, {})}:"),
                indented(2, f"total += counted({self.writer.value(pay.amount, {})}) * {factor}"),
            ]
        lines.append(indented(1, "return total"))
        function(self.writer, "pays", ROW, lines)

    def _paying(self) -> Iterator[Award]:
        for pay in self.writer.plan.world.pays:
            if not isinstance(pay.amount.type, NumberType):
                raise Inexpressible("a reward that is a real", pay.span)
            yield pay

    def _watches(self) -> None:
        """Of watches only those are kept that speak once: what they told is part of the state."""
        plan, lines = self.writer.plan, list[str]()
        for name, (base, spans) in plan.fired.items():
            watch = plan.program.watches[name]
            if plan.destroys and any(one.type.kind == "object" for one in watch.params):
                raise Inexpressible("a watch of mortal things that speaks once", watch.span)
            if plan.seats > 1 and plan.has_long:
                raise Inexpressible("a watch that speaks once amid free actions", watch.span)
            env, depth = heads(self.writer, watch.params, None, {}, lines, 1)
            codes = [env[one.name].code for one in watch.params]
            part = "0"
            for code, (low, size) in zip(codes, spans, strict=True):
                part = f"place({part}, {code}, {low}, {size})"
            spot, test = self.writer.fresh(), self.writer.fresh("c")
            own = {one.name: Var(f"a{i}", *self.writer.ranges.binder(one))
                   for i, one in enumerate(watch.params)}  # fmt: skip
            given = "".join(f", {code}" for code in codes)
            function(
                self.writer, test, ROW + "".join(f", {var.code}" for var in own.values()),
                [indented(1, f"return {self.writer.test(watch.when, own)}")],
            )  # fmt: skip
            lines.append(indented(depth, f"{spot} = {base} + {part}"))
            new = f"S[{spot}] == 0 and {test}(S, W, X, me{given})"
            if not watch.uses_was:
                new += f" and not {test}(W, W, X, me{given})"
            lines += [indented(depth, f"if {new}:"), indented(depth + 1, f"S[{spot}] = 1")]
        lines.append(indented(1, "return"))
        function(self.writer, "watches", ROW, lines)
