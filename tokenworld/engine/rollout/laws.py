"""What happens by itself: laws in phases, and what must hold at a commit (language.md §7, §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenworld.engine.rollout.actions import ROW
from tokenworld.engine.rollout.effects import Statements
from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, heads, indented
from tokenworld.engine.rollout.keys import Keys
from tokenworld.engine.rollout.ranges import Var
from tokenworld.engine.rollout.terms import Writer
from tokenworld.model import (
    Binder,
    Law,
    ObjectType,
    Phase,
    TypeRange,
    may_draw,
)

__all__ = ["Laws"]


@dataclass
class Laws:
    """The functions of phases."""

    writer: Writer
    keys: Keys
    rules: dict[str, int]
    tables: dict[str, list[int]] = field(default_factory=dict)

    def write(self) -> None:
        """Every phase, and the function that runs them in order."""
        self._phases()

    # ---- phases -------------------------------------------------------------------------------

    @property
    def phases(self) -> list[tuple[Phase | None, tuple[Law, ...]]]:
        """The phases that have laws, in order, the unnamed last one included."""
        program = self.writer.plan.program
        order: list[Phase | None] = [*program.phases.values(), None]
        found = []
        for phase in order:
            name = phase.name if phase is not None else ""
            laws = tuple(law for law in program.laws.values() if law.phase == name)
            if laws:
                found.append((phase, laws))
        return found

    def _phases(self) -> None:
        lines = list[str]()
        for phase, laws in self.phases:
            if phase is not None and phase.order != "simultaneous":
                name = self._in_turn(laws, phase.order == "by_nesting")
            else:
                name = self._together(laws)
            lines += [
                indented(1, f"{name}(S, W, R, X)"),
                indented(1, "if X[ERR] != 0:"),
                indented(2, "return"),
            ]
        lines.append(indented(1, "return"))
        function(self.writer, "phases", "S, W, R, X", lines)

    def _together(self, laws: tuple[Law, ...]) -> str:
        """A simultaneous phase: all its laws read the state that it began with."""
        name, calls = self.writer.fresh("p"), [self._law(law) for law in laws]
        lines = [indented(1, "clean(X)")]
        lines += [indented(1, f"{call}(S, W, X, ME)") for call in calls]
        lines += _applied(1)
        function(self.writer, name, "S, W, R, X", lines)
        return name

    def _law(self, law: Law) -> str:
        name, statements = self.writer.fresh("w"), Statements(self.writer)
        env, depth = heads(self.writer, law.params, law.when, {}, statements.lines, 1)
        self._evaluated(law, env, statements, depth)
        statements.line(1, "return")
        function(self.writer, name, ROW, statements.lines)
        return name

    def _evaluated(self, law: Law, env: dict[str, Var], statements: Statements, depth: int) -> None:
        rule = f"law {law.name}"
        statements.line(depth, f"X[RULE] = {self.rules[rule]}")
        if may_draw(law.body):
            key = self.keys.opening(self.writer, rule, False, law.params, env)
            statements.drawing(key, depth)
        statements.body(law.body, env, depth)

    # ---- sequential phases --------------------------------------------------------------------

    def _in_turn(self, laws: tuple[Law, ...], nesting: bool) -> str:
        """Objects in turn, each binding reading what earlier ones wrote."""
        name, lines = self.writer.fresh("p"), list[str]()
        if nesting and self.writer.plan.destroys:
            raise Inexpressible("a phase `by nesting` where objects die", laws[0].span)
        order = self.writer.region(self.writer.plan.objects + 1)
        if nesting:
            lines.append(indented(1, f"size = preorder(S, X, {order})"))
        else:
            lines.append(indented(1, f"size = roll(S, X, {order})"))
        first = [law for law in laws if _type(law.params[:1]) is None]
        rest = [law for law in laws if _type(law.params[:1]) is not None]
        for law in first:
            self._binding(law, law.params, {}, lines, 1, order, nesting)
        if rest:
            lines += [indented(1, "for i in range(size):"), indented(2, f"a0 = X[{order} + i]")]
        for law in rest:
            kind = self.writer.plan.kinds[_type(law.params) or ""]
            lines.append(indented(2, f"if isa(S, a0, {kind}):"))
            env = {law.params[0].name: Var("a0")}
            self._binding(law, law.params[1:], env, lines, 3, order, nesting)
        lines.append(indented(1, "return"))
        function(self.writer, name, "S, W, R, X", lines)
        return name

    def _binding(
        self,
        law: Law,
        params: Sequence[Binder],
        env: dict[str, Var],
        lines: list[str],
        depth: int,
        order: str,
        nesting: bool,
    ) -> None:
        """One law in its turn: loops over its other arguments, each evaluated and applied."""
        turn, codes = self._turn(law), []
        for binder in params:
            if nesting and isinstance(binder.type, ObjectType):
                depth = self._nested(binder, env, lines, depth, order)
            else:
                inner, depth = heads(self.writer, (binder,), None, {}, lines, depth)
                env[binder.name] = inner[binder.name]
        codes = [env[binder.name].code for binder in law.params]
        lines += [
            indented(depth, "clean(X)"),
            indented(depth, f"if {turn}(S, W, X, ME{''.join(', ' + one for one in codes)}):"),
            *_applied(depth + 1),
            indented(depth + 1, "if X[ERR] != 0:"),
            indented(depth + 2, "return"),
        ]

    def _nested(
        self, binder: Binder, env: dict[str, Var], lines: list[str], depth: int, order: str
    ) -> int:
        index, code = self.writer.fresh(), self.writer.fresh()
        assert isinstance(binder.domain, TypeRange)
        kind = self.writer.plan.kinds[_type((binder,)) or ""]
        lines += [
            indented(depth, f"for {index} in range(size):"),
            indented(depth + 1, f"{code} = X[{order} + {index}]"),
            indented(depth + 1, f"if isa(S, {code}, {kind}):"),
        ]
        env[binder.name] = Var(code)
        return depth + 2

    def _turn(self, law: Law) -> str:
        """One binding of a law, its condition first; whether it was evaluated."""
        name, statements = self.writer.fresh("w"), Statements(self.writer)
        env = {
            one.name: Var(self.writer.fresh("a"), *self.writer.ranges.binder(one))
            for one in law.params
        }
        if law.when is not None:
            statements.line(1, f"if not {self.writer.test(law.when, env)}:")
            statements.line(2, "return X[ERR] != 0")
        self._evaluated(law, env, statements, 1)
        statements.line(1, "return True")
        codes = "".join(f", {var.code}" for var in env.values())
        function(self.writer, name, f"{ROW}{codes}", statements.lines)
        return name


def _applied(depth: int) -> list[str]:
    """Apply what was asked for, and look at the conserved sums."""
    return [
        indented(depth, "if HAS_CONSERVES:"),
        indented(depth + 1, "copy(R[4], S)"),
        indented(depth, "apply(S, X, -1)"),
        indented(depth, "if HAS_CONSERVES and X[ERR] == 0:"),
        indented(depth + 1, "conserved(R, X, S)"),
    ]


def _type(params: Sequence[Binder]) -> str | None:
    kind = params[0].type if params else None
    return kind.name if isinstance(kind, ObjectType) else None
