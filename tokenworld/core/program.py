"""`lowered`: every rule of a checked program in core, with its footprint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core import rules as r
from tokenworld.core.desugar import Desugarer
from tokenworld.core.rules import Footprint
from tokenworld.core.walk import statements_in, subterms, template_terms, terms_in
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import ObjectType, TypeRange

# ---- Footprints ----------------------------------------------------------------------------------
# `Footprints`: what each rule reads, writes and draws, worked out once, derives included.


_ASKING = frozenset({"tick", "score", "busy", "did", "id"})


class _Touched:
    """Collects the parts of a `Footprint` during a visit of rules."""

    def __init__(self) -> None:
        self.reads, self.was = set[str](), set[str]()
        self.writes, self.named = set[str](), set[str]()
        self.types, self.creates, self.asks = set[str](), set[str](), set[str]()
        self.destroys = self.draws = self.acts = False

    def footprint(self) -> Footprint:
        return Footprint(
            frozenset(self.reads), frozenset(self.was), frozenset(self.writes),
            frozenset(self.named), frozenset(self.types), frozenset(self.creates),
            frozenset(self.asks), self.destroys, self.draws, self.acts,
        )  # fmt: skip

    def read(self, part: core.Term, past: bool) -> None:
        """Add the reads of one term, those of its parts left out; ``past``: it is asked about the
        start of the tick."""
        match part:
            case core.Read() | core.Members():
                if part.fluent:
                    (self.was if past or part.was else self.reads).add(part.fluent)
            case core.Call(op=op):
                if op in _ASKING:
                    self.asks.add(op)
            case core.Fold(binders=binders):
                self.range(binders)
            case core.Actor():
                self.acts = True
            case (
                core.Constant() | core.ObjectName() | core.ParamValue() | core.Variable()
                | core.Choice() | core.TypeTest() | core.DeriveCall() | core.Text()
            ):  # fmt: skip
                pass
            case _:
                assert_never(part)

    def range(self, binders: tuple[core.Binder, ...]) -> None:
        """Add the object types whose members are enumerated."""
        for one in binders:
            if isinstance(one.domain, TypeRange) and isinstance(one.domain.of, ObjectType):
                self.types.add(one.domain.of.name)

    def change(self, one: core.Statement) -> None:
        """Add the changes of one statement; the reads of its terms are left out."""
        match one:
            case core.Write(target=target):
                self.writes.add(target.fluent)
                self.named.add(target.fluent)
            case core.Create(of=of, fields=fields):
                self.creates.add(of)
                self.writes.update(field.fluent for field in fields)
                self.named.update(field.fluent for field in fields if not field.default)
            case core.Destroy():
                self.destroys = True
            case core.For(binders=binders):
                self.range(binders)
            case core.Let(value=core.PickDraw(binders=binders)):
                self.draws = True
                self.range(binders)
            case core.Let(value=core.BranchDraw() | core.UniformDraw()):
                self.draws = True
            case (
                core.Let() | core.If() | core.Require() | core.Emit() | core.Say()
                | core.Describe() | core.Reward()
            ):  # fmt: skip
                pass
            case _:
                assert_never(one)


@frozen
class Footprints:
    """Works out footprints; ``derives`` are the values of derived facts by name."""

    derives: Mapping[str, core.Term]

    def of(self, terms: Iterable[core.Term] = (), bodies: Iterable[core.Body] = ()) -> Footprint:
        """The footprint of terms and bodies together."""
        every, found = tuple(bodies), _Touched()
        for body in every:
            for one in statements_in(body):
                found.change(one)
        self._read((*terms, *(term for body in every for term in terms_in(body))), found)
        return found.footprint()

    def _read(self, terms: Iterable[core.Term], found: _Touched) -> None:
        """Add the reads of terms; each derive they call is followed once for now and once for
        `was`."""
        todo = [(term, False) for term in terms]
        seen = set[tuple[str, bool]]()
        for term, past in todo:  # grows while it is walked
            for part in subterms(term):
                found.read(part, past)
                if isinstance(part, core.DeriveCall):
                    call = (part.derive, past or part.was)
                    if call not in seen:
                        seen.add(call)
                        todo.append((self.derives[part.derive], call[1]))


def changes(body: core.Body) -> Footprint:
    """The changes that the statements of a body make; the reads of their terms are left out."""
    found = _Touched()
    for one in statements_in(body):
        found.change(one)
    return found.footprint()


# ---- Rules ---------------------------------------------------------------------------------------


_REMEMBERED = 16


@dataclass(eq=False)
class Rules:
    """Every rule of a program in core, each kind lowered when it is first asked for.

    ``defaults`` are those of each type; ``objects`` are keyed by world (empty for a top-level
    object) and name.
    """

    program: m.Program

    @cached_property
    def _sugar(self) -> Desugarer:
        return Desugarer(self.program)

    def term(self, term: m.Term) -> core.Term:
        """A term of the checked program in core, for those who ask about one of their own."""
        return self._sugar.term(term)

    def binders(self, binders: tuple[m.Binder, ...]) -> tuple[core.Binder, ...]:
        """Binders of the checked program in core."""
        return self._sugar.binders(binders)

    @cached_property
    def _footprints(self) -> Footprints:
        values = {one.name: self._sugar.term(one.value) for one in self.program.derives.values()}
        return Footprints(values)

    @cached_property
    def actions(self) -> Mapping[str, r.Action]:
        return {name: self._action(one) for name, one in self.program.actions.items()}

    @cached_property
    def laws(self) -> Mapping[str, r.Law]:
        return {name: self._law(one) for name, one in self.program.laws.items()}

    def footprint(
        self, terms: Iterable[core.Term] = (), bodies: Iterable[core.Body] = ()
    ) -> r.Footprint:
        """The footprint of terms and bodies together, derives included."""
        return self._footprints.of(terms, bodies)

    def body(self, body: m.Body) -> core.Body:
        """A body of the checked program in core, for those who run one of their own."""
        return self._sugar.body(body)

    @cached_property
    def bodies(self) -> tuple[core.Body, ...]:
        """The bodies that run in play."""
        actions = (body for one in self.actions.values() for body in (one.body, one.cancelled))
        laws = (one.body for one in self.laws.values())
        return (*actions, *laws, *(one.body for one in self.births))

    @cached_property
    def given_bodies(self) -> tuple[core.Body, ...]:
        """The bodies by which scenarios change a state between ticks."""
        steps = (step for one in self.program.scenarios for step in one.steps)
        return tuple(self._sugar.body(one.body) for one in steps if isinstance(one, m.Given))

    def fluents_read(
        self, terms: Iterable[m.Term], *, in_tick: bool = False
    ) -> frozenset[str] | None:
        """Return the fluents on which terms of the checked program depend.

        Return ``None`` if they depend on more: on commands, names in a text, and, unless the
        caller looks at a whole tick (``in_tick``), on the number and the start of the tick.
        """
        lowered = [self._sugar.term(one) for one in terms]
        read = self.footprint(lowered)
        if not in_tick and (read.was or "tick" in read.asks):
            return None
        if read.asks - {"id", "tick"} or any(map(self._names, lowered)):
            return None
        return read.read

    def _names(self, term: core.Term) -> bool:
        """Return whether a term has a text that may name an object, also through derives."""
        return any(
            isinstance(part, core.Text) and bool(template_terms(part.template))
            for part in self.parts(term)
        )

    def parts(self, term: core.Term) -> Iterator[core.Term]:
        """All parts of a term, and of the derived facts that it calls."""
        todo, known = [term], set[str]()
        for one in todo:  # grows while it is walked
            for part in subterms(one):
                yield part
                if isinstance(part, core.DeriveCall) and part.derive not in known:
                    known.add(part.derive)
                    todo.append(self._footprints.derives[part.derive])

    @cached_property
    def in_play(self) -> tuple[r.Footprint, ...]:
        """The footprints of actions, laws and births: these can change facts during play."""
        found = [one.footprint for one in self.actions.values()]
        found += [one.footprint for one in self.laws.values()]
        return (*found, *(one.footprint for one in self.births))

    @cached_property
    def texts_look_back(self) -> bool:
        """Return whether a text, or a fact in one, reads the start of the tick."""
        parts = (part for term in self._told for part in subterms(term))
        return any(
            isinstance(one, (core.Read, core.Members, core.DeriveCall)) and one.was for one in parts
        )

    @cached_property
    def texts_ask(self) -> frozenset[str]:
        """The built-in functions that texts, or facts that they may speak of, call."""
        parts = (part for term in self._told for part in subterms(term))
        return frozenset(one.op for one in parts if isinstance(one, core.Call))

    @cached_property
    def _told(self) -> tuple[core.Term, ...]:
        """The terms in the texts of rules, and those of derives."""
        bodies = (*self.bodies, *(one.body for one in self.descriptions))
        said = [one.template for body in bodies for one in statements_in(body)
                if isinstance(one, core.Say)]  # fmt: skip
        said += [one.text for action in self.actions.values() for one in action.requires
                 if one.text is not None]  # fmt: skip
        said += [line.text for world in self.worlds.values() for line in world.endings
                 if line.text is not None]  # fmt: skip
        terms = [term for one in said for term in template_terms(one)]
        return (*terms, *(one.name for one in self.called), *self._footprints.derives.values())

    @cached_property
    def creates(self) -> frozenset[str]:
        """The types that play may make objects of."""
        return frozenset[str]().union(*(one.creates for one in self.in_play))

    @cached_property
    def destroys(self) -> bool:
        """Return whether play may destroy objects, so that slots go."""
        return any(one.destroys for one in self.in_play)

    @cached_property
    def changing(self) -> frozenset[str]:
        """The fluents that play may change, the defaults of created objects included."""
        return self._changed(one.writes for one in self.in_play)

    @cached_property
    def changed_in_play(self) -> frozenset[str]:
        """The fluents that play may change in existing objects: the defaults of new objects depend
        on the type alone."""
        return self._changed(one.named for one in self.in_play)

    def _changed(self, written: Iterable[frozenset[str]]) -> frozenset[str]:
        every = frozenset(self.program.fluents) if self.destroys else frozenset[str]()
        return every.union(*written)

    @cached_property
    def births(self) -> tuple[r.Birth, ...]:
        return tuple(self._birth(one) for one in self.program.births)

    def births_of(self, kind: str) -> list[int]:
        """The numbers of the `birth` rules for new objects of a type, the most general first."""
        kinds = [one.param.type for one in self.births]
        ancestors = reversed(self.program.types[kind].ancestors)
        return [at for x in ancestors for at, one in enumerate(kinds) if one == m.ObjectType(x)]

    @cached_property
    def derives(self) -> Mapping[str, r.Derive]:
        return {name: self._derive(one) for name, one in self.program.derives.items()}

    @cached_property
    def watches(self) -> Mapping[str, r.Watch]:
        return {name: self._watch(one) for name, one in self.program.watches.items()}

    @cached_property
    def invariants(self) -> Mapping[str, r.Invariant]:
        return {name: self._invariant(one) for name, one in self.program.invariants.items()}

    @cached_property
    def conserves(self) -> Mapping[str, r.Conserve]:
        return {name: self._conserve(one) for name, one in self.program.conserves.items()}

    @cached_property
    def called(self) -> tuple[r.Called, ...]:
        return tuple(self._called(one) for one in self.program.called)

    @cached_property
    def scopes(self) -> tuple[r.Scope, ...]:
        return tuple(self._scope(one) for one in self.program.scopes)

    @cached_property
    def descriptions(self) -> tuple[r.Description, ...]:
        return tuple(self._sugar.description(one) for one in self.program.describes)

    @cached_property
    def worlds(self) -> Mapping[str, r.WorldRules]:
        return {name: self._world(one) for name, one in self.program.worlds.items()}

    @cached_property
    def starts(self) -> Mapping[str, r.StartRules]:
        return {name: self._start(one) for name, one in self.program.worlds.items()}

    @cached_property
    def defaults(self) -> Mapping[str, tuple[core.Field, ...]]:
        return {name: self._fields(one.defaults) for name, one in self.program.types.items()}

    @cached_property
    def objects(self) -> Mapping[tuple[str, str], r.ObjectRules]:
        objects = self.program.objects.values()
        return {(one.world or "", one.name): self._object(one) for one in objects}

    def _fields(self, fields: Iterable[m.FieldValue]) -> tuple[core.Field, ...]:
        return tuple(
            core.Field(one.fluent, self._sugar.term(one.value), one.span) for one in fields
        )

    def _object(self, one: m.ObjectDecl) -> r.ObjectRules:
        return r.ObjectRules(self._fields(one.fields), self._sugar.terms(one.aka))

    @cached_property
    def _commands(self) -> Desugarer:
        """Desugars actions. Where one command is all that an intent of a tick can be, nothing has
        changed in the tick when its action begins."""
        actions = self.program.actions.values()
        first = not any(one.may_be_free or one.cancelled for one in actions)
        return Desugarer(self.program, present=self.program.actor is None and first)

    def _action(self, action: m.Action) -> r.Action:
        sugar = self._commands
        guards = tuple(one for guard in action.guards for one in sugar.guard(guard))
        body = sugar.body((*action.notes, *action.body))
        cancelled = sugar.body(action.cancelled)
        asked = (sugar.maybe(action.takes), sugar.maybe(action.until), sugar.maybe(action.cost))
        written = tuple(one for one in asked if one is not None)
        touched = self._footprints.of(written, (guards, body, cancelled))
        return r.Action(
            action.name, sugar.binders(action.params),
            tuple(sugar.template(one) for one in action.phrases),
            guards, *asked, body, cancelled, action.span, touched,
        )  # fmt: skip

    def _law(self, law: m.Law) -> r.Law:
        when, body = self._sugar.maybe(law.when), self._sugar.body(law.body)
        touched = self._footprints.of(() if when is None else (when,), (body,))
        params = self._sugar.binders(law.params)
        return r.Law(law.name, params, law.phase, when, body, law.span, touched)

    def _birth(self, birth: m.Birth) -> r.Birth:
        body = self._sugar.body(birth.body)
        param = self._param(birth.param)
        return r.Birth(param, body, birth.span, self._footprints.of((), (body,)))

    def _param(self, binder: m.Binder) -> core.Binder:
        return self._sugar.binders((binder,))[0]

    def _derive(self, derive: m.Derive) -> r.Derive:
        value, params = self._footprints.derives[derive.name], self._sugar.binders(derive.params)
        touched = self._footprints.of((value,))
        return r.Derive(
            derive.name, params, value, derive.type, derive.recursive, derive.span, touched
        )

    def _watch(self, watch: m.Watch) -> r.Watch:
        when, body = self._sugar.term(watch.when), self._sugar.body(watch.body)
        touched = self._footprints.of((when,), (body,))
        params = self._sugar.binders(watch.params)
        return r.Watch(
            watch.name, params, watch.once, when, body, watch.uses_was, watch.span, touched
        )

    def _invariant(self, one: m.Invariant) -> r.Invariant:
        condition, params = self._sugar.term(one.condition), self._sugar.binders(one.params)
        atoms = tuple((atom.text, self._sugar.term(atom.term)) for atom in one.atoms)
        touched = self._footprints.of((condition,))
        return r.Invariant(one.name, params, condition, one.source, atoms, one.span, touched)

    def _conserve(self, one: m.Conserve) -> r.Conserve:
        value = self._sugar.term(one.value)
        touched = self._footprints.of((value,))
        return r.Conserve(one.name, value, one.exempt, one.source, one.span, touched)

    def _called(self, one: m.Called) -> r.Called:
        aka = self._sugar.terms(one.aka)
        return r.Called(self._param(one.param), self._sugar.term(one.name), aka, one.span)

    def _scope(self, one: m.Scope) -> r.Scope:
        return r.Scope(self._param(one.param), self._sugar.term(one.condition), one.span)

    def _world(self, world: m.World) -> r.WorldRules:
        return r.WorldRules(
            world.name,
            tuple(self._ending(one) for one in world.endings),
            tuple(self._award(one) for one in world.awards),
            tuple(self._award(one) for one in world.pays),
            self._sugar.maybe(world.score),
        )

    def _start(self, world: m.World) -> r.StartRules:
        body = self._sugar.body
        legends = (
            {one.symbol: body(one.body) for one in layout.legends} for layout in world.layouts
        )
        return r.StartRules(tuple(body(one) for one in world.setups), tuple(legends))

    def _ending(self, line: m.Ending) -> r.Ending:
        condition = self._sugar.term(line.condition)
        text = None if line.text is None else self._sugar.template(line.text)
        touched = self._footprints.of((condition,))
        return r.Ending(line.ending, line.name, condition, text, line.source, line.span, touched)

    def _award(self, award: m.Award) -> r.Award:
        amount, when = self._sugar.term(award.amount), self._sugar.term(award.when)
        return r.Award(amount, when, award.span, self._footprints.of((amount, when)))


_rules: dict[int, Rules] = {}


def lowered(program: m.Program) -> Rules:
    """Return the rules of a program in core; the last few programs are cached."""
    found = _rules.get(id(program))
    if found is None:
        if len(_rules) >= _REMEMBERED:
            del _rules[next(iter(_rules))]
        found = _rules[id(program)] = Rules(program)
    return found
