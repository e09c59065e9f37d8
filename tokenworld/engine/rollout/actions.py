"""Actions to functions, and the functions that find the one of an action's number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tokenworld.engine.rollout.effects import Statements
from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import function, heads, indented
from tokenworld.engine.rollout.keys import Keys
from tokenworld.engine.rollout.ranges import Env, Var
from tokenworld.engine.rollout.scratch import ARGS, MOST_ARGS
from tokenworld.engine.rollout.terms import Writer
from tokenworld.ground import MANY, count_bindings, parameter_domains
from tokenworld.model import (
    Action,
    Binder,
    Body,
    Draw,
    IntervalRange,
    Let,
    NumberType,
    Term,
    TypeRange,
    effects_in,
    may_draw,
    targets_of,
)

__all__ = ["Actions"]

ROW = "S, W, X, me"


@dataclass
class Actions:
    """The functions of all actions: each takes its arguments from the scratch array."""

    writer: Writer
    keys: Keys
    rules: dict[str, int]
    tables: dict[str, list[int]] = field(default_factory=dict)

    def write(self) -> None:
        """Every action, and for each question the function that asks it of any."""
        writer, actions = self.writer, self.writer.plan.actions
        found: dict[str, list[str]] = {
            "holds": [], "run": [], "cancel": [], "ticks": [], "until": [], "legal": [],
        }  # fmt: skip
        for action in actions:
            if len(action.params) > MOST_ARGS:
                raise Inexpressible(f"more than {MOST_ARGS} parameters", action.span)
            found["holds"].append(self._holds(action))
            found["run"].append(self._body(action, action.body))
            found["cancel"].append(self._body(action, action.cancelled))
            found["ticks"].append(self._term(action, action.takes, "t", writer.value))
            found["until"].append(self._term(action, action.until, "u", writer.test))
            found["legal"].append(self._legal(action))
        nothing = {"holds": "False", "run": "0", "cancel": "0", "ticks": "1", "until": "False"}
        for name, default in nothing.items():
            self._choice(name, ROW, "S, W, X, me", found[name], default)
        self._choice("legal", "R, X", "R, X, later, wanted", found["legal"], "0", "later, wanted")
        self.tables["TAKES"] = [int(one.takes is not None) for one in actions]
        self.tables["ARITY"] = [len(one.params) for one in actions]
        self.tables["RISKY"] = [self._risk(one) for one in actions]

    def _choice(
        self, name: str, header: str, given: str, functions: list[str], nothing: str, more: str = ""
    ) -> None:
        lines = list[str]()
        for index, one in enumerate(functions):
            if one:
                lines += [
                    indented(1, f"if act == {index}:"), indented(2, f"return {one}({given})"),
                ]  # fmt: skip
        lines.append(indented(1, f"return {nothing}"))
        header = f"{header}, act" + (f", {more}" if more else "")
        function(self.writer, name, header, lines)

    # ---- the parts of an action ---------------------------------------------------------------

    def _given(self, action: Action, lines: list[str]) -> dict[str, Var]:
        """The parameters, read from the scratch array."""
        env = {}
        for place, binder in enumerate(action.params):
            code = self.writer.fresh("a")
            lines.append(indented(1, f"{code} = X[{ARGS + place}]"))
            env[binder.name] = Var(code, *self.writer.ranges.binder(binder))
        return env

    def _holds(self, action: Action) -> str:
        if not action.requires:
            return self._always()
        name, statements = self.writer.fresh("h"), Statements(self.writer)
        env = self._given(action, statements.lines)
        for guard in action.guards:
            if isinstance(guard, Let):
                self._guard(guard, statements, env)
            else:
                statements.line(1, f"if not {self.writer.test(guard.condition, env)}:")
                statements.line(2, "return False")
        statements.line(1, "return True")
        function(self.writer, name, ROW, statements.lines)
        return name

    def _always(self) -> str:
        if not any(chunk.startswith("def always(") for chunk in self.writer.chunks):
            function(self.writer, "always", ROW, [indented(1, "return True")])
        return "always"

    def _guard(self, guard: Let, statements: Statements, env: dict[str, Var]) -> None:
        if isinstance(guard.value, Draw):
            raise Inexpressible("a draw before a require", guard.span)
        statements.let(guard, env, 1)

    def _body(self, action: Action, body: Body) -> str:
        if not body:
            return ""
        name, statements = self.writer.fresh("b"), Statements(self.writer)
        env = self._given(action, statements.lines)
        rule = f"action {action.name}"
        statements.line(1, f"X[RULE] = {self.rules[rule]}")
        if may_draw(body):
            key = self.keys.opening(self.writer, rule, True, action.params, env)
            statements.drawing(key, 1)
        for guard in action.guards:
            if isinstance(guard, Let):
                self._guard(guard, statements, env)
        statements.body(body, env, 1)
        statements.line(1, "return 0")
        function(self.writer, name, ROW, statements.lines)
        return name

    def _term(
        self, action: Action, term: Term | None, prefix: str, write: Callable[[Term, Env], str]
    ) -> str:
        """A term over the parameters alone: they are asked before the lets."""
        if term is None:
            return ""
        name, lines = self.writer.fresh(prefix), list[str]()
        env = self._given(action, lines)
        lines.append(indented(1, f"return {write(term, env)}"))
        function(self.writer, name, ROW, lines)
        return name

    # ---- what is legal ------------------------------------------------------------------------

    def _legal(self, action: Action) -> str:
        """Candidates in order; an action with too many of them is never offered."""
        plan = self.writer.plan
        sets = parameter_domains(plan.engine.instance, action.params)
        if count_bindings(sets) > MANY:
            return ""
        act = [one.name for one in plan.actions].index(action.name)
        name = self.writer.fresh("o")
        lines = [indented(1, f"S = R[{0}]"), indented(1, "n = 0")]
        depth, names = 1, []
        for binder in action.params:
            env, depth = heads(self.writer, (_ranged(binder),), None, {}, lines, depth)
            names.append(env[binder.name].code)
        for place, code in enumerate(names):
            lines.append(indented(depth, f"X[{ARGS + place}] = {code}"))
        lines += [
            indented(depth, f"if allowed(R, X, {act}, later):"),
            indented(depth + 1, "n += 1"),
            indented(depth + 1, "if n == wanted + 1:"),
            indented(depth + 2, "return n"),
            indented(1, "return n if wanted < 0 else 0"),
        ]
        function(self.writer, name, "R, X, later, wanted", lines)
        return name

    def _risk(self, action: Action) -> int:
        """What the language may refuse: nothing, a range alone, or what the whole state decides."""
        plan = self.writer.plan
        if plan.engine._never_breaks[action.name]:
            return 0
        fluents = plan.program.fluents
        written = {t.fluent for one in effects_in(action.body) for t in targets_of(one)}
        shaped = any(
            fluents[name].unique or fluents[name].nested or fluents[name].acyclic
            for name in written
        )
        return 2 if shaped or plan.destroys or plan.program.conserves else 1


def _ranged(binder: Binder) -> Binder:
    """A parameter as a loop variable: numbers of a type count as an interval."""
    from dataclasses import replace

    match binder.domain:
        case TypeRange(of=NumberType(low=int() as low, high=int() as high)):
            return replace(binder, domain=IntervalRange(low, high))
        case TypeRange(of=of) if of.kind == "bool":
            return replace(binder, domain=IntervalRange(0, 1))
        case _:
            return binder
