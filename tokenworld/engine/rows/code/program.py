"""The rules of a world as Python functions on rows: one text, compiled once.

Each function takes the row ``S``, that at the start of the tick ``W`` and who acts, ``me``; bodies
take the `Log` ``D`` too, then the arguments of the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import Any

from tokenworld import model as m
from tokenworld.core import Rules
from tokenworld.core.desugar import Desugarer
from tokenworld.core.nodes import Binder, Body, Let, Require, Reward, Template, Term, Variable
from tokenworld.core.rules import Action, Award, Law
from tokenworld.core.walk import conjuncts, statements_in, subterms
from tokenworld.engine.luck import SeededLuck
from tokenworld.engine.rows.code.bodies import BodyWriter
from tokenworld.engine.rows.code.hoist import HoistWriter, lasting
from tokenworld.engine.rows.code.quick import QuickWriter, write_trial
from tokenworld.engine.rows.code.runtime import RUNTIME
from tokenworld.engine.rows.code.terms import Lines, Name, Names, TermWriter
from tokenworld.engine.rows.commit import commit, store_value
from tokenworld.engine.rows.layout import AWARDED, KINDS, NAMES, Slots
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.questions.hidden import HiddenRow
from tokenworld.ground import Prose
from tokenworld.ground.secrets import Secrets
from tokenworld.model import NumberType, ObjectType, Phase, ValueType

Function = Callable[..., Any]
_BODY = ("D",)
_NOTHING = Fraction(0)
MOST_TABLES = 4096
"""Most fixpoints kept at the same time, and most slots on which a kept one may depend."""


@dataclass
class Program:
    """The rules of one world as functions, each by kind and name, written when it is first asked
    for. ``whole_ticks``: with functions for whole ticks, which say something only where the program
    ``says``; others get them by `write_ticks`."""

    slots: Slots
    prose: Prose
    whole_ticks: bool = True
    says: bool = False
    source: str = ""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    space: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rules: Rules = self.slots.rules
        self.world = self.rules.worlds[self.slots.instance.world.name]
        self.writer = TermWriter(self.slots, self.rules)
        self.births = self._births()
        watches = self.rules.watches.items()
        self.paying = frozenset(name for name, one in watches if _pays(one.body))
        self._tried, self._firsts = set[str](), dict[str, str]()
        self.called_by = self._nearest([one.param.type for one in self.rules.called])
        describes = self.slots.program.describes
        self.described_by = self._nearest([one.param.type for one in describes])
        self.quick: dict[str, str] = {}
        self.orders: dict[str, tuple[Phase, dict[str, str]]] = {}
        self.space |= {**RUNTIME, "C": self.slots.static, "ARGS": self.slots.args}
        self.space |= {"commit": commit, "store_value": store_value}
        self.space.update(_words(self))
        self._fixpoints = _Fixpoints(self)
        self.space["fixpoint"] = self._fixpoints.holds
        self._loaded = 0
        if self.whole_ticks:
            self.write_ticks(reports=False)
        self.load()

    def __getitem__(self, key: tuple[str, str]) -> Function:
        """A function by the kind and name of its rule."""
        code = self.names.get(key)
        if code is not None:
            return self.space[code]  # type: ignore[no-any-return]
        found = self.find(*key)
        if found is None:
            raise KeyError(key)
        return found

    def find(self, kind: str, name: str) -> Function | None:
        """The same; ``None`` where the rule has no function of this kind."""
        if (kind, name) not in self.names:
            self._write(kind, name)
            self.load()
        code = self.names.get((kind, name))
        return None if code is None else self.space[code]

    def _nearest(self, kinds: Sequence[ValueType]) -> dict[str, int]:
        """For each type the number of the rule that is nearest to it, if any; ``kinds`` are the
        types that the rules are about."""
        found = {}
        for name, kind in self.slots.program.types.items():
            places = (kinds.index(ObjectType(x)) for x in kind.ancestors if ObjectType(x) in kinds)
            at = next(places, None)
            if at is not None:
                found[name] = at
        return found

    def write_ticks(self, *, reports: bool = True) -> None:
        """Write functions for whole ticks; with ``reports``, they note the changes of each rule."""
        for kind, rules in (("ok", self.rules.actions), ("law", self.rules.laws)):
            for name in rules:
                if (kind, name) not in self.names:
                    self._write(kind, name)
        says = self.says or reports
        writer = QuickWriter(self.writer, self.births, self.names, says, reports)
        self.quick, self.orders = writer.steps, writer.orders
        self.load()

    # ---- questions about rows -----------------------------------------------------------------

    def value_of(
        self, term: Term, params: Sequence[str] = (), lets: Sequence[Let] = (), *,
        careful: bool = False,
    ) -> Function:  # fmt: skip
        """A function for the value of a term, which may use ``params`` and the names of
        ``lets``."""
        return self.written(
            lambda _, names: self.writer.term(term, names), params, lets, careful=careful
        )

    def value(self, term: m.Term) -> Function:
        """A function for the value of a term of the checked model, kept with it."""
        known: dict[int, tuple[m.Term, Function]] = self.space.setdefault("ASKED", {})
        if id(term) not in known:
            known[id(term)] = (term, self.value_of(self.rules.term(term)))
        return known[id(term)][1]

    def text_of(
        self, text: Template, params: Sequence[str] = (), lets: Sequence[Let] = (), *,
        careful: bool = False,
    ) -> Function:  # fmt: skip
        """The same for the words of a text."""

        def write(_: BodyWriter, names: Names) -> str:
            function, passed = self.writer.text_function(text, names)
            return f"{function}({', '.join(['S', 'W', 'me', *passed])})"

        return self.written(write, params, lets, careful=careful)

    def shown_by(self, term: Term, params: Sequence[str] = ()) -> Function:
        """The same for a value as a reader sees it."""
        return self.written(lambda _, names: self.writer.shown(term, names), params)

    def bindings_of(
        self, binders: tuple[Binder, ...], where: Term | None, params: Sequence[str] = (),
        lets: Sequence[Let] = (), *, careful: bool = False,
    ) -> Function:  # fmt: skip
        """The same for the list of the values that binders range over."""

        def write(body: BodyWriter, names: Names) -> str:
            body.line("found = []")
            inner, depth = self.writer.loops(binders, where, names, body.lines, body.depth)
            row = "".join(f"{inner[one.name].code}, " for one in binders)
            body.lines.append((depth, f"found.append(({row}))"))
            return "found"

        return self.written(write, params, lets, careful=careful)

    def body_of(self, body: Body, params: Sequence[str] = ()) -> Function:
        """A function for a body, which takes its `Log` before ``params``."""
        code = self.writer.fresh("body_")
        self._body(code, {one: Name(self.writer.fresh("a")) for one in params}, body)
        self.load()
        found: Function = self.space[code]
        return found

    def written(
        self, value: Callable[[BodyWriter, Names], str], params: Sequence[str] = (),
        lets: Sequence[Let] = (), *, careful: bool = False,
    ) -> Function:  # fmt: skip
        """Return a generated function of the row, the row at the start of the tick, the actor and
        ``params``.

        Its body has the lets and then the code of ``value``, which gets the names in scope and
        returns the expression of the result. ``careful``: the code does not rely on types, because
        an earlier require may be false; arguments may be `none`.
        """
        names: Names = {one: Name(self.writer.fresh("a"), loose=careful) for one in params}
        given, body = [one.code for one in names.values()], BodyWriter(self.writer, self.births)
        self.writer.careful = careful
        try:
            for let in lets:
                names = body.statement(let, names)
            body.line(f"return {value(body, names)}")
        finally:
            self.writer.careful = False
        code = self.writer.fresh("asked_")
        self.writer.function(code, given, body.lines)
        self.load()
        found: Function = self.space[code]
        return found

    # ---- writing ------------------------------------------------------------------------------

    def _fresh(self, kind: str, name: str) -> str:
        readable = "".join(one if one.isascii() and one.isalnum() else "_" for one in name)
        code = self.names[kind, name] = self.writer.fresh(f"{kind}_{readable}_")
        return code

    def _births(self) -> dict[str, list[str]]:
        """The functions of the births of each type, the most general first."""
        births = self.rules.births
        codes = [self._fresh("birth", str(at)) for at in range(len(births))]
        found = {
            name: [codes[at] for at in self.rules.births_of(name)]
            for name in self.slots.program.types
        }
        for code, birth in zip(codes, births, strict=True):
            self._body(code, self._params((birth.param,)), birth.body, births=found)
        return found

    def _params(self, params: Sequence[Binder]) -> dict[str, Name]:
        return {one.name: Name(self.writer.fresh("a")) for one in params}

    def _body(
        self, code: str, params: Mapping[str, Name], body: Body, before: Lines | None = None,
        births: dict[str, list[str]] | None = None,
    ) -> None:  # fmt: skip
        """A function that runs a body; ``before`` are its first lines."""
        writer = BodyWriter(self.writer, births or self.births, before or [])
        writer.body(body, params)
        if not writer.lines:
            writer.line("pass")
        self.writer.function(code, ["D", *(one.code for one in params.values())], writer.lines)

    def _term(self, kind: str, name: str, term: Term, params: Sequence[Binder] = ()) -> None:
        """A function that gives the value of a term."""
        names = self._params(params)
        value = self.writer.value(term, names)
        code = self._fresh(kind, name)
        self.writer.function(code, (one.code for one in names.values()), [(1, f"return {value}")])

    def _action(self, name: str) -> None:
        action = self.rules.actions[name]
        params = self._params(action.params)
        writer = BodyWriter(self.writer, self.births)
        self._guards(writer, action, params)
        given = [one.code for one in params.values()]
        ok = self._fresh("ok", name)
        self.writer.function(ok, given, [*writer.lines, (1, "return -1")])
        HoistWriter(self.writer, action, ok).write(self._fresh("listed", name))
        lets = tuple(one for one in action.guards if isinstance(one, Let))
        self._body(self._fresh("run", name), params, (*lets, *action.body))
        if action.takes is not None:
            self.writer.careful = True  # breaking off, no require holds for sure
            self._body(self._fresh("cancel", name), params, (*lets, *action.cancelled))
            self.writer.careful = False
            self._term("takes", name, action.takes, action.params)
        if action.until is not None:
            self._term("until", name, action.until, action.params)
        if action.cost is not None:
            self._term("cost", name, action.cost, action.params)

    def _guards(self, writer: BodyWriter, action: Action, params: Mapping[str, Name]) -> None:
        """Lets and requires in written order; the number of the first false one is returned."""
        number, names = 0, params
        for guard in action.guards:
            if isinstance(guard, Require):
                test = self.writer.term(guard.condition, names)
                writer.line(f"if not {test}: return {number}")
                number += 1
            else:
                names = dict(writer.statement(guard, names))

    def _write(self, kind: str, name: str) -> None:
        """Write the functions of a rule, among them that of a kind, if it has one."""
        rules, writer, world = self.rules, self.writer, self.world
        match kind:
            case "ok" | "listed" | "run" | "cancel" | "takes" | "until" | "cost":
                if ("ok", name) not in self.names:
                    self._action(name)
            case "trial":
                if name not in self._tried:
                    self._tried.add(name)
                    write_trial(writer, self.births, self.names, rules.actions[name])
            case "law" | "turn":
                self._law(name)
            case "due":
                tests = lasting(rules.laws[name], rules)
                code = " and ".join(writer.term(one, {}) for one in tests)
                if tests:
                    writer.function(self._fresh("due", name), (), [(1, f"return {code}")])
            case "first":
                self._first(rules.laws[name])
            case "watch" | "spoken":
                watch = rules.watches[name]
                self._bindings("watch", name, watch.params, watch.when, "")
                self._body(self._fresh("spoken", name), self._params(watch.params), watch.body)
            case "invariant":
                rule = rules.invariants[name]
                self._bindings("invariant", name, rule.params, rule.condition, "not ")
            case "conserve":
                self._term("conserve", name, rules.conserves[name].value)
            case "ending":
                self._term("ending", name, world.endings[int(name)].condition)
            case "ended":
                text = world.endings[int(name)].text
                if text is not None:
                    self.names["ended", name] = writer.text_function(text, {})[0]
            case "award" | "awarded" | "pay" | "payed":
                line = (world.awards if kind.startswith("award") else world.pays)[int(name)]
                self._term(kind, name, line.amount if kind.endswith("ed") else line.when)
            case "score":
                assert world.score is not None
                self._term("score", "", world.score)
            case "called":
                one = rules.called[int(name)]
                names = self._params((one.param,))
                given, value = names[one.param.name].code, writer.shown(one.name, names)
                writer.function(self._fresh("called", name), (given,), [(1, f"return {value}")])
            case "derive":
                self.names["derive", name] = writer.derive(name, guarded=False)
            case "describe":
                told = rules.program.describes[int(name)]
                public, sugar = Secrets(rules.program).public, Desugarer(rules.program)
                description = sugar.description(public(told))
                params = self._params((description.param,))
                self._body(self._fresh("describe", name), params, description.body)
            case _:
                pass  # written where ticks are, or not at all

    def _law(self, name: str) -> None:
        """The law for one binding, as a sequential phase runs it, and for all at once."""
        law = self.rules.laws[name]
        params = self._params(law.params)
        by = f"D.by({f'law {name}'!r}, ({''.join(f'{one.code}, ' for one in params.values())}))"
        lines: Lines = [(1, by)]
        if law.when is not None:
            lines.insert(0, (1, f"if not {self.writer.term(law.when, params)}: return"))
        self._body(self._fresh("turn", name), params, law.body, lines)
        writer = BodyWriter(self.writer, self.births)
        names, depth = self.writer.loops(law.params, law.when, {}, writer.lines, 1)
        writer.depth = depth
        args = "".join(f"{names[one.name].code}, " for one in law.params)
        writer.line(f"D.by({f'law {name}'!r}, ({args}))")
        writer.body(law.body, names)
        self.writer.function(self._fresh("law", name), _BODY, writer.lines)

    def _first(self, law: Law) -> None:
        """The condition that a law has first, if that is about its first object alone. Laws with
        the same condition have one function."""
        if law.when is None or not law.params:
            return
        test, others = next(conjuncts((law.when,))), {one.name for one in law.params[1:]}
        if any(isinstance(one, Variable) and one.name in others for one in subterms(test)):
            return
        code = self.writer.term(test, {law.params[0].name: Name("x")})
        if code not in self._firsts:
            self._firsts[code] = self.writer.fresh("first_")
            self.writer.function(self._firsts[code], ("x",), [(1, f"return {code}")])
        self.names["first", law.name] = self._firsts[code]

    def _bindings(
        self, kind: str, name: str, params: tuple[Binder, ...], when: Term, sign: str
    ) -> None:
        """A function that lists the bindings for which a condition holds, or does not."""
        lines: Lines = [(1, "found = []")]
        names, depth = self.writer.loops(params, None, {}, lines, 1)
        row = "".join(f"{names[one.name].code}, " for one in params)
        lines.append((depth, f"if {sign}{self.writer.term(when, names)}: found.append(({row}))"))
        self.writer.function(self._fresh(kind, name), (), [*lines, (1, "return found")])

    # ---- compiling ----------------------------------------------------------------------------

    def load(self) -> None:
        """Compile the functions that were written since the last time."""
        constants = self.writer.constants
        recursive, turns = constants.pop("RECURSIVE", {}), constants.pop("TURNS", {})
        self.space.update(constants)
        if self._loaded < len(self.writer.functions):
            new = "\n\n".join(self.writer.functions[self._loaded :]) + "\n"
            self._loaded, self.source = len(self.writer.functions), self.source + new
            exec(compile(new, f"<rows of {self.slots.instance.world.name}>", "exec"), self.space)
        for order, listed in turns.items():
            self.space[order] = [(self.space[name], args) for name, args in listed]
        self._fixpoints.add(recursive)

    # ---- score --------------------------------------------------------------------------------

    def score(self, S: list[Any], W: list[Any], me: int | None) -> Fraction:
        """The world's expression plus the awards that were given."""
        if self.world.score is None:
            total = _NOTHING
        else:
            total = exact(self["score", ""](S, W, me), self.world.score)
        for at in S[AWARDED]:
            total += self.amount("awarded", at, self.world.awards[at], S, W, me)
        return total

    def amount(
        self, kind: str, at: int, award: Award, S: list[Any], W: list[Any], me: int | None
    ) -> Fraction:
        """The amount that an award or reward line pays now."""
        return exact(self[kind, str(at)](S, W, me), award.amount)


