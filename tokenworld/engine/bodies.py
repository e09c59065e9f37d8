"""Bodies to Python statements: each asks a `Delta` (``D``) for its changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.engine.births import Maker, ancestry
from tokenworld.engine.emit import Emitter, Locals, held
from tokenworld.engine.inlining import steady
from tokenworld.engine.layout import implicit_default
from tokenworld.model import (
    AddFact,
    Assign,
    Binder,
    Birth,
    Body,
    Chance,
    CompositeTerm,
    Create,
    DescribeEffect,
    Destroy,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    For,
    If,
    LeafTerm,
    Let,
    Local,
    LogicTerm,
    Negate,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectType,
    Pick,
    Read,
    RemoveFact,
    Reward,
    Say,
    StateTerm,
    Swap,
    Term,
    TestTerm,
    Transfer,
    bodies,
    subterms,
    terms_of,
    written_name,
)

__all__ = ["BodyWriter"]


@dataclass(slots=True)
class BodyWriter:
    """Writes the statements of one generated function, indented by ``depth``.

    ``newborns`` are the generated names that may stand for objects which the body creates.
    """

    emitter: Emitter
    lines: list[str] = field(default_factory=list)
    newborns: set[str] = field(default_factory=set)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def body(self, body: Body, names: Locals, depth: int) -> None:
        """All effects of a body; an empty one is ``pass``."""
        inner = dict(names)
        for effect in body:
            if self.newborns and self._looks_at_newborn(effect, inner):
                self.line(depth, "S = D.see(S)")
            self._effect(effect, inner, depth)
        if not body:
            self.line(depth, "pass")

    def _effect(self, effect: Effect, names: dict[str, str], depth: int) -> None:
        match effect:
            case Let():
                self.let(effect, names, depth)
            case Assign() | AddFact() | RemoveFact() | Transfer() | Swap():
                self._write(effect, names, depth)
            case If() | For() | Chance() | Pick():
                self._control(effect, names, depth)
            case Destroy(target=target):
                self.line(depth, f"D.destroy({self._term(target, names)})")
            case Emit() | Say() | DescribeEffect() | Reward():
                self._output(effect, names, depth)
            case Create():
                self.create(effect, names, depth)
            case _:
                assert_never(effect)

    def _term(self, term: Term, names: Locals) -> str:
        return self.emitter.term(term, names)

    def _tuple(self, terms: tuple[Term, ...], names: Locals) -> str:
        inner = ", ".join(self._term(term, names) for term in terms)
        return f"({inner}{',' if len(terms) == 1 else ''})"

    # ---- lets and draws ---------------------------------------------------------------------

    def let(self, effect: Let, names: dict[str, str], depth: int) -> None:
        """Name a value for the rest of the block."""
        name = self.emitter.fresh("l")
        value, site = effect.value, self.emitter.const(str(effect.span))
        match value:
            case DrawChance(probability=probability):
                share = self._probability(probability, names)
                self.line(depth, f"{name} = D.choose(({share},), {site}) == 0")
            case DrawPick():
                found = self._candidates(value, site, names, depth)
                self.line(depth, f"{name} = {found}[0] if {found} is not None else None")
            case DrawUniform(low=low, high=high):
                ends = f"{self._term(low, names)}, {self._term(high, names)}"
                self.line(depth, f"{name} = D.uniform({ends})")
            case (
                LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm()
                | CompositeTerm()
            ):  # fmt: skip
                self.line(depth, f"{name} = {self._term(value, names)}")
                if self.emitter.is_fragile(value, names):
                    self.emitter.fragile.add(name)
                if self._is_newborn(value, names):
                    self.newborns.add(name)
            case _:
                assert_never(value)
        names[effect.name] = name

    def _probability(self, term: Term, names: Locals) -> str:
        if isinstance(term, NumberLiteral) and isinstance(term.type, NumberType):
            return f"({term.value}, {10**term.type.decimals})"
        value = self._term(term, names)
        if isinstance(term.type, NumberType):
            return f"({value}, {10**term.type.decimals})"
        return value

    def _candidates(self, pick: Pick | DrawPick, site: str, names: Locals, depth: int) -> str:
        """Statements that choose one candidate tuple; the name it is stored in."""
        binders, where = pick.binders, pick.where
        clauses, inner = self.emitter.clauses(binders, where, names)
        found, chosen, index = (self.emitter.fresh("c") for _ in range(3))
        row = ", ".join(inner[binder.name] for binder in binders)
        self.line(depth, f"{found} = [({row},) {clauses}]")
        if pick.key in ("least", "most") and pick.weight is not None:
            best = "min" if pick.key == "least" else "max"
            weights = f"defined([{self._term(pick.weight, inner)} {clauses}])"
            self.line(depth, f"{index} = {weights}")
            self.line(
                depth,
                f"{chosen} = {found}[{index}.index({best}({index}))] if {found} else None",
            )
            return chosen
        weights = f"[1 {clauses}]"
        if pick.weight is not None:
            weights = f"defined([{self._term(pick.weight, inner)} {clauses}])"
        self.line(depth, f"{index} = D.pick({weights}, {site})")
        self.line(depth, f"{chosen} = {found}[{index}] if {index} >= 0 else None")
        return chosen

    # ---- creation ---------------------------------------------------------------------------

    def create(self, effect: Create, names: dict[str, str], depth: int) -> None:
        """Ask for an object, then run the `birth` rules of its type for it."""
        columns, terms = self._first_values(effect)
        prefix = written_name(effect.name)
        maker = self.emitter.const(Maker(effect.of, prefix, effect.named, columns))
        values = [self._default(column) if term is None else self._term(term, names)
                  for column, term in zip(columns, terms, strict=True)]  # fmt: skip
        name = self.emitter.fresh("n")
        row = f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        self.line(depth, f"{name} = D.create(S, {maker}, {row})")
        for rule in self.births(effect.of):
            self.line(depth, f"D.bear({rule}, S, W, me, {name})")
        self.newborns.add(name)
        names[effect.name] = name

    def _first_values(self, effect: Create) -> tuple[tuple[int, ...], list[Term | None]]:
        """The slots an object starts with and what fills them: defaults first, then the fields."""
        emitter = self.emitter
        kind = emitter.instance.program.types[effect.of]
        own = {field.fluent: field.value for field in effect.fields}
        defaults = {field.fluent: field.value for field in kind.defaults}
        found = {key: defaults.get(key) for key in kind.attributes if key not in own}
        merged: dict[str, Term | None] = {**found, **own}
        columns = tuple(emitter.layout.by_id[key].index for key in merged)
        return columns, list(merged.values())

    def _default(self, index: int) -> str:
        value = implicit_default(self.emitter.layout.columns[index].fluent.type)
        return self.emitter.const(value) if isinstance(value, str) else repr(value)

    def births(self, kind: str) -> list[str]:
        """The generated `birth` rules of a type, most general first; made where first needed."""
        program = self.emitter.instance.program
        return [
            self._birth(number, birth)
            for ancestor in reversed(ancestry(program, kind))
            for number, birth in enumerate(program.births)
            if isinstance(birth.param.type, ObjectType) and birth.param.type.name == ancestor
        ]

    def _birth(self, number: int, birth: Birth) -> str:
        emitter = self.emitter
        known = emitter.birth_names.get(number)
        if known is None:
            known = emitter.birth_names[number] = emitter.fresh("birth")
            writer, subject = BodyWriter(emitter), emitter.fresh("n")
            writer.newborns.add(subject)
            writer.body(birth.body, {birth.param.name: subject}, 1)
            lines = [f"def {known}(S, W, me, D, {subject}):", *writer.lines, ""]
            emitter.texts.append((known, "\n".join(lines)))
        return known

    def _is_newborn(self, term: Term, names: Locals) -> bool:
        return isinstance(term, Local) and names.get(term.name) in self.newborns

    def _looks_at_newborn(self, effect: Effect, names: Locals) -> bool:
        """Whether a change reads something of a created object, rather than only names it."""
        for term in terms_of(effect):
            if not isinstance(term, Local) and any(
                self._is_newborn(part, names) for part in subterms(term)
            ):
                return True
        return any(
            self._looks_at_newborn(inner, names) for body in bodies(effect) for inner in body
        )

    # ---- writes -------------------------------------------------------------------------------

    def _slot(self, target: Read, names: Locals) -> str:
        index = self.emitter.layout.by_id[target.fluent].index
        return f"{index}, {self._tuple(target.args, names)}"

    def _write(
        self,
        effect: Assign | AddFact | RemoveFact | Transfer | Swap,
        names: Locals,
        depth: int,
    ) -> None:
        match effect:
            case Assign(target=target, op=op, value=value):
                taken = Negate(value, value.type, value.span) if op == "-=" else value
                said = self._term(taken, names)
                if op != "=":
                    op, said = "+", held(said, value.type)  # type: ignore[assignment]
                self.line(depth, f"D.put({self._slot(target, names)}, {op!r}, {said})")
            case AddFact(target=target):
                self.line(depth, f"D.put({self._slot(target, names)}, 'add', True)")
            case RemoveFact(target=target):
                self.line(depth, f"D.put({self._slot(target, names)}, 'remove', False)")
            case Transfer(amount=amount, source=source, target=target):
                ends = f"({self._slot(source, names)}), ({self._slot(target, names)})"
                moved = held(self._term(amount, names), amount.type)
                self.line(depth, f"D.move({moved}, {ends})")
            case Swap(left=left, right=right):
                values = self._term(left, names), self._term(right, names)
                self.line(depth, f"D.put({self._slot(left, names)}, '=', {values[1]})")
                self.line(depth, f"D.put({self._slot(right, names)}, '=', {values[0]})")
            case _:
                assert_never(effect)

    # ---- control ------------------------------------------------------------------------------

    def _control(self, effect: If | For | Chance | Pick, names: Locals, depth: int) -> None:
        match effect:
            case If(condition=condition, then=then, otherwise=otherwise):
                self.line(depth, f"if {self._term(condition, names)}:")
                self.body(then, names, depth + 1)
                if otherwise:
                    self.line(depth, "else:")
                    self.body(otherwise, names, depth + 1)
            case For(binders=binders, where=where, body=body):
                self.loops(binders, where, body, names, depth)
            case Chance():
                self._chance(effect, names, depth)
            case Pick(binders=binders, body=body, otherwise=otherwise):
                site = self.emitter.const(str(effect.span))
                chosen = self._candidates(effect, site, names, depth)
                inner = dict(names)
                inner.update({b.name: f"{chosen}[{i}]" for i, b in enumerate(binders)})
                self.line(depth, f"if {chosen} is not None:")
                self.body(body, inner, depth + 1)
                if otherwise:
                    self.line(depth, "else:")
                    self.body(otherwise, names, depth + 1)
            case _:
                assert_never(effect)

    def loops(
        self,
        binders: tuple[Binder, ...],
        where: Term | None,
        body: Body,
        names: Locals,
        depth: int,
    ) -> None:
        """Nested loops over bindings, in order."""
        inner, depth = self.heads(binders, where, names, depth)
        self.body(body, inner, depth)

    def heads(
        self, binders: tuple[Binder, ...], where: Term | None, names: Locals, depth: int
    ) -> tuple[dict[str, str], int]:
        """The ``for`` and ``if`` lines of binders; names and depth inside. What holds for all
        bindings or none is tested once, before the loops."""
        inner = dict(names)
        before, rest = steady(self.emitter.instance.program, binders, where)
        if before:
            tests = " and ".join(self._term(part, names) for part in before)
            self.line(depth, f"if {tests}:")
            depth += 1
        for binder in binders:
            variable, values, filters = self.emitter.loop(binder, inner)
            inner[binder.name] = variable
            self.line(depth, f"for {variable} in {values}:")
            depth += 1
            for test in filters:
                self.line(depth, f"if {test}:")
                depth += 1
        if rest:
            tests = " and ".join(self._term(part, inner) for part in rest)
            self.line(depth, f"if {tests}:")
            depth += 1
        return inner, depth

    def _chance(self, effect: Chance, names: Locals, depth: int) -> None:
        shares = ", ".join(
            self._probability(branch.probability, names) for branch in effect.branches
        )
        taken, site = self.emitter.fresh("c"), self.emitter.const(str(effect.span))
        self.line(depth, f"{taken} = D.choose(({shares},), {site})")
        for index, branch in enumerate(effect.branches):
            self.line(depth, f"{'if' if index == 0 else 'elif'} {taken} == {index}:")
            self.body(branch.body, names, depth + 1)
        if effect.otherwise:
            self.line(depth, "else:")
            self.body(effect.otherwise, names, depth + 1)

    # ---- output -------------------------------------------------------------------------------

    def _output(
        self, effect: Emit | Say | DescribeEffect | Reward, names: Locals, depth: int
    ) -> None:
        """What is told is left out, but for values that may not be there: then the tick fails."""
        match effect:
            case Emit(args=args):
                self.line(depth, self._tuple(args, names))
            case Reward(amount=amount):
                self.line(depth, self._term(amount, names))
            case Say() | DescribeEffect():
                self.line(depth, "pass")
            case _:
                assert_never(effect)
