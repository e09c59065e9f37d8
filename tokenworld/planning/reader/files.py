"""Domains and problems from nested lists: sections in any order, several of a kind joined.

Declarations are read first, rules when all names are known. Everything wrong goes to the reader's
`Faults`; a section that cannot be read does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from typing import Final, Literal, cast

from tokenworld.check.typing.context import MOST_PARAMETERS
from tokenworld.diagnostics import Related, Severity, Source, Span, closest, has_errors
from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.reader.durations import (
    Apart,
    action_group,
    binders,
    duration,
    filled,
    untimed,
    words_of,
)
from tokenworld.planning.reader.effects import (
    Change,
    Effect,
    Put,
    is_counted,
    paid,
    paid_items,
    unpaid,
    writes,
)
from tokenworld.planning.reader.expressions import is_number, show
from tokenworld.planning.reader.frame import FileReader, second
from tokenworld.planning.reader.names import (
    PAID,
    ROOT,
    Locals,
    Phrase,
    Signature,
    Spelling,
    Symbols,
    Typed,
    alternatives,
    once,
)
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Skip, Word
from tokenworld.planning.reader.trajectories import (
    Wanted,
    apart,
    parted,
)

# ---- declarations -------------------------------------------------------------------------------


@frozen
class Derived:
    """A rule for a derived predicate; ``names`` are its variables in its condition."""

    head: Signature
    names: Locals
    condition: Phrase
    span: Span


@frozen
class Action:
    """An action; ``cost`` is all that it adds to ``total-cost``. ``takes`` are the ticks of a
    durative one. ``preferences`` are those in its precondition, ``soft`` the same as written, each
    with its place among the conjuncts; ``paid`` are the costs as written."""

    name: Word
    params: tuple[Typed, ...]
    names: Locals
    precondition: Phrase
    effects: tuple[Effect, ...]
    cost: Phrase | None
    span: Span
    takes: Phrase | None = None
    preferences: tuple[Wanted, ...] = ()
    soft: tuple[tuple[int, Item], ...] = ()
    paid: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain. ``requirements`` are without the colon and as written; ``predicates`` and
    ``functions`` are in written order. ``groups`` as `Expressions` gathers them.

    ``constraints`` are those of its section, ``written`` the section's content. ``own`` counts the
    constants that it declares itself, where the objects of the problem follow them. ``instant`` has
    each durative action as a classical one, by name."""

    name: Word
    requirements: tuple[Word, ...]
    symbols: Symbols
    spelling: Spelling
    functions: tuple[Signature, ...]
    derived: tuple[Derived, ...]
    actions: tuple[Action, ...]
    groups: tuple[frozenset[str], ...]
    constraints: tuple[Wanted, ...] = ()
    written: Item | None = None
    own: int | None = None
    instant: Mapping[str, Group] = field(default_factory=dict)

    @property
    def prefers(self) -> bool:
        """Return whether a precondition has a preference."""
        return any(action.preferences for action in self.actions)

    @property
    def pays(self) -> bool:
        """Return whether some action has a cost."""
        return any(action.cost is not None for action in self.actions)