def _pays(body: Body) -> bool:
    return any(isinstance(one, Reward) for one in statements_in(body))


def exact(value: Any, term: Term) -> Fraction:
    """A stored number; 0 if it depends on a destroyed object."""
    if isinstance(value, float):
        return Fraction(value)
    decimals = term.type.decimals if isinstance(term.type, NumberType) else 0
    return _NOTHING if value is None else Fraction(value, 10**decimals)


class _Fixpoints:
    """The least fixpoints of recursive derives, cached for one epoch of the rows and by the slots
    on which they depend, since rows return to earlier values."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._readers: dict[str, Callable[[list[Any]], Any] | None] = {}
        self._width = 0
        self._known: dict[Any, dict[str, set[tuple[Any, ...]]]] = {}
        self._functions: dict[str, tuple[Function, Function]] = {}
        self._groups: dict[str, tuple[str, ...]] = {}
        self._tables: dict[Any, set[tuple[Any, ...]]] = {}
        self._epoch = -1

    def add(self, recursive: dict[str, tuple[str, str]]) -> None:
        """Take in derives by the names of their functions."""
        if recursive:
            space = self._program.space
            self._functions |= {
                x: (space[one], space[all_]) for x, (one, all_) in recursive.items()
            }
            self._groups = _groups(self._program.rules, tuple(self._functions))

    def holds(
        self, name: str, S: list[Any], W: list[Any], me: int | None, args: tuple[Any, ...]
    ) -> bool:
        """Return whether arguments are in the fixpoint on a row, as far as it is computed."""
        epoch = self._program.slots.epoch
        if epoch != self._epoch:
            self._tables, self._epoch = {}, epoch
        where = (id(S), id(W), me)
        table = self._tables.get((name, *where))
        if table is None:
            self._find(name, S, W, me, where)
            table = self._tables[name, *where]
        return args in table

    def _find(
        self, name: str, S: list[Any], W: list[Any], me: int | None, where: tuple[Any, ...]
    ) -> None:
        """The tables of a derive and of those that it grows with, looked up or grown."""
        read, group = self._reader(name), self._groups[name]
        self._program.slots.fill(S)
        hidden = isinstance(S, HiddenRow)  # not all of it is to be read
        key = None if read is None or hidden else (name, me, read(S))
        known = None if key is None else self._known.get(key)
        if known is None:
            self._grow(name, S, W, me, where)
            if key is not None:
                if len(self._known) >= MOST_TABLES:
                    self._known.clear()
                self._known[key] = {one: self._tables[one, *where] for one in group}
        else:
            self._tables |= {(one, *where): table for one, table in known.items()}

    def _reader(self, name: str) -> Callable[[list[Any]], Any] | None:
        """A getter of the slots that decide a derive; ``None`` if more than slots decide it, or too
        many of them."""
        slots = self._program.slots
        if self._width != len(slots.blank):
            self._readers, self._width = {}, len(slots.blank)
        if name not in self._readers:
            rule = self._program.rules.derives[name].footprint
            places = [] if rule.was or rule.asks else list(slots.decisive(rule))
            few = 0 < len(places) <= MOST_TABLES
            self._readers[name] = itemgetter(*places) if few else None
        return self._readers[name]

    def _grow(
        self, name: str, S: list[Any], W: list[Any], me: int | None, where: tuple[Any, ...]
    ) -> None:
        group = self._groups[name]
        for one in group:
            self._tables[one, *where] = set()
        try:
            self._close(group, S, W, me, where)
        except BaseException:
            for one in group:  # a half-grown table must not be read
                self._tables.pop((one, *where), None)
            raise

    def _close(
        self, group: tuple[str, ...], S: list[Any], W: list[Any], me: int | None,
        where: tuple[Any, ...],
    ) -> None:  # fmt: skip
        """Add to the tables of derives that use each other until nothing is new."""
        growing = True
        while growing:
            growing = False
            for one in group:
                table = self._tables[one, *where]
                value, every = self._functions[one]
                new = [x for x in every(S, W, me) if x not in table and value(S, W, me, *x)]
                table.update(new)
                growing = growing or bool(new)


def _groups(rules: Rules, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The derives that use each other, by each of them."""
    from tokenworld.core.nodes import DeriveCall
    from tokenworld.core.walk import subterms

    calls = {
        name: {one.derive for one in subterms(rules.derives[name].value)
               if isinstance(one, DeriveCall)}
        for name in rules.derives
    }  # fmt: skip

    def reached(name: str) -> set[str]:
        found, todo = set[str](), [name]
        while todo:
            new = calls[todo.pop()] - found
            found |= new
            todo += new
        return found

    known = {name: reached(name) for name in names}
    return {
        name: tuple(one for one in names if one in known[name] and name in known[one])
        for name in names
    }


