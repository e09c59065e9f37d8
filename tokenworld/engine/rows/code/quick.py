"""One function for a whole tick of an action, if its rules are simple enough.

``step(S, W, me, R, J, *args)`` checks the requires, writes in the cheapest `Mode` of each
body, runs the phases, invariants, awards and endings, and returns 0. After any other result the
caller undoes the tick: -1 and below name the require that was false, `UNSURE` (and a `Breach`)
leave the tick to `stepper`. A world or an action that needs more (rounds, long actions, conserved
sums, turns of objects that are created or destroyed) has no such function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Final, Literal, assert_never

from tokenworld import model as m
from tokenworld.core import Rules
from tokenworld.core import nodes as core
from tokenworld.core.rules import Action, Footprint, Law
from tokenworld.core.walk import is_draw, mentions, statements_in, subterms, terms_in
from tokenworld.engine.changes import shaped_or_bounded
from tokenworld.engine.rows.code.bodies import BodyWriter
from tokenworld.engine.rows.code.hoist import lasting
from tokenworld.engine.rows.code.terms import Lines, Name, Names, TermWriter
from tokenworld.engine.rows.layout import AWARDED, KINDS, LATCHED, TICK, Slots, Store

# ---- Modes ---------------------------------------------------------------------------------------
# The modes in which the writes of a body may be executed, proved from its reads and writes.
#
# - ``direct``: each write goes into the row at once. No slot is read after it, none written twice.
# - ``pend``: all values first, then all writes, none of them in a loop. Two writes of one fluent
#   are compared when they run: where they meet in one slot, the tick is left to the log.
# - ``log``: writes are collected, merged by slot and committed. Always right.
#
# A body reads one state, so the first two need a proof; where there is none the log is kept.


Mode = Literal["direct", "pend", "log"]


@dataclass
class Modes:
    """Chooses the mode of each body of a program."""

    slots: Slots
    rules: Rules
    reports: bool = False
    """Whether the events of a body are wanted, which only a log has."""

    def of(self, body: core.Body) -> Mode:
        """The mode of a body that is run for one binding."""
        every = list(statements_in(body))
        emits = self.reports and any(isinstance(one, core.Emit) for one in every)
        if emits or any(map(_needs_log, every)):
            return "log"
        writes = [one for one in every if isinstance(one, core.Write)]
        if not all(map(self._plain, writes)):
            return "log"
        reads = self.rules.footprint((), (body,)).reads
        names = _introduced(body, ())
        once = max(most_written(body).values(), default=0) <= 1
        alone = once and len(names) == len(set(names)) and _apart(body, frozenset())
        if alone and not reads & {one.target.fluent for one in writes}:
            return "direct"
        return "log" if any(isinstance(one, core.For) for one in every) else "pend"

    def _plain(self, write: core.Write) -> bool:
        """Return whether a write changes one slot that surely exists, and affects no shape but a
        list of children or a place of nesting."""
        store = self.slots.by_id[write.target.fluent]
        fluent = store.column.fluent
        moving = any(
            one.type.kind == "object" and one.type.name in self.slots.moving
            for one in fluent.params
        )
        number = write.op == "+" and m.is_optional(fluent.type)
        return not (moving or number or fluent.unique or fluent.acyclic or fluent.symmetric)

    def own(self, laws: Sequence[Law]) -> bool:
        """Return whether each binding of laws that read one state reads and writes slots of its
        own, so that they may be carried out one after the other."""
        touched = {law.name: law.footprint for law in laws}
        for law in laws:
            writes = touched[law.name].writes
            others = [touched[one.name] for one in laws if one is not law]
            if any(writes & (one.reads | one.writes) for one in others):
                return False
            if self.of(law.body) == "log" or (law.params and not self._own(law, writes)):
                return False
        return True

    def _own(self, law: Law, writes: frozenset[str]) -> bool:
        """Return whether one law reads and writes its written fluents at its own arguments only."""
        names = tuple(one.name for one in law.params)
        given = (*terms_in(law.body), *(() if law.when is None else (law.when,)))
        terms = [part for one in given for part in subterms(one)]
        called = [one.derive for one in terms if isinstance(one, core.DeriveCall)]
        inside = self.rules.footprint([self.rules.derives[name].value for name in called])
        if inside.reads & writes or set(names) & set(_introduced(law.body, terms)):
            return False
        if any(isinstance(one, core.Members) and one.fluent in writes for one in terms):
            return False
        places = [one.args for one in terms if isinstance(one, core.Read) and one.fluent in writes]
        places += [
            one.target.args for one in statements_in(law.body) if isinstance(one, core.Write)
        ]
        return all(_variables(args) == names for args in places)


def _introduced(body: core.Body, terms: Iterable[core.Term]) -> list[str]:
    """The names that a body and its folds introduce."""
    found = [x.name for one in terms if isinstance(one, core.Fold) for x in one.binders]
    for one in statements_in(body):
        if isinstance(one, core.Let):
            found += one.names
        elif isinstance(one, core.For):
            found += (x.name for x in one.binders)
    return found


def _needs_log(statement: core.Statement) -> bool:
    """Return whether a statement needs a log: it creates, destroys, or outputs a value that may be
    missing (texts are computed on demand only)."""
    match statement:
        case core.Create() | core.Destroy():
            return True
        case core.Emit(args=args):
            return not all(map(_is_plain, args))
        case core.Reward(amount=amount):
            return not _is_plain(amount)
        case (
            core.Let()
            | core.Write()
            | core.If()
            | core.For()
            | core.Require()
            | core.Say()
            | core.Describe()
        ):
            return False
        case _:
            assert_never(statement)


def _is_plain(term: core.Term) -> bool:
    """Return whether a term has a value in every state."""
    plain = (core.Constant, core.Variable, core.Actor, core.ObjectName, core.ParamValue, core.Read)
    return all(isinstance(one, plain) for one in subterms(term))


def _variables(args: tuple[core.Term, ...]) -> tuple[str, ...]:
    return tuple(one.name if isinstance(one, core.Variable) else "" for one in args)


def most_written(body: core.Body) -> Counter[str]:
    """The largest number of writes of each fluent on one path through a body."""
    found = Counter[str]()
    for one in body:
        if isinstance(one, core.Write):
            found[one.target.fluent] += 1
        elif isinstance(one, core.If):
            found += most_written(one.then) | most_written(one.otherwise)
        elif isinstance(one, core.For):
            found += most_written(one.body)
    return found


def _apart(body: core.Body, loops: frozenset[str]) -> bool:
    """Return whether writes inside loops reach a slot of their own in every round."""
    for one in body:
        if isinstance(one, core.Write) and not loops <= set(_variables(one.target.args)):
            return False
        if isinstance(one, core.If) and not (
            _apart(one.then, loops) and _apart(one.otherwise, loops)
        ):
            return False
        if isinstance(one, core.For):
            if any(
                isinstance(x.domain, core.Members) and x.domain.by == "list" for x in one.binders
            ):
                return False
            if not _apart(one.body, loops | {x.name for x in one.binders}):
                return False
    return True


def sums_written(rules: Rules) -> dict[str, frozenset[str]]:
    """The conserved sums, each with the titles of the rules whose writes may change it."""
    titled = {f"action {name}": one.footprint for name, one in rules.actions.items()}
    titled |= {f"law {name}": one.footprint for name, one in rules.laws.items()}
    return {
        name: frozenset(
            title
            for title, touched in titled.items()
            if one.footprint.asks or one.footprint.reads & touched.writes
        )
        for name, one in rules.conserves.items()
    }


# ---- Ticks ---------------------------------------------------------------------------------------


UNSURE: Final = 1
"""The general way decides."""
MOST_TURNS = 20_000
"""Bindings of a sequential phase up to which their list is kept."""
_ARGS = ("R", "J")


class Unsure(Exception):
    """A slot that a body writes may not be there yet: its log finds it."""


@dataclass
class Direct(BodyWriter):
    """Writes into the row, at once or (``pending``) after all values are computed. With ``says``,
    computes texts after all writes."""

    pending: bool = False
    says: bool = False
    lists: bool = True
    """Whether rows have lists of the objects that refer to an object, updated at each write."""
    start: int = 0
    """The line before which pending places are set to none."""
    _writes: list[tuple[Store, str, str]] = field(default_factory=list)

    def write(self, statement: core.Write, env: Names) -> Names:
        terms, target = self.terms, statement.target
        store = terms.slots.by_id[target.fluent]
        if not terms.sure(store, target.args, env):
            raise Unsure
        codes = [terms.term(one, env) for one in target.args]
        place = terms.slot(store, codes)
        if self.pending or not place.isdigit():
            place = self._held(place)
        value = self._value(statement, store, place, env)
        if self.pending:
            self._writes.append((store, place, value))
        else:
            self._put(store, place, value)
        return env

    def _held(self, code: str) -> str:
        own = self.terms.fresh("i")
        self.line(f"{own} = {code}")
        return own

    def _value(self, statement: core.Write, store: Store, place: str, env: Names) -> str:
        """The name of the checked new value of a slot."""
        terms, kind = self.terms, store.column.fluent.type
        code = terms.value(statement.value, env)
        if statement.op == "+":
            code = terms.within_length(code, statement.value.type)
        if isinstance(kind, m.RealType) and not isinstance(statement.value.type, m.RealType):
            code = f"to_real({code}, 1)"
        loose = terms.loose(statement.value, env)
        held = self._held(code)
        if loose and (statement.op == "+" or store.column.always):
            self.line(f"if {held} {terms.absent}: return {UNSURE}")
        if statement.op == "+":
            if terms.may_lack(statement.target, env):
                self.line(f"if S[{place}] {terms.absent}: return {UNSURE}")
            self.line(f"{held} += S[{place}]")
        fixed = isinstance(statement.value, core.Constant) and statement.op == "="
        if isinstance(kind, m.NumberType) and not fixed:
            self._bound(store, kind, held, loose=loose and statement.op == "=")
        return held

    def _bound(self, store: Store, kind: m.NumberType, value: str, *, loose: bool) -> None:
        """Keep a number within its range, or give up."""
        some = f"{value} {self.terms.present} and " if loose else ""
        tests = [(f"{value} < {kind.low}", kind.low)] if kind.low is not None else []
        tests += [(f"{value} > {kind.high}", kind.high)] if kind.high is not None else []
        for test, end in tests:
            then = f"{value} = {end}" if store.column.fluent.clamped else f"return {UNSURE}"
            self.line(f"if {some}{test}: {then}")

    def _set(self, place: str, value: str) -> None:
        """Write a slot, if that changes it."""
        self.line(f"if S[{place}] != {value}:")
        self.lines.append((self.depth + 1, self.terms.push(place)))
        self.lines.append((self.depth + 1, f"S[{place}] = {value}"))

    def _put(self, store: Store, place: str, value: str) -> None:
        if store.kids is not None and self.lists:
            self.line(f"store_value(R, {place}, {value})")
        else:
            self._set(place, value)
        if store.column.fluent.nested:
            own = self.terms.owner_of(place)
            code = f"climbs(S, {self.terms.table(store)}, {own}, {own})"
            self.line(f"if {code}: return {UNSURE}")

    def finish(self) -> None:
        """Write the pending changes, if no two of them write the same slot."""
        blank = [(self.depth, f"{place} = -1") for _, place, _ in self._writes]
        self.lines[self.start : self.start] = blank
        for (one, place, _), (other, second, _) in combinations(self._writes, 2):
            if one is other:
                self.line(f"if {place} == {second} and {place} >= 0: return {UNSURE}")
        for store, place, value in self._writes:
            self.line(f"if {place} >= 0:")
            self.depth += 1
            self._put(store, place, value)
            self.depth -= 1

    def reward(self, statement: core.Reward, env: Names) -> Names:
        kind, amount = statement.amount.type, self.terms.term(statement.amount, env)
        decimals = kind.decimals if isinstance(kind, m.NumberType) else 0
        self.line(f"R.paid.append(({amount}, {decimals}))")
        return env

    def say(self, statement: core.Say, env: Names) -> Names:
        if self.says:
            text, passed = self.terms.text_function(statement.template, env)
            self.line(f"R.lines.append(({text}, W, me, ({''.join(f'{one}, ' for one in passed)})))")
        return env

    def describe(self, statement: core.Describe, env: Names) -> Names:
        if self.says:
            target = self.terms.term(statement.target, env)
            self.line(f"R.lines.append((described, W, me, ({target},)))")
        return env

    def emit(self, statement: core.Emit, env: Names) -> Names:
        return env


@dataclass
class _Trial(Direct):
    """Computes the values that a require of the language may refuse, and writes nothing."""

    pending: bool = True
    whole: core.Body = ()

    def __post_init__(self) -> None:
        self._risky = shaped_or_bounded(self.terms.rules)

    def write(self, statement: core.Write, env: Names) -> Names:
        fluent = self.terms.slots.by_id[statement.target.fluent].column.fluent
        if fluent.id not in self._risky:
            return env
        number = statement.op == "+" and m.is_optional(fluent.type)
        if number or fluent.unique or fluent.acyclic or fluent.symmetric:
            raise Unsure
        return super().write(statement, env)

    def _put(self, store: Store, place: str, value: str) -> None:
        if store.column.fluent.nested:
            own, table = self.terms.owner_of(place), self.terms.table(store)
            self.line(f"if {value} == {own} or climbs(S, {table}, {value}, {own}):")
            self.lines.append((self.depth + 1, f"return {UNSURE}"))
        else:
            self.line("pass")

    def loop(self, statement: core.For, env: Names) -> Names:
        for one in statements_in(statement.body):
            risky = isinstance(one, core.Write) and one.target.fluent in self._risky
            if risky or is_draw(one) or isinstance(one, core.Create):
                raise Unsure  # a draw that is left out would change the numbers of later ones
        return env

    def reward(self, statement: core.Reward, env: Names) -> Names:
        return env

    def create(self, statement: core.Create, env: Names) -> Names:
        """A new object that the body does nothing with may be refused for a number alone."""
        if self.births[statement.of] or mentions(self.whole, {statement.name}):
            raise Unsure
        for one in statement.fields:
            store = self.terms.slots.by_id[one.fluent]
            kind, fluent = store.column.fluent.type, store.column.fluent
            if fluent.unique:
                raise Unsure
            if isinstance(kind, m.NumberType):
                held = self._held(self.terms.value(one.value, env))
                self._bound(store, kind, held, loose=self.terms.loose(one.value, env))
        return env

    def destroy(self, statement: core.Destroy, env: Names) -> Names:
        return env


def write_trial(
    terms: TermWriter, births: dict[str, list[str]], names: dict[tuple[str, str], str],
    action: Action,
) -> None:  # fmt: skip
    """Write the test of an action that a require of the language may refuse: ``trial`` returns 0 if
    none refuses it, `UNSURE` if its log must decide. Write none if a log must always decide."""
    fluents = terms.rules.program.fluents
    nested = sum(many for one, many in most_written(action.body).items() if fluents[one].nested)
    if nested > 1 or action.takes is not None:
        return
    params = {one.name: Name(terms.fresh("a")) for one in action.params}
    codes = [one.code for one in params.values()]
    writer, inner = _Trial(terms, births, whole=action.body), dict(params)
    if any(map(is_draw, statements_in(action.body))):
        writer.line(f"D = new({_new('action', action.name, codes)})")
    try:
        for guard in action.guards:
            if isinstance(guard, core.Let):
                inner = dict(writer.statement(guard, inner))
        writer.start = len(writer.lines)
        writer.body(action.body, inner)
    except Unsure:
        return
    writer.finish()
    code = names["trial", action.name] = terms.fresh("trial_")
    terms.function(code, [*_ARGS, *codes], [*writer.lines, (1, "return 0")])


@dataclass
class QuickWriter:
    """Writes the step functions of a world; ``steps`` names that of each action. With ``says``,
    they compute texts; with ``reports``, they note in ``R.parts`` which rule wrote which part of
    the journal."""

    terms: TermWriter
    births: dict[str, list[str]]
    names: dict[tuple[str, str], str]
    """The functions of the rules, which those bodies use that keep a log."""
    says: bool = False
    reports: bool = False
    steps: dict[str, str] = field(default_factory=dict)
    orders: dict[str, tuple[m.Phase, dict[str, str]]] = field(default_factory=dict)
    """The functions, by law, that generated code calls for the turns of a phase."""

    def __post_init__(self) -> None:
        self.rules, self.slots = self.terms.rules, self.terms.slots
        self.modes = Modes(self.slots, self.rules, self.reports)
        self.world = self.slots.instance.world
        self.terms.constants["Fraction"] = Fraction
        if self._is_simple():
            self._write()

    # ---- simple worlds --------------------------------------------------------------------------

    def _is_simple(self) -> bool:
        """Return whether ticks of this world need nothing but requires, writes and phases."""
        rules, world = self.rules, self.world
        laws = [one.footprint for one in rules.laws.values()]
        return not (
            len(self.slots.base.actors) > 1
            or world.outcomes == "live"
            or self._recurs()
            or any(map(self._is_odd, laws))
        )

    def _recurs(self) -> bool:
        """Return whether a rule reads a least fixpoint, which each write would compute anew."""
        rules, world = self.rules, self.rules.worlds[self.world.name]
        todo: list[core.Term] = [x for one in rules.laws.values() for x in terms_in(one.body)]
        todo += (one.when for one in rules.laws.values() if one.when is not None)
        for action in rules.actions.values():
            todo += terms_in((*action.guards, *action.body))
        todo += (one.condition for one in rules.invariants.values())
        todo += (one.condition for one in world.endings)
        todo += (one.when for one in world.awards)
        return self._reads_fixpoint(todo)

    def _reads_fixpoint(self, terms: Iterable[core.Term]) -> bool:
        """Return whether terms read a least fixpoint, through other derived facts too."""
        seen, todo, rules = set[str](), list(terms), self.rules
        for term in todo:  # grows while it is walked
            called = {one.derive for one in subterms(term) if isinstance(one, core.DeriveCall)}
            todo += (rules.derives[name].value for name in sorted(called - seen))
            seen |= called
        return any(rules.derives[name].recursive for name in seen)

    def _is_odd(self, touched: Footprint) -> bool:
        """Return whether a rule reads the executed command, or may change a conserved sum."""
        sums = [one.footprint for one in self.rules.conserves.values()]
        populates = bool(touched.creates) or touched.destroys
        changed = any(populates or one.reads & touched.writes or one.asks for one in sums)
        return changed or "did" in touched.asks

    def phases(self) -> list[tuple[m.Phase | None, tuple[Law, ...]]]:
        """The phases that have laws, in order."""
        found = []
        for phase in (*self.rules.program.phases.values(), None):
            name = "" if phase is None else phase.name
            laws = tuple(law for law in self.rules.laws.values() if law.phase == name)
            if laws:
                found.append((phase, laws))
        return found

    def _has_order(self, phase: m.Phase, laws: tuple[Law, ...]) -> bool:
        """Return whether a sequential phase has the same few turns in every tick."""
        kinds = [binder.type for law in laws for binder in law.params]
        moving = any(isinstance(x, m.ObjectType) and x.name in self.slots.moving for x in kinds)
        return phase.order != "by_nesting" and not moving and len(self._turns(laws)) <= MOST_TURNS

    def _turns(self, laws: tuple[Law, ...]) -> list[tuple[Law, tuple[Any, ...]]]:
        """Bindings without objects first, by law; then by the number of the first object."""
        rows = []
        for position, law in enumerate(laws):
            domains = [self.slots.first_values(one.domain) for one in law.params]
            thing = bool(law.params) and isinstance(law.params[0].type, m.ObjectType)
            for args in product(*domains):
                rows.append((args[0] if thing else -1, position, law, args))
        rows.sort(key=lambda row: row[:2])
        return [(law, args) for _, _, law, args in rows]

    # ---- functions ------------------------------------------------------------------------------

    def _direct(self, lines: Lines | None = None) -> Direct:
        """The writer of a body that changes the row itself."""
        return Direct(self.terms, self.births, [] if lines is None else lines, says=self.says)

    def _write(self) -> None:
        phases = self._phases()
        for name, action in self.rules.actions.items():
            if action.takes is None and not self._is_odd(action.footprint):
                self._step(name, action, phases)
        self.steps[""] = self.terms.fresh("step_pass_")
        self.terms.function(self.steps[""], _ARGS, [(1, f"return {phases}")])

    def _step(self, name: str, action: Action, phases: str) -> None:
        params = {one.name: Name(self.terms.fresh("a")) for one in action.params}
        writer = self._direct()
        names, number = dict(params), 0
        for guard in action.guards:
            if isinstance(guard, core.Let):
                names = dict(writer.statement(guard, names))
                continue
            assert isinstance(guard, core.Require)
            writer.line(f"if not {self.terms.term(guard.condition, names)}: return {-1 - number}")
            number += 1
        codes = [one.code for one in params.values()]
        self._carried_out(writer, action.body, names, "action", name, codes)
        writer.line(f"return {phases}")
        code = self.names["step", name] = self.steps[name] = self.terms.fresh("step_")
        self.terms.function(code, [*_ARGS, *codes], writer.lines)

    def _carried_out(
        self, writer: Direct, body: core.Body, names: Names, kind: str, name: str,
        codes: list[str], *, alone: bool = True,
    ) -> None:  # fmt: skip
        """A body in its own mode. ``alone``: nothing else is written together with it."""
        at, depth = len(writer.lines), writer.depth
        try:
            self._written(writer, body, names, kind, name, codes)
        except Unsure:
            del writer.lines[at:]
            writer.depth = depth
            self._logged(writer, body, kind, name, codes, alone=alone)
        else:
            if alone and self._tells(body):
                writer.line("if R.lines: speak(R)")
            if self.reports:
                writer.line(f"R.parts.append((len(J), {_titled(kind, name, codes)}, None))")

    def _part(self) -> str:
        """The statement that notes a committed log as a part of the journal."""
        return "; R.parts.append((len(J), '', (), D))" if self.reports else ""

    def _logged(
        self,
        writer: Direct,
        body: core.Body,
        kind: str,
        name: str,
        codes: list[str],
        *,
        alone: bool,
    ) -> None:
        """A body that logs its requests, by the function of its rule."""
        run = self.names["run" if kind == "action" else "turn", name]
        writer.line(f"D = new({_new(kind, name, codes)})")
        writer.line(f"{run}(S, W, me, D, {''.join(f'{one}, ' for one in codes)})")
        fired = "if D.fired: " if kind == "law" else ""
        if alone and self._tells(body):
            writer.line(f"{fired}tell(R, D){self._part()}")
            return
        writer.line(f"{fired}commit(R, D){self._part()}")
        if any(isinstance(one, core.Reward) for one in statements_in(body)):
            writer.line("R.paid += D.rewards")
        if self._tells(body):
            writer.line("R.lines += D.lines")

    def _tells(self, body: core.Body) -> bool:
        """Return whether a body says a text that must be computed; births may say anything."""
        spoken = (core.Say, core.Describe, core.Create)
        return self.says and any(isinstance(one, spoken) for one in statements_in(body))

    def _written(
        self, writer: Direct, body: core.Body, names: Names, kind: str, name: str, codes: list[str]
    ) -> None:
        """A body that writes the row itself; `Unsure` where that is not proved right."""
        mode = self.modes.of(body)
        if mode == "log":
            raise Unsure
        statements = list(statements_in(body))
        lets = [one for one in statements if isinstance(one, core.Let)]
        count = sum(isinstance(one.value, core.Draw) for one in lets)
        once = count == 1 and not any(isinstance(one, core.For) for one in statements)
        if count:
            self._draws(writer, kind, name, codes, once=once)
        writer.pending, writer.start = mode == "pend", len(writer.lines)
        writer.body(body, names)
        writer.finish()

    def _draws(self, writer: Direct, kind: str, name: str, codes: list[str], *, once: bool) -> None:
        """The draws of a rule: made by a line, or where its only draw needs them (``once``)."""
        code = f"draws({_new(kind, name, codes)})"
        if once:
            writer.drawing = code
        else:
            writer.line(f"D = {code}")

    def _phases(self) -> str:
        """The call that runs all phases, then checks and ends the tick."""
        lines: Lines = []
        for phase, laws in self.phases():
            if phase is not None and phase.order != "simultaneous":
                self._in_turn(phase, laws, lines)
            elif self.modes.own(laws):
                for law in laws:
                    self._each(law, lines)
                if any(self._tells(law.body) for law in laws):
                    lines.append((1, "if R.lines: speak(R)"))
            else:
                self._together(laws, lines)
            if self.reports:
                lines.append((1, "R.parts.append(None)"))
        name = self.terms.fresh("phases_")
        self.terms.function(name, _ARGS, [*lines, *self._close()])
        return f"{name}(S, W, me, R, J)"

    def _together(self, laws: tuple[Law, ...], lines: Lines) -> None:
        """A simultaneous phase: every law logs its requests, then all of them are written."""
        lines.append((1, "D = new('', (), R, me)"))
        lines += [(1, f"{self.names['law', law.name]}(S, W, me, D)") for law in laws]
        if any(self._tells(law.body) for law in laws):
            lines.append((1, f"if D.fired: tell(R, D){self._part()}"))
        else:
            lines.append((1, f"if D.fired: commit(R, D){self._part()}"))
            lines.append((1, "R.paid += D.rewards"))

    def _each(self, law: Law, lines: Lines) -> None:
        """A law whose bindings do not touch each other, one binding after the other."""
        writer = self._direct(lines)
        names, writer.depth = self.terms.loops(law.params, law.when, {}, lines, 1)
        codes = [names[one.name].code for one in law.params]
        before = len(lines)
        self._carried_out(writer, law.body, names, "law", law.name, codes, alone=False)
        if len(lines) == before:
            writer.line("pass")

    def _in_turn(self, phase: m.Phase, laws: tuple[Law, ...], lines: Lines) -> None:
        """A sequential phase: its turns in order, each with the function of its law. Where objects
        come, go or move, who has a turn is asked in every tick, and the dead have none."""
        functions = {law.name: self._turn(law) for law in laws}
        order = self.terms.fresh("ORDER")
        if not self._has_order(phase, laws) or any(lasting(law, self.rules) for law in laws):
            self.orders[order] = phase, functions
            lines.append((1, f"kinds = S[{KINDS}]"))
            lines.append((1, f"for test, x, turns in {order}(R, W, me):"))
            unmoved = f"S[{KINDS}] is kinds"
            lines.append((2, f"if test and {unmoved} and not test(S, W, me, x): continue"))
            lines.append((2, "for (law, turn), args in turns:"))
            lines.append((3, f"if {unmoved} or are_alive(S[{KINDS}], law, args):"))
            lines.append((4, "if turn(S, W, me, R, J, *args): return 1"))
            return
        turns = [(functions[law.name], args) for law, args in self._turns(laws)]
        self.terms.constants.setdefault("TURNS", {})[order] = turns
        lines.append((1, f"for turn, args in {order}:"))
        lines.append((2, "if turn(S, W, me, R, J, *args): return 1"))

    def _turn(self, law: Law) -> str:
        params = {one.name: Name(self.terms.fresh("a")) for one in law.params}
        codes = [one.code for one in params.values()]
        writer = self._direct()
        if law.when is not None:
            writer.line(f"if not {self.terms.term(law.when, params)}: return 0")
        self._carried_out(writer, law.body, params, "law", law.name, codes)
        name = self.terms.fresh("quick_")
        self.terms.function(name, [*_ARGS, *codes], [*writer.lines, (1, "return 0")])
        return name

    def _close(self) -> Lines:
        """Invariants, the number of the tick, awards and endings."""
        terms, rules = self.terms, self.rules.worlds[self.world.name]
        lines: Lines = []
        invariants = self.rules.invariants.values()
        if self.reports and invariants:
            lines.append((1, "holds(R, W)"))
        for one in () if self.reports else invariants:
            names, depth = terms.loops(one.params, None, {}, lines, 1)
            lines.append((depth, f"if not {terms.term(one.condition, names)}: return {UNSURE}"))
        lines += [(1, terms.push(str(TICK))), (1, f"S[{TICK}] += 1")]
        for at, award in enumerate(rules.awards):
            lines += self._latched(AWARDED, at, at, terms.term(award.when, {}))
        pays = [*self._pays(), "return 0"]
        for at, ending in enumerate(rules.endings):
            lines += self._latched(LATCHED, at, ending.name, terms.term(ending.condition, {}))
            if not self.world.endless:
                lines += [(2, text) for text in pays]
        return [*lines, *((1, text) for text in pays)]

    def _latched(self, slot: int, at: int, value: object, test: str) -> Lines:
        """The lines that note an award or ending, the number ``at``, where it is reached now."""
        return [
            (1, f"if {value!r} not in S[{slot}] and {test}:"),
            (2, self.terms.push(str(slot))),
            (2, f"S[{slot}] = (*S[{slot}], {value!r})"),
        ]

    def _pays(self) -> list[str]:
        """Return the lines that add the rewards of the world for a tick."""
        pays = self.rules.worlds[self.world.name].pays
        return [f"if {self.terms.term(one.when, {})}: {self._paid(one.amount)}" for one in pays]

    def _paid(self, amount: core.Term) -> str:
        """The statement that pays an amount."""
        kind, code = amount.type, self.terms.term(amount, {})
        decimals = kind.decimals if isinstance(kind, m.NumberType) else 0
        code = f"Fraction({code} or 0)" if isinstance(kind, m.RealType) else code
        return f"R.paid.append(({code}, {decimals}))"


def _titled(kind: str, name: str, codes: list[str]) -> str:
    """The title and arguments of a rule, as two arguments."""
    return f"{f'{kind} {name}'!r}, ({''.join(f'{one}, ' for one in codes)})"


def _new(kind: str, name: str, codes: list[str]) -> str:
    """The arguments that make the log, or the draws, of a rule."""
    return f"{_titled(kind, name, codes)}, R, me"
