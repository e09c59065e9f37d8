"""Bodies of core to Python statements, which add their requests to a `log.Log` named ``D``."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenworld.core import StatementVisitor
from tokenworld.core import nodes as core
from tokenworld.engine.rows.code.terms import Lines, Name, Names, TermWriter, within_length
from tokenworld.engine.rows.log import Maker
from tokenworld.ground import implicit_default
from tokenworld.model import NumberType, written_name


@dataclass
class BodyWriter(StatementVisitor[Names, Names]):
    """Writes the statements of one function; each makes the names after it."""

    terms: TermWriter
    births: dict[str, list[str]]
    """The functions of the `birth` rules of each type, the most general first."""
    lines: Lines = field(default_factory=list)
    depth: int = 1
    drawing: str = "D"
    """The code of the draws of the rule."""

    def line(self, text: str) -> None:
        self.lines.append((self.depth, text))

    def body(self, body: core.Body, names: Names) -> Names:
        """Write the statements in written order; return the names in scope after the last."""
        for statement in body:
            names = self.statement(statement, names)
        return names

    def _inner(self, body: core.Body, names: Names) -> None:
        self.depth += 1
        before = len(self.lines)
        self.body(body, names)
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def _named(self, names: Names, name: str, code: str, *, loose: bool = False) -> Names:
        """Names with one more, whose code is an expression."""
        own = self.terms.fresh("l")
        self.line(f"{own} = {code}")
        return {**names, name: Name(own, loose)}

    # ---- control ------------------------------------------------------------------------------

    def choose(self, statement: core.If, env: Names) -> Names:
        self.line(f"if {self.terms.term(statement.condition, env)}:")
        self._inner(statement.then, env)
        if statement.otherwise:
            self.line("else:")
            self._inner(statement.otherwise, env)
        return env

    def loop(self, statement: core.For, env: Names) -> Names:
        inner, depth = self.terms.loops(
            statement.binders, statement.where, env, self.lines, self.depth
        )
        before, self.depth = self.depth, depth - 1
        self._inner(statement.body, inner)
        self.depth = before
        return env

    def require(self, statement: core.Require, env: Names) -> Names:
        raise TypeError("a require stands at the head of an action")

    # ---- changes ------------------------------------------------------------------------------

    def write(self, statement: core.Write, env: Names) -> Names:
        terms, target = self.terms, statement.target
        store = terms.slots.by_id[target.fluent]
        value = terms.value(statement.value, env)
        if statement.op == "+":
            value = within_length(value, statement.value.type)
        codes = [terms.term(one, env) for one in target.args]
        rests = terms.loose(statement.value, env) and (statement.op == "+" or store.column.always)
        if terms.sure(store, target.args, env) and not (rests or terms.careful):
            self.line(f"D.log({terms.slot(store, codes)}, {statement.op!r}, {value})")
            return env
        args = f"({', '.join(codes)},)" if codes else "()"
        self.line(f"D.put({store.column.index}, {args}, {statement.op!r}, {value})")
        return env

    def destroy(self, statement: core.Destroy, env: Names) -> Names:
        self.line(f"D.destroy({self.terms.term(statement.target, env)})")
        return env

    def create(self, statement: core.Create, env: Names) -> Names:
        terms = self.terms
        values_of = {one.fluent: one.value for one in statement.fields}
        attributes = terms.slots.program.types[statement.of].attributes
        others = (key for key in attributes if key not in statement.given)
        stores = [terms.slots.by_id[key] for key in (*others, *statement.given)]
        values = [
            terms.value(values_of[one.column.fluent.id], env)
            if one.column.fluent.id in values_of
            else terms.const(implicit_default(one.column.fluent.type))
            for one in stores
        ]
        name = written_name(statement.name)
        maker = terms.const(Maker(statement.of, name, statement.named, tuple(stores)))
        own = terms.fresh("n")
        self.line(f"{own} = D.create(W, {maker}, [{', '.join(values)}])")
        for birth in self.births[statement.of]:
            self.line(f"D.run_birth({birth}, W, me, {own})")
        return {**env, statement.name: Name(own, newborn=True)}

    # ---- values and draws ---------------------------------------------------------------------

    def let(self, statement: core.Let, env: Names) -> Names:
        value = statement.value
        if not isinstance(value, core.Draw):
            code, loose = self.terms.value(value, env), self.terms.loose(value, env)
            return self._named(env, statement.names[0], code, loose=loose)
        if isinstance(value, core.BranchDraw):
            shares = "".join(f"{self._share(one, env)}, " for one in value.probabilities)
            return self._named(
                env, statement.names[0], f"{self.drawing}.branch(({shares}), {str(value.span)!r})"
            )
        if isinstance(value, core.PickDraw):
            return self._pick(value, statement.names, env)
        ends = f"{self.terms.term(value.low, env)}, {self.terms.term(value.high, env)}"
        return self._named(env, statement.names[0], f"{self.drawing}.uniform({ends})")

    def _share(self, term: core.Term, env: Names) -> str:
        """A probability: a pair of whole numbers, or a real."""
        code, kind = self.terms.term(term, env), term.type
        return f"({code}, {10**kind.decimals})" if isinstance(kind, NumberType) else code

    def _pick(self, draw: core.PickDraw, names: tuple[str, ...], env: Names) -> Names:
        terms = self.terms
        found, weights, chosen = (terms.fresh("l") for _ in range(3))
        even = draw.weight is None and draw.key not in ("least", "most")
        only = self._only(draw, env) if even and self.drawing != "D" else None
        if only is not None:
            return self._named(env, names[0], only)
        self.line(f"{found} = []")
        if not even:
            self.line(f"{weights} = []")
        inner, depth = terms.loops(draw.binders, draw.where, env, self.lines, self.depth)
        row = [self._listed(inner[one.name].code) for one in draw.binders]
        listed = row[0] if len(row) == 1 else f"({', '.join(row)})"
        self.lines.append((depth, f"{found}.append({listed})"))
        if even:
            self.line(f"{chosen} = {self._even(found, draw)}")
        else:
            weight = "1" if draw.weight is None else terms.term(draw.weight, inner)
            self.lines.append((depth, f"{weights}.append({self._listed(weight)})"))
            self.line(f"{chosen} = {self._weighted(weights, draw)}")
        for at, name in enumerate(names):
            place = f"[{at}]" if len(row) > 1 else ""
            env = self._named(env, name, f"{found}[{chosen}]{place} if {chosen} >= 0 else NONE")
        return env

    def _only(self, draw: core.PickDraw, env: Names) -> str | None:
        """The one value that a draw may find, because it equals that; else ``None``."""
        if draw.where is None or len(draw.binders) > 1:
            return None
        found = self.terms.scanned(draw.binders[0], self.terms.reduced(draw.where), env) or ""
        return found[1:-2] if found.startswith("(") else None

    def _listed(self, code: str) -> str:
        """A value or weight as an element of the lists of a `pick`."""
        return code

    def _even(self, found: str, draw: core.PickDraw) -> str:
        """The index of a value drawn evenly."""
        code = f"{self.drawing}.even(len({found}), {str(draw.span)!r})"
        return code if self.drawing == "D" else f"0 if len({found}) == 1 else {code}"

    def _weighted(self, weights: str, draw: core.PickDraw) -> str:
        """The index of a value drawn by weights, or of the first with the least or most."""
        return f"{self.drawing}.pick({draw.key!r}, {weights}, {str(draw.span)!r})"

    # ---- output -------------------------------------------------------------------------------

    def say(self, statement: core.Say, env: Names) -> Names:
        text, passed = self.terms.text_function(statement.template, env)
        self.line(f"D.say({text}, W, me, ({''.join(f'{one}, ' for one in passed)}))")
        return env

    def describe(self, statement: core.Describe, env: Names) -> Names:
        self.line(f"D.say(described, W, me, ({self.terms.term(statement.target, env)},))")
        return env

    def emit(self, statement: core.Emit, env: Names) -> Names:
        args = "".join(f"{self.terms.value(one, env)}, " for one in statement.args)
        self.line(f"D.emit({statement.event!r}, ({args}))")
        return env

    def reward(self, statement: core.Reward, env: Names) -> Names:
        kind = statement.amount.type
        decimals = kind.decimals if isinstance(kind, NumberType) else 0
        self.line(f"D.reward({self.terms.term(statement.amount, env)}, {decimals})")
        return env