# ---- words --------------------------------------------------------------------------------------


def _words(program: Program) -> dict[str, Any]:
    """The functions that turn values into words (language.md §11)."""
    prose, slots = program.prose, program.slots
    instance = slots.instance
    titles: dict[tuple[int, str], str | None] = {}

    def title_of(x: int, known: str) -> str | None:
        if (x, known) not in titles:
            decl = instance.declared(x, known)
            titles[x, known] = None if decl is None else decl.title
        return titles[x, known]

    def name_of(S: list[Any], W: list[Any], me: int | None, x: int) -> str:
        known = S[NAMES][x]
        title = title_of(x, known)
        if title is not None:
            return title
        rule = program.called_by.get(S[KINDS][x])
        if rule is None:
            return prose.identifier(known)
        found: str = program["called", str(rule)](S, W, me, x)
        return found

    def named(S: list[Any], W: list[Any], me: int | None, x: int | None, article: str) -> str:
        return "nothing" if x is None else prose.named(name_of(S, W, me, x), article)

    def described(S: list[Any], W: list[Any], me: int | None, x: int | None) -> str:
        rule = None if x is None else program.described_by.get(S[KINDS][x])
        if rule is None:
            return ""
        log = Log(Row(slots, S), SeededLuck(), {})
        program["describe", str(rule)](S, W, me, log, x)
        return "\n".join(words(S, W, who, *args) for words, _, who, args in log.lines)

    def of_enum(members: Sequence[str], value: int | None, article: str) -> str:
        if value is None:
            return "nothing"
        return prose.named(prose.identifier(members[value]), article)

    def of_number(value: int | None, decimals: int, unit: str) -> str:
        return "nothing" if value is None else prose.number(value, decimals, unit)

    def of_real(value: float | None) -> str:
        return "nothing" if value is None else prose.real(value)

    def of_text(value: str | None) -> str:
        return "nothing" if value is None else str(value)

    def score(S: list[Any], W: list[Any], me: int | None) -> Any:
        found = program.score(S, W, me)
        return int(found) if found.denominator == 1 else found

    given = (name_of, named, described, of_enum, of_number, of_real, of_text, score)
    return {"P": prose, **{one.__name__: one for one in given}}


def rule_code(program: Program, kinds: tuple[str, ...], name: str) -> str:
    """The text of a rule's functions of these kinds, and of those that they call."""
    for kind in kinds:
        program.find(kind, name)
    texts = {text.partition("(")[0][4:]: text for text in program.writer.functions}
    todo = [program.names[kind, name] for kind in kinds if (kind, name) in program.names]
    for one in todo:  # grows while it is walked
        called = dict.fromkeys(re.findall(r"\b(\w+)\(", texts[one]))
        todo += [other for other in called if other in texts and other not in todo]
    return "\n\n".join(texts[one] for one in todo)