@frozen
class Metric:
    """``text`` is the whole expression as written, spaces made single."""

    sense: Literal["minimize", "maximize"]
    text: str
    span: Span
    item: Item

    @property
    def is_total_cost(self) -> bool:
        return self.sense == "minimize" and self.text.lower() in ("(total-cost)", "total-cost")

    @property
    def is_total_time(self) -> bool:
        return self.sense == "minimize" and self.text.lower() in ("(total-time)", "total-time")

    @property
    def is_known(self) -> bool:
        """Return whether plans can be measured by it; `--luck` measures the probability."""
        return self.is_total_cost or (self.sense, self.text) == ("maximize", "(goal-achieved)")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem. ``init`` are the facts and values at the start, ``given`` the slots of functions
    that have a value there; ``every`` are its objects and the constants. ``goal`` is without the
    ``preferences`` in it; ``written`` has the goal and the constraints as they are written."""

    name: Word
    objects: tuple[Typed, ...]
    every: dict[str, Typed]
    init: tuple[Put | Change, ...]
    given: frozenset[tuple[str, ...]]
    goal: Phrase
    metric: Metric | None
    groups: tuple[frozenset[str], ...]
    preferences: tuple[Wanted, ...] = ()
    constraints: tuple[Wanted, ...] = ()
    written: Mapping[str, Item] = field(default_factory=dict)


# ---- domains ----------------------------------------------------------------------------------

Lent = Callable[[], Mapping[str, Typed]]

_REQUIREMENTS: Final = tuple(
    f":{name}"
    for name in (
        *("strips", "typing", "equality", "negative-preconditions", "disjunctive-preconditions"),
        *("existential-preconditions", "universal-preconditions", "quantified-preconditions"),
        *("conditional-effects", "derived-predicates", "action-costs", "adl", "fluents"),
        *("numeric-fluents", "object-fluents", "durative-actions", "duration-inequalities"),
        *("continuous-effects", "timed-initial-literals", "preferences", "constraints", "time"),
        *("domain-axioms", "probabilistic-effects", "rewards", "goal-utilities"),
    )
)

# ---- domains ------------------------------------------------------------------------------------


class _DomainReader(FileReader):
    """Reads the declarations of a domain, and keeps its rules for when all names are known.

    ``at_once`` are the actions whose effects read slots that they change, with `was` (see
    `effects`). ``lent`` gives the objects of the problems, which rules may name as if they were
    constants; with ``whole`` they all become constants. ``counted``: `total-cost` is a function
    like any other, whatever the rules do with it.
    """

    def __init__(
        self, faults: Faults, lent: Lent, at_once: frozenset[str], whole: bool, counted: bool
    ) -> None:
        super().__init__(faults)
        self.lent, self.at_once, self.whole, self.counted = lent, at_once, whole, counted
        self.wanted: list[Wanted] = []
        self.written: Item | None = None
        self.requirements: list[Word] = []
        self.types: list[Typed] = []
        self.constants: list[Typed] = []
        self.predicates: list[Signature] = []
        self.functions: list[Signature] = []
        self.rules: list[Group] = []
        self.derived: list[Derived] = []
        self.actions: list[Action] = []
        self.instant: dict[str, Group] = {}

    def read(self, name: Word, items: tuple[Item, ...]) -> Domain:
        self.sections(
            items,
            {
                ":requirements": self._requirements,
                ":types": self._types,
                ":constants": self._constants,
                ":predicates": self._predicates,
                ":functions": self._functions,
                ":derived": self.rules.append,
                ":action": self.rules.append,
                ":durative-action": self.rules.append,
                ":constraints": self.rules.append,
            },
        )
        own = len(self.constants) if self.whole else None
        self._borrow()
        self.symbols = self._declared()
        self.spelling, self.objects = Spelling(self.symbols), self.symbols.constants
        for head, read in (
            (":derived", self._derived),
            (":action", self._action),
            (":durative-action", self._durative),
            (":constraints", self._constraints),
        ):
            self.sections(tuple(one for one in self.rules if one.head == head), {head: read})
            self.feeds = self._depends()
        once(self.faults, "action", (one.name for one in self.actions))
        return Domain(
            name,
            tuple(self.requirements),
            self.symbols,
            self.spelling,
            tuple(self.functions),
            tuple(self.derived),
            tuple(self.actions),
            tuple(self.groups),
            tuple(self.wanted),
            self.written,
            own,
            self.instant,
        )

    # ---- sections ---------------------------------------------------------------------------

    def _requirements(self, item: Group) -> None:
        for part in item.items[1:]:
            if not isinstance(part, Word) or not part.text.startswith(":") or len(part.text) == 1:
                message = f"`{show(part)[:40]}` is no requirement."
                raise self.faults.unexpected(message, part.span, "Write a word such as `:strips`.")
            near = () if part.key in _REQUIREMENTS else closest(part.text, _REQUIREMENTS)
            if near:
                what, hint = f"There is no requirement `{part.text}`.", f"Did you mean `{near[0]}`?"
                self.faults.tell("TW0201", what, part.span, label="unknown", hint=hint, names=True)
            self.requirements.append(Word(part.text[1:], part.span))

    def _types(self, item: Group) -> None:
        self.types += self.typed(item.items[1:], variables=False, types=True)

    def _constants(self, item: Group) -> None:
        self.constants += self.typed(item.items[1:], variables=False)

    def _predicates(self, item: Group) -> None:
        for part in item.items[1:]:
            with suppress(Skip):
                head = self._signature(part, "predicate")
                if head.name.text != "=":  # built in, and yet declared by some
                    self.predicates.append(head)

    def _signature(self, item: Item, what: str, result: Word | None = None) -> Signature:
        if not isinstance(item, Group):
            message = f"`{item.text}` stands where a {what} should be declared."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        name = self.name(item.items[0] if item.items else None, f"{what}'s name", item.span)
        return Signature(name, self.typed(item.items[1:], variables=True), result)

    def _functions(self, item: Group) -> None:
        """Like a typed list, whose names are signatures and whose types are results."""
        waiting: list[Signature] = []
        parts = iter(item.items[1:])
        for part in parts:
            if not isinstance(part, Word) or part.text != "-":
                waiting.append(self._signature(part, "function"))
                continue
            of = self.type_name(next(parts, None), part.span)
            result = None if of.key == "number" else of
            self.functions += [Signature(one.name, one.params, result) for one in waiting]
            waiting = []
        self.functions += waiting

    # ---- declarations -----------------------------------------------------------------------

    def _borrow(self) -> None:
        """Make constants of the objects of the problems that rules name without a declaration."""
        if self.whole:
            known = {one.name.key for one in self.constants}
            self.constants += (one for key, one in self.lent().items() if key not in known)
            return
        named = {one.key: one for rule in self.rules for one in _arguments(rule)}
        for one in (*self.constants, *self.types):
            named.pop(one.name.key, None)
        lent = self.lent() if named else {}
        for name in (one for key, one in named.items() if key in lent):
            self.constants.append(lent[name.key])
            what = f"`{name.text}` is declared by the problems alone; it becomes a constant."
            hint = "Declare it in `:constants`."
            self.faults.tell("TW0201", what, name.span, hint=hint, severity=Severity.WARNING)

    def _declared(self) -> Symbols:
        """The declarations by name, looked up among each other."""
        types = self._declared_types()
        symbols = Symbols(choices=self.choices)
        for of in types:
            symbols.types.setdefault(of.name.key, of)
        for parent in (one for of in types for one in alternatives(of.type)):
            if parent.key not in (*symbols.types, ROOT):
                self._parent(parent, types)
                symbols.implicit.setdefault(parent.key, parent)
        for constant in self.constants:
            symbols.constants.setdefault(constant.name.key, constant)
        for predicate in self.predicates:
            symbols.predicates.setdefault(predicate.name.key, predicate)
        for function in self.functions:
            symbols.functions.setdefault(function.name.key, function)
        symbols.derived |= {key for one in self.rules if (key := _derived_key(one))}
        symbols.counted = self.counted or any(map(is_counted, self.rules))
        once(self.faults, "type", (one.name for one in types))
        symbols.check_cycles(self.faults)
        symbols.check_typed(self.constants, "constant", self.faults)
        self._check_fluents(symbols)
        return symbols

    def _parent(self, parent: Word, types: Sequence[Typed]) -> None:
        """Report a parent that only `:types` names and is spelt like another type."""
        fluents = (*self.predicates, *self.functions)
        typed = (*self.constants, *(param for one in fluents for param in one.params))
        used = {of.key for one in typed for of in alternatives(one.type)}
        used |= {key for rule in self.rules for key in words_of(rule)}
        below = {one.name.key for one in types if parent.key in map(_key, alternatives(one.type))}
        others = {one.name.key for one in types} - below
        if parent.key not in used and closest(parent.key, sorted(others), at_most=1):
            self.faults.unknown("type", parent, others, "")

    def _check_fluents(self, symbols: Symbols) -> None:
        names = [one.name for one in self.predicates]
        once(self.faults, "predicate", names)
        once(self.faults, "function", (one.name for one in self.functions))
        both = {name.key: name for name in names}
        for function in self.functions:
            if function.name.key in both:
                self.faults.twice("name", function.name, both[function.name.key].span)
            symbols.check_type(function.result, self.faults)
        for param in (p for one in (*self.predicates, *self.functions) for p in one.params):
            symbols.check_type(param.type, self.faults)

    def _declared_types(self) -> tuple[Typed, ...]:
        """The types without declarations that say nothing: below `object`, and elsewhere too."""
        below = {one.name.key: one for one in self.types if not _below_root(one)}
        if ROOT in (one.name.key for one in self.types):
            return tuple(self.types)  # it is a type like any other there
        idle = [one for one in self.types if _below_root(one) and one.name.key in below]
        for one in idle:
            again = Related(below[one.name.key].name.span, "this one counts")
            what = f"The type `{one.name.text}` is declared twice, once below `object`."
            hint = "Remove this one: every type is below `object`."
            self.faults.tell("TW0203", what, one.name.span, hint=hint, related=(again,),
                             severity=Severity.WARNING)  # fmt: skip
        return tuple(one for one in self.types if one not in idle)

    # ---- rules ------------------------------------------------------------------------------

    def _variables(self, params: tuple[Typed, ...]) -> Locals:
        self.symbols.check_typed(params, "parameter", self.faults)
        return Locals(frozenset(self.symbols.constants), {}).bind(params)

    def _derived(self, item: Group) -> None:
        part, condition = self.exactly(item, 2, "a predicate and a condition")
        head = self._signature(part, "derived predicate")
        predicate = self.symbols.predicates.get(head.name.key)
        if predicate is None:
            known = [one.name.text for one in self.symbols.predicates.values()]
            hint = "Declare it in `:predicates` too."
            self.faults.unknown("predicate", head.name, known, hint)
        else:
            self.arity("predicate", predicate, len(head.params), head.name.span)
        names = self._variables(head.params)
        first = next((one for one in self.derived if one.head.name.key == head.name.key), None)
        if first is not None and len(first.head.params) == len(head.params):
            shown = [first.names.names[param.name.key] for param in first.head.params]
            names = Locals(names.taken, {}).alias(head.params, shown)
        found = self.condition(condition, names)
        self.derived.append(Derived(head, names, found, item.span))

    def _depends(self) -> dict[str, frozenset[str]]:
        """Everything that each derived predicate depends on, itself included."""
        direct: dict[str, set[str]] = {}
        for one in self.derived:
            direct.setdefault(one.head.name.key, set()).update(one.condition.reads)
        found: dict[str, frozenset[str]] = {}
        for key in direct:
            seen, waiting = {key}, [key]
            while waiting:
                new = direct.get(waiting.pop(), set()) - seen
                seen |= new
                waiting += sorted(new)
            found[key] = frozenset(seen)
        return found

    def _durative(self, item: Group) -> None:
        """A durative action, read as one that takes several ticks."""
        name = self.name(second(item), "action's name", item.span)
        fields = self._fields(item, name, (":duration", ":condition", ":effect"))
        if ":duration" not in fields:
            hint = "Write `:duration (= ?duration 1)`."
            message = f"Durative action `{name.text}` has no duration."
            raise self.faults.unexpected(message, name.span, hint)
        ticks = duration(fields[":duration"], self.faults)
        nothing = Group((), name.span)
        parts = (fields.get(key, nothing) for key in (":condition", ":effect"))
        condition, effect = (filled(one, ticks) for one in parts)
        plain = untimed(condition, effect, self.faults, self._apart(item))
        read = {":precondition": plain.condition, ":effect": plain.effect}
        first = all(one.takes is None for one in self.actions)
        self._read_action(item, name, {**fields, **read}, ticks)
        self.instant[name.key] = action_group(name, {**fields, **read})
        if first:
            what = "Durative actions, this one and others, become actions of several ticks:"
            what += " they do not overlap, and all effects come at the end."
            hint = "Read *unwinnable* as: there is no plan in which one action follows the other."
            self.faults.tell("TW0810", what, name.span, hint=hint, severity=Severity.WARNING)

    def _apart(self, item: Group) -> Apart:
        """Return a test whether two words of an action have types without a common object."""
        bound = [one for part in binders(item) for one in self.typed(part.items, variables=True)]
        kinds: dict[str, set[str]] = {}
        for one, mark in (*((one, "?") for one in bound),
                          *((one, "") for one in self.symbols.constants.values())):  # fmt: skip
            kinds.setdefault(mark + one.name.key, set()).add(_kind_key(one))

        def apart(a: str, b: str) -> bool:
            (one, *more), (other, *others) = kinds.get(a, {ROOT}), kinds.get(b, {ROOT})
            over, above = set(self.symbols.above(one)), set(self.symbols.above(other))
            known = not (more or others or ROOT in (one, other) or " " in one + other)
            return known and one not in above and other not in over

        return apart

    def _action(self, item: Group) -> None:
        name = self.name(second(item), "action's name", item.span)
        fields = self._fields(item, name, (":vars", ":precondition", ":effect"))
        self._read_action(item, name, fields, None)

    def _read_action(
        self, item: Group, name: Word, fields: Mapping[str, Item], ticks: Item | None
    ) -> None:
        given = (fields.get(key) for key in (":parameters", ":vars"))
        params = tuple(x for one in given if one is not None for x in self.params(one, name.span))
        if len(params) > MOST_PARAMETERS:
            more = params[MOST_PARAMETERS].name
            what = f"Action `{name.text}` has {len(params)} parameters."
            hint = f"Split the action: a rule has at most {MOST_PARAMETERS} parameters."
            self.faults.tell("TW0810", what, more.span, label="one too many", hint=hint, names=True)
        names = self._variables(params)
        asked: Phrase | None = None
        preferences: tuple[Wanted, ...] = ()
        before, soft = apart(fields.get(":precondition", Group((), name.span)))
        with suppress(Skip):
            asked = self.condition(before, names)
            preferences = tuple(self.preferences([one for _, one in soft], names))
        after = fields.get(":effect")
        effects = () if after is None else self.effects(after, names)
        cost = paid(effects)
        if after is not None and name.key in self.at_once:
            self.stale = frozenset[str]().union(*map(writes, effects))
            effects = self.effects(after, names)
            self.stale = frozenset()
        if asked is None:
            raise Skip
        takes, kept = None if ticks is None else self.term(ticks, names), unpaid(effects)
        written = () if after is None else tuple(paid_items(after))
        self.actions.append(
            Action(
                name, params, names, asked, kept, cost, item.span, takes, preferences, soft, written
            )
        )

    def _constraints(self, item: Group) -> None:
        (self.written,) = self.exactly(item, 1, "a constraint")
        free = Locals(frozenset(self.symbols.constants) | _parameters(self.actions), {})
        self.wanted += self.constraints(self.written, free)

    def _fields(self, item: Group, name: Word, more: tuple[str, ...]) -> dict[str, Item]:
        """The keywords of an action, each with the items after it."""
        known = (":parameters", *more)
        fields: dict[str, Item] = {}
        parts = iter(item.items[2:])
        for word in parts:
            key = word.key if isinstance(word, Word) else ""
            if key not in known:
                self.unknown_word(word, key, known)
            if key in fields:
                message = f"`{key}` stands twice in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Join the two with `and`.")
            value = next(parts, None)
            if value is None or (isinstance(value, Word) and value.text.startswith(":")):
                message = f"Nothing follows `{key}` in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Write `()` for nothing.")
            if key == ":parameters" and isinstance(value, Word):
                rest = [one for one in (value, *parts) if isinstance(one, Word)]
                listed = " ".join(one.text for one in takewhile(_is_parameter, rest))
                message = f"The parameters of action `{name.text}` stand without parentheses."
                raise self.faults.unexpected(message, value.span, f"Write `({listed})`.")
            fields[key] = value
        return fields


def _parameters(actions: Sequence[Action]) -> frozenset[str]:
    """The names in actions, which the variables of constraints must not have: they become rules of
    every action."""
    return frozenset(one.name.key for action in actions for one in action.params)


def _is_parameter(word: Word) -> bool:
    return not word.text.startswith(":")


def _key(word: Word) -> str:
    return word.key


def _below_root(of: Typed) -> bool:
    return of.type is None or of.type.key == ROOT


def _derived_key(rule: Group) -> str:
    """The predicate that a ``(:derived (p …) …)`` defines, if it can be found."""
    head = second(rule)
    return head.head if rule.head == ":derived" and isinstance(head, Group) else ""


def _arguments(rule: Group) -> Iterator[Word]:
    """The names after the heads of the lists inside a rule, from the last one on; not those of its
    variables, which lack their `?`."""
    waiting, named, variables = [rule], list[Word](), set[str]()
    while waiting:
        group = waiting.pop()
        for place, part in enumerate(group.items):
            if isinstance(part, Group):
                waiting.append(part)
            elif part.text[0] == "?":
                variables.add(part.key[1:])
            elif place and group is not rule and part.text[0] not in ":#-" and not is_number(part):
                named.append(part)
    yield from (one for one in named if one.key not in variables)


def read_domain(
    source: Source,
    faults: Faults,
    lent: Lent,
    at_once: frozenset[str] = frozenset(),
    *,
    whole: bool = False,
    counted: bool = False,
) -> Domain | None:
    """The domain of a text as written; ``None`` where it cannot be used. ``whole``: all objects
    that it is lent become constants."""
    reader = _DomainReader(faults, lent, at_once, whole, counted)
    frame = reader.framed(source, "domain", "Name the domain file first.")
    domain = None if frame is None else reader.read(*frame)
    return None if has_errors(faults.found) else domain


# ---- problems -----------------------------------------------------------------------------------


def shared_objects(sources: Sequence[Source]) -> Mapping[str, Typed]:
    """The objects that all problems declare, each with the same type everywhere."""
    found = [_objects_of(source) for source in sources]
    return {
        key: one
        for key, one in (found[0] if found else {}).items()
        if all(key in other and _kind_key(other[key]) == _kind_key(one) for other in found)
    }


def _objects_of(source: Source) -> Mapping[str, Typed]:
    """The objects of a problem by name; none of a text that cannot be read."""
    reader, declared = FileReader(Faults()), list[Typed]()
    frame = reader.framed(source, "problem", "")
    for item in () if frame is None else frame[1]:
        if isinstance(item, Group) and item.head == ":objects":
            with suppress(Skip):
                declared += reader.typed(item.items[1:], variables=False)
    return {one.name.key: one for one in declared}


class _ProblemReader(FileReader):
    def __init__(self, faults: Faults, domain: Domain) -> None:
        super().__init__(faults)
        self.symbols, self.spelling = domain.symbols, domain.spelling
        self.of, self.own = domain.name, Word("", domain.name.span)
        self.parameters = _parameters(domain.actions)
        self.declared: list[Typed] = []
        self.rules: list[Group] = []
        self.init: list[Put | Change] = []
        self.given: set[tuple[str, ...]] = set()
        self.goals: list[Phrase] = []
        self.metric: Metric | None = None
        self.preferred: list[Wanted] = []
        self.wanted: list[Wanted] = []
        self.written: dict[str, Item] = {}

    def read(self, name: Word, items: tuple[Item, ...]) -> Problem | None:
        known: dict[str, Callable[[Group], None]] = {
            ":domain": self._domain,
            ":requirements": self._skipped,
            ":objects": self._objects,
            ":init": self.rules.append,
            ":goal": self.rules.append,
            ":constraints": self.rules.append,
            ":metric": self._metric,
        }
        self.own = name
        self.sections(items, known)
        self._look_up()
        self.sections(
            tuple(self.rules),
            {":init": self._init, ":goal": self._goal, ":constraints": self._constraints},
        )
        if not any(one.head == ":goal" for one in self.rules) and not has_errors(self.faults.found):
            what = f"Problem `{name.text}` has no goal."
            self.faults.tell("TW0101", what, name.span, hint="Write `(:goal condition)`.")
        if not self.goals:
            return None
        return Problem(
            name,
            tuple(one for key, one in self.every.items() if key not in self.symbols.constants),
            self.every,
            tuple(self.init),
            frozenset(self.given),
            self.goals[0],
            self.metric,
            tuple(self.groups),
            tuple(self.preferred),
            tuple(self.wanted),
            self.written,
        )

    def _look_up(self) -> None:
        """The objects by name, each once and of one type."""
        self.symbols.check_typed(self.declared, "object", self.faults)
        self.every = dict(self.symbols.constants)
        for one in self.declared:
            first = self.every.setdefault(one.name.key, one)
            constant = one.name.key in self.symbols.constants
            if constant and _kind_key(first) != _kind_key(one):
                self.faults.twice("object", one.name, first.name.span)
        self.objects = self.every

    # ---- sections ---------------------------------------------------------------------------

    def _domain(self, item: Group) -> None:
        name = self.name(second(item), "domain's name", item.span)
        if name.key != self.of.key:
            what = f"Problem `{self.own.text}` is for domain `{name.text}`."
            hint = f"Write `{self.of.text}`, the domain that was given."
            self.faults.tell(
                "TW0201", what, name.span, hint=hint, severity=Severity.WARNING, names=True
            )

    def _skipped(self, item: Group) -> None:
        """The requirements of a problem are those of its domain."""

    def _objects(self, item: Group) -> None:
        found = self.typed(item.items[1:], variables=False)
        plain = [one for one in found if one.type is None]
        if len(plain) > 1 and plain[-1].name.key in self.symbols.types:
            kind = plain[-1].name
            what = f"`{kind.text}` is a type: `-` is missing before it."
            raise self.faults.unexpected(what, kind.span, f"Write `- {kind.text}`.")
        self.declared += found

    def _goal(self, item: Group) -> None:
        (condition,) = self.exactly(item, 1, "a condition")
        names = Locals(frozenset(self.every), {})
        hard, soft = parted(condition)
        whole = Group((Word("and", item.span), *hard), condition.span) if soft else condition
        self.written["goal"] = condition
        self.goals.append(self.condition(whole, names))
        self.preferred += self.preferences(soft, names)

    def _constraints(self, item: Group) -> None:
        (self.written["constraints"],) = self.exactly(item, 1, "a constraint")
        free = Locals(frozenset(self.every) | self.parameters, {})
        self.wanted += self.constraints(self.written["constraints"], free)

    def _metric(self, item: Group) -> None:
        sense, value = self.exactly(item, 2, "`minimize` or `maximize` and an expression")
        word = sense.key if isinstance(sense, Word) else ""
        if word not in ("minimize", "maximize"):
            message = f"`{show(sense)[:40]}` is no way to measure a plan."
            raise self.faults.unexpected(message, sense.span, "Write `minimize` or `maximize`.")
        way = cast("Literal['minimize', 'maximize']", word)
        self.metric = Metric(way, show(value), item.span, value)

    # ---- start ------------------------------------------------------------------------------

    def _init(self, item: Group) -> None:
        parts = item.items[1:]
        if len(parts) == 1 and isinstance(parts[0], Group) and parts[0].head == "and":
            parts = parts[0].items[1:]
        for bare, some in groupby(parts, key=lambda one: isinstance(one, Word)):
            words = tuple(some)
            if bare:
                what = f"`{show(words[0])[:40]}` stands without its parentheses."
                hint = f"Write `({' '.join(map(show, words))})`."
                self.faults.tell("TW0101", what, words[0].span, hint=hint)
            for part in () if bare else words:
                with suppress(Skip):
                    self.init += self._start(part)

    def _start(self, item: Item) -> Iterator[Put | Change]:
        """A line of ``:init``."""
        self.prefixed(item)
        nobody = Locals(frozenset(), {})
        if isinstance(item, Group):
            if item.head == "=":
                yield self._value(item, nobody)
                return
            if item.head == "not":
                (part,) = self.exactly(item, 1, "a fact")
                yield self.put(part, nobody, positive=False)
                return
            if item.head in ("oneof", "or", "unknown"):
                hint = "State what holds at the start."
                raise self.faults.unsupported(f"`{item.head}` in `:init`", item.span, hint)
            if item.head == "at" and len(item.items) == 3 and isinstance(item.items[2], Group):
                hint = "Leave it out, or write a rule for it."
                raise self.faults.unsupported("A timed initial literal", item.span, hint)
        yield self.put(item, nobody, positive=True)

    def _value(self, item: Group, nobody: Locals) -> Change:
        """A function's value at the start, as an ``assign``."""
        target, value = self.exactly(item, 2, "a function and a value")
        left, right = self.applied(target, nobody, paid=True), self.term(value, nobody)
        key = next(iter(left.numbers), PAID)
        change = Change("assign", left, right, key, item.span)
        if change.pays and not (is_number(value) and float(show(value)) == 0):
            what = "A start value of `total-cost` other than 0 is not supported."
            self.faults.tell("TW0810", what, item.span, hint="Start with 0.", names=True)
        args = target.items[1:] if isinstance(target, Group) else ()
        if not (isinstance(value, Word) and value.key == "undefined"):
            self.given.add((key, *(arg.key for arg in args if isinstance(arg, Word))))
        self.groups.append(left.numbers | right.numbers)
        return change


def _kind_key(one: Typed) -> str:
    return ROOT if one.type is None else one.type.key


def read_problem(source: Source, domain: Domain, faults: Faults) -> Problem | None:
    """The problem of a text as written; ``None`` where it cannot be used."""
    reader = _ProblemReader(faults, domain)
    frame = reader.framed(source, "problem", "Name the problem file after the domain.")
    problem = None if frame is None else reader.read(*frame)
    return None if has_errors(faults.found) else problem
