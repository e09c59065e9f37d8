"""Domains and problems from nested lists: sections in any order, several of a kind joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, cast

from tokenworld.diagnostics import Related, Severity, Source, Span, closest
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Skip, Word, read_items
from tokenworld.planning.reader.tree import (
    ActionDecl,
    Applied,
    Both,
    Calculated,
    Change,
    Choice,
    Compared,
    Condition,
    Constant,
    DerivedDecl,
    Domain,
    Effect,
    Either,
    Equal,
    Fact,
    ForEach,
    FunctionDecl,
    Implied,
    Literal_,
    Metric,
    Name,
    Negated,
    Number,
    PredicateDecl,
    Problem,
    Quantified,
    Start,
    TermExpr,
    Truth,
    Typed,
    Undefined,
    Variable,
    When,
)

__all__ = ["read_domain", "read_problem"]

# ---- parts -------------------------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\Z")
_TEMPORAL = frozenset(("at", "over", "within", "hold-during", "hold-after"))
_TRAJECTORY = frozenset(
    ("always", "sometime", "at-most-once", "sometime-after", "sometime-before", "always-within")
)
_OPERATORS = frozenset(
    (*("and", "or", "not", "imply", "forall", "exists", "when"), "=", "<", ">", "<=", ">=")
)
Quantifier = Literal["forall", "exists"]


def show(item: Item) -> str:
    """The item as text with single spaces."""
    if isinstance(item, Word):
        return item.text
    return "(" + " ".join(show(part) for part in item.items) + ")"


class Parts:
    """Readers of the small parts; each reports what it cannot read and raises `Skip`."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.choices: dict[str, Choice] = {}
        """The unions of types met so far, by key."""

    # ---- names ------------------------------------------------------------------------------

    def name(self, item: Item | None, what: str, place: Span) -> Name:
        """A plain name; ``place`` is where it is missing if there is no item."""
        if item is None:
            raise self.faults.unexpected(f"The {what} is missing.", place, "Add a name.")
        if isinstance(item, Group):
            message = f"A list stands where the {what} should be."
            raise self.faults.unexpected(message, item.span, "Write a name.")
        if item.text[0] in "?:" or item.text == "-":
            message = f"`{item.text}` stands where the {what} should be."
            raise self.faults.unexpected(message, item.span, "Write a name.")
        return Name(item.text, item.span)

    def variable(self, item: Item) -> Name:
        if isinstance(item, Word) and item.text.startswith("?") and len(item.text) > 1:
            return Name(item.text[1:], item.span)
        message = f"`{show(item)[:40]}` stands where a variable should be."
        raise self.faults.unexpected(message, item.span, "Write a name with `?` before it.")

    # ---- typed lists ------------------------------------------------------------------------

    def typed(self, items: Sequence[Item], *, variables: bool) -> tuple[Typed, ...]:
        """``?a ?b - t ?c``: the type after ``-`` is that of all names since the last one."""
        found: list[Typed] = []
        waiting: list[Name] = []
        index = 0
        while index < len(items):
            item = items[index]
            if isinstance(item, Word) and item.text == "-":
                following = items[index + 1] if index + 1 < len(items) else None
                kind = self.type_name(following, item.span, union=variables)
                found += [Typed(name, kind) for name in waiting]
                waiting = []
                index += 2
                continue
            if variables and isinstance(item, Word) and item.text[0] == "-":
                glued = Word(item.text[1:], item.span)  # `?x -block`: read by everybody
                kind = self.type_name(glued, item.span)
                found += [Typed(name, kind) for name in waiting]
                waiting = []
                index += 1
                continue
            waiting.append(self.variable(item) if variables else self.name(item, "name", item.span))
            index += 1
        return (*found, *(Typed(name, None) for name in waiting))

    def type_name(self, item: Item | None, place: Span, *, union: bool = False) -> Name:
        """The type behind ``-``; ``union``: it may be ``(either a b)``."""
        if isinstance(item, Group) and item.head == "either":
            if union:
                return self._choice(item)
            hint = "Declare a type above these and use it."
            what = "`either` in another place than behind a variable"
            raise self.faults.unsupported(what, item.span, hint)
        if item is None:
            raise self.faults.unexpected("A type is missing after `-`.", place, "Write a type.")
        return self.name(item, "type", place)

    def _choice(self, item: Group) -> Name:
        """The union of some types; that of one type is the type."""
        parts = tuple(self.name(part, "type", item.span) for part in item.items[1:])
        if not parts:
            what, hint = "`either` names no type.", "Write two types behind it."
            raise self.faults.unexpected(what, item.span, hint)
        for part in parts:
            if part.key == "object":
                hint = "Leave the type out: every object is an `object`."
                raise self.faults.unsupported("`either` with `object`", part.span, hint)
        if len({part.key for part in parts}) == 1:
            return parts[0]
        distinct = tuple({part.key: part for part in parts}.values())
        text = " ".join(("either", *sorted(part.key for part in distinct)))
        choice = Choice(text, item.span, distinct)
        self.choices.setdefault(choice.key, choice)
        return choice

    def params(self, item: Item | None, place: Span) -> tuple[Typed, ...]:
        """A parenthesised list of variables."""
        if not isinstance(item, Group):
            where = place if item is None else item.span
            hint = "Write them in parentheses, as in `(?x - block)`."
            raise self.faults.unexpected("A list of parameters is missing.", where, hint)
        return self.typed(item.items, variables=True)

    # ---- terms ------------------------------------------------------------------------------

    def term(self, item: Item) -> TermExpr:
        if isinstance(item, Word):
            return self._word(item)
        op, parts = item.head, item.items[1:]
        if op in ("+", "-", "*", "/"):
            if len(parts) < (1 if op == "-" else 2):
                hint = "Give it two operands."
                raise self.faults.unexpected(f"`{op}` lacks an operand.", item.span, hint)
            sign = cast("Literal['+', '-', '*', '/']", op)
            return Calculated(sign, tuple(self.term(part) for part in parts), item.span)
        return self.applied(item)

    def _word(self, word: Word) -> TermExpr:
        if word.text.startswith("?"):
            name = self.variable(word)
            return Variable(name.text, name.span)
        if word.text.startswith("#"):
            hint = "Write the rule as an action."
            raise self.faults.unsupported(f"`{word.text}` (time)", word.span, hint)
        if _NUMBER.match(word.text):
            return Number(word.text, word.span)
        if word.key == "undefined":
            return Undefined(word.span)
        return Constant(self.name(word, "name", word.span))

    def applied(self, item: Item) -> Applied:
        """A function term; a bare word is a function without arguments."""
        if isinstance(item, Word):
            return Applied(self.name(item, "function", item.span), (), item.span)
        head = self.name(item.items[0] if item.items else None, "function", item.span)
        return Applied(head, tuple(self.term(part) for part in item.items[1:]), item.span)

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, item: Item) -> Condition:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where a condition should be."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        if not item.items:
            return Truth(True, item.span)
        return self._headed(item, item.head, item.items[1:])

    def _headed(self, item: Group, head: str, parts: tuple[Item, ...]) -> Condition:
        match head:
            case "and":
                return self._joined(item, parts, conjunction=True)
            case "or":
                return self._joined(item, parts, conjunction=False)
            case "not":
                (part,) = self.exactly(item, 1, "a condition")
                return Negated(self.condition(part), item.span)
            case "imply" | "implies":
                left, right = self.exactly(item, 2, "two conditions")
                return Implied(self.condition(left), self.condition(right), item.span)
            case "forall" | "exists":
                return self._quantified(item, head)
            case "=" | "<" | "<=" | ">" | ">=":
                return self._compared(item, head)
            case "preference":
                hint = "Make it a condition, or leave it out."
                raise self.faults.unsupported("A preference", item.span, hint)
            case _ if head in _TRAJECTORY:
                return self._trajectory(item, head)
            case _ if head in _TEMPORAL and parts and isinstance(parts[0], Word):
                return self._temporal(item, parts[0])
            case _:
                return self.fact(item)

    def _temporal(self, item: Group, first: Word) -> Condition:
        """``(at start …)`` is a timed condition, ``(at ?x ?y)`` a fact like any other."""
        timed = first.key in ("start", "end", "all") and any(
            isinstance(part, Group) for part in item.items[2:]
        )
        if timed:
            hint = "Use an action without duration."
            raise self.faults.unsupported("A timed condition", item.span, hint)
        return self.fact(item)

    def _trajectory(self, item: Group, head: str) -> Condition:
        """``(always (p))`` is a constraint; ``(always ?x)`` would be a fact."""
        if any(isinstance(part, Group) for part in item.items[1:]):
            hint = "Leave it out, or say it with the goal."
            raise self.faults.unsupported(f"The constraint `{head}`", item.span, hint)
        return self.fact(item)

    def _joined(self, item: Group, parts: tuple[Item, ...], *, conjunction: bool) -> Condition:
        read = tuple(self.condition(part) for part in parts)
        if not read:
            return Truth(conjunction, item.span)
        if len(read) == 1:
            return read[0]
        return (Both if conjunction else Either)(read, item.span)

    def _quantified(self, item: Group, kind: Quantifier) -> Condition:
        params, body = self.exactly(item, 2, "variables and a condition")
        bound = self.params(params, item.span)
        inner = self.condition(body)
        return Quantified(kind, bound, inner, item.span) if bound else inner

    def _compared(self, item: Group, op: str) -> Condition:
        left, right = (self.term(part) for part in self.exactly(item, 2, "two terms"))
        if op == "=":
            return Equal(left, right, item.span)
        return Compared(cast("Literal['<', '<=', '>', '>=']", op), left, right, item.span)

    def fact(self, item: Item) -> Fact:
        if isinstance(item, Word) or not item.items:
            message = f"`{show(item)[:40]}` stands where a fact should be."
            hint = "Write a predicate with its arguments in parentheses."
            raise self.faults.unexpected(message, item.span, hint)
        head = self.name(item.items[0], "predicate", item.span)
        if head.key in _OPERATORS:
            message = f"`{head.text}` stands where a predicate should be."
            hint = "Name a single fact here."
            raise self.faults.unexpected(message, head.span, hint)
        return Fact(head, tuple(self.term(part) for part in item.items[1:]), item.span)

    def exactly(self, item: Group, count: int, what: str) -> tuple[Item, ...]:
        """The parts behind the head, of which there must be so many."""
        parts = item.items[1:]
        if len(parts) != count:
            message = f"`{item.head}` takes {what}, and {len(parts)} given."
            message = message.replace("and 0 given", "and nothing is given")
            hint = f"Write `({item.head} …)` with {what}."
            raise self.faults.unexpected(message, item.span, hint)
        return parts

    def attempt_condition(self, item: Item) -> Condition | None:
        """A condition, or ``None`` where it was reported."""
        try:
            return self.condition(item)
        except Skip:
            return None


# ---- effects -----------------------------------------------------------------------------------

_CHANGES = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
_Op = Literal["assign", "increase", "decrease", "scale-up", "scale-down"]


class Effects(Parts):
    """Readers of effects; nested conjunctions are joined, for no meaning hangs on them."""

    def effects(self, item: Item) -> tuple[Effect, ...]:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where an effect should be."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        if not item.items:
            return ()
        if item.head == "and":
            return tuple(one for part in item.items[1:] for one in self.effects(part))
        return (self._effect(item),)

    def _effect(self, item: Group) -> Effect:
        match item.head:
            case "not":
                (part,) = self.exactly(item, 1, "a fact")
                return Literal_(self.fact(part), False)
            case "when":
                condition, body = self.exactly(item, 2, "a condition and an effect")
                return When(self.condition(condition), self.effects(body), item.span)
            case "forall":
                params, body = self.exactly(item, 2, "variables and an effect")
                bound = self.params(params, item.span)
                return ForEach(bound, self.effects(body), item.span)
            case op if op in _CHANGES:
                target, value = self.exactly(item, 2, "a function and a value")
                change = cast("_Op", op)
                return Change(change, self.applied(target), self.term(value), item.span)
            case "probabilistic" | "oneof" | "one-of":
                hint = "Import the outcomes as actions of their own."
                raise self.faults.unsupported(f"`{item.head}`", item.span, hint)
            case "at" | "over" if self._timed(item):
                hint = "Use an action without duration."
                raise self.faults.unsupported("A timed effect", item.span, hint)
            case "or" | "imply" | "exists" | "=":
                message = f"`{item.head}` is no effect."
                hint = "Name each change, or move the condition into `when`."
                raise self.faults.unexpected(message, item.span, hint)
            case _:
                return Literal_(self.fact(item), True)

    def _timed(self, item: Group) -> bool:
        first = item.items[1] if len(item.items) > 1 else None
        named = isinstance(first, Word) and first.key in ("start", "end", "all")
        return named and any(isinstance(part, Group) for part in item.items[2:])

    def start(self, item: Item) -> Start:
        """A line of ``:init``."""
        if isinstance(item, Group):
            if item.head == "=":
                target, value = self.exactly(item, 2, "a function and a value")
                return Change("assign", self.applied(target), self.term(value), item.span)
            if item.head == "not":
                (part,) = self.exactly(item, 1, "a fact")
                return Literal_(self.fact(part), False)
            if item.head in ("oneof", "or", "unknown"):
                hint = "State what holds at the start."
                raise self.faults.unsupported(f"`{item.head}` in `:init`", item.span, hint)
            timed = len(item.items) == 3 and isinstance(item.items[2], Group)
            if item.head == "at" and timed:
                hint = "Leave it out, or write a rule for it."
                raise self.faults.unsupported("A timed initial literal", item.span, hint)
        return Literal_(self.fact(item), True)


# ---- frame -------------------------------------------------------------------------------------

_LATER = {
    ":durative-action": ("A durative action", "Use an action without duration."),
    ":process": ("A process", "Write it as a law in the `.tw` file."),
    ":event": ("An event", "Write it as a law in the `.tw` file."),
    ":constraints": ("A constraint", "Leave it out, or say it with the goal."),
    ":axiom": ("An old-style axiom", "Write `(:derived (p ?x) condition)`."),
    ":task": ("A task network", "Write the methods as actions."),
    ":method": ("A task network", "Write the methods as actions."),
    ":observe": ("A sensing action", "Leave the observation out."),
    ":vars": ("`:vars`", "Quantify the variables, or make them parameters."),
    ":duration": ("A duration", "Use an action without duration."),
    ":condition": ("A timed condition", "Write `:precondition`."),
}


class FileReader(Effects):
    """The reader that domains and problems share: the frame and the sections."""

    def sections(self, items: tuple[Item, ...], known: dict[str, Callable[[Group], None]]) -> None:
        """Hand each section to its reader; one that fails does not stop the others."""
        for item in items:
            try:
                self._section(item, known)
            except Skip:
                continue

    def _section(self, item: Item, known: dict[str, Callable[[Group], None]]) -> None:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where a section should be."
            raise self.faults.unexpected(message, item.span, "Write it inside a section.")
        if item.head in known:
            known[item.head](item)
            return
        self.unknown_word(item, item.head, tuple(known))

    def unknown_word(self, item: Item, word: str, known: tuple[str, ...]) -> None:
        """A keyword that is not read: what PDDL has besides, or a mistake."""
        if word in _LATER:
            what, hint = _LATER[word]
            raise self.faults.unsupported(what, item.span, hint)
        span = item.items[0].span if isinstance(item, Group) and item.items else item.span
        near = closest(word, known)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known are {', '.join(known)}."
        shown = word or show(item)[:40]
        raise self.faults.unexpected(f"`{shown}` has no meaning here.", span, hint)


def _define(items: tuple[Item, ...], source: Source, faults: Faults) -> tuple[Group, Group] | None:
    """The ``(define …)`` list and its first part ``(domain n)``; ``None`` if there is none."""
    place = source.span(0, 0) if not items else items[0].span
    first = items[0] if items else None
    if not isinstance(first, Group) or first.head != "define":
        what = "The text does not begin with `(define …)`."
        faults.tell("TW0101", what, place, hint="Name a PDDL domain or problem.")
        return None
    for extra in items[1:]:
        what = "Something follows after the end of `(define …)`."
        hint = "Remove a `)` before it, or remove what follows."
        faults.tell("TW0101", what, extra.span, hint=hint)
        break
    head = first.items[1] if len(first.items) > 1 else None
    if not isinstance(head, Group) or head.head not in ("domain", "problem"):
        what = "`(domain name)` or `(problem name)` is missing."
        span = first.items[0].span if head is None else head.span
        faults.tell("TW0101", what, span, hint="Write it right behind `define`.")
        return None
    return first, head


def framed(
    source: Source, faults: Faults, reader: FileReader, kind: str, otherwise: str
) -> tuple[Name, tuple[Item, ...]] | None:
    """The name of the file's ``kind`` (``domain``, ``problem``) and the sections behind it.

    ``None`` where the text is something else; ``otherwise`` is what to do then.
    """
    frame = _define(read_items(source, faults), source, faults)
    if frame is None:
        return None
    whole, head = frame
    if head.head != kind:
        what = f"This is a {head.head}, and a {kind} is needed."
        faults.tell("TW0101", what, head.span, hint=otherwise)
        return None
    try:
        name = reader.name(second(head), f"{kind}'s name", head.span)
    except Skip:
        name = Name("unnamed", head.span)
    return name, whole.items[2:]


def second(head: Group) -> Item | None:
    return head.items[1] if len(head.items) > 1 else None


# ---- domain ------------------------------------------------------------------------------------


class _DomainReader(FileReader):
    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.requirements: list[Name] = []
        self.types: list[Typed] = []
        self.constants: list[Typed] = []
        self.predicates: list[PredicateDecl] = []
        self.functions: list[FunctionDecl] = []
        self.derived: list[DerivedDecl] = []
        self.actions: list[ActionDecl] = []

    def _requirements(self, item: Group) -> None:
        for part in item.items[1:]:
            if not isinstance(part, Word) or not part.text.startswith(":") or len(part.text) == 1:
                message = f"`{show(part)[:40]}` is no requirement."
                raise self.faults.unexpected(message, part.span, "Write a word such as `:strips`.")
            self.requirements.append(Name(part.text[1:], part.span))

    def _types(self, item: Group) -> None:
        self.types += self.typed(item.items[1:], variables=False)

    def _declared_types(self) -> tuple[Typed, ...]:
        """The types without declarations that say nothing: below `object`, and elsewhere too."""
        below = {one.name.key: one for one in self.types if not _below_root(one)}
        if "object" in (one.name.key for one in self.types):
            return tuple(self.types)  # it is a type like any other there
        for one in self.types:
            if _below_root(one) and one.name.key in below:
                again = Related(below[one.name.key].name.span, "this one counts")
                what = f"The type `{one.name.text}` is declared twice, once below `object`."
                hint = "Remove this one: every type is below `object`."
                self.faults.tell("TW0203", what, one.name.span, hint=hint, related=(again,),
                                 severity=Severity.WARNING)  # fmt: skip
        return tuple(one for one in self.types if not (_below_root(one) and one.name.key in below))

    def _constants(self, item: Group) -> None:
        self.constants += self.typed(item.items[1:], variables=False)

    def _predicates(self, item: Group) -> None:
        for part in item.items[1:]:
            try:
                name, params = self._signature(part, "predicate")
                if name.text != "=":  # built in, and yet declared by some
                    self.predicates.append(PredicateDecl(name, params))
            except Skip:
                continue

    def _signature(self, item: Item, what: str) -> tuple[Name, tuple[Typed, ...]]:
        if not isinstance(item, Group):
            message = f"`{item.text}` stands where a {what} should be declared."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        name = self.name(item.items[0] if item.items else None, f"{what}'s name", item.span)
        return name, self.typed(item.items[1:], variables=True)

    def _functions(self, item: Group) -> None:
        """Like a typed list, whose names are signatures and whose types are results."""
        waiting: list[tuple[Name, tuple[Typed, ...]]] = []
        parts, index = item.items[1:], 0
        while index < len(parts):
            part = parts[index]
            if isinstance(part, Word) and part.text == "-":
                of = self.type_name(parts[index + 1] if index + 1 < len(parts) else None, part.span)
                self._declare(waiting, None if of.key == "number" else of)
                waiting = []
                index += 2
                continue
            waiting.append(self._signature(part, "function"))
            index += 1
        self._declare(waiting, None)

    def _declare(self, signatures: list[tuple[Name, tuple[Typed, ...]]], of: Name | None) -> None:
        self.functions += [FunctionDecl(name, params, of) for name, params in signatures]

    def _derived(self, item: Group) -> None:
        head, condition = self.exactly(item, 2, "a predicate and a condition")
        name, params = self._signature(head, "derived predicate")
        self.derived.append(DerivedDecl(name, params, self.condition(condition), item.span))

    def _action(self, item: Group) -> None:
        name = self.name(item.items[1] if len(item.items) > 1 else None, "action's name", item.span)
        fields = self._fields(item, name)
        params = fields.get(":parameters")
        bound = () if params is None else self.params(params, name.span)
        before, after = fields.get(":precondition"), fields.get(":effect")
        condition = Truth(True, name.span) if before is None else self.attempt_condition(before)
        effects = () if after is None else self.effects(after)
        if condition is None:
            raise Skip
        self.actions.append(ActionDecl(name, bound, condition, effects, item.span))

    def _fields(self, item: Group, name: Name) -> dict[str, Item]:
        """The keywords of an action with what follows each."""
        fields: dict[str, Item] = {}
        parts, index = item.items[2:], 0
        while index < len(parts):
            word = parts[index]
            key = word.key if isinstance(word, Word) else ""
            if key not in (":parameters", ":precondition", ":effect"):
                known = (":parameters", ":precondition", ":effect")
                self.unknown_word(word, key, known)
            if key in fields:
                message = f"`{key}` stands twice in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Join the two with `and`.")
            value = parts[index + 1] if index + 1 < len(parts) else None
            if value is None or (isinstance(value, Word) and value.text.startswith(":")):
                message = f"Nothing follows `{key}` in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Write `()` for nothing.")
            fields[key] = value
            index += 2
        return fields

    def read(self, source: Source, name: Name, items: tuple[Item, ...]) -> Domain:
        self.sections(
            items,
            {
                ":requirements": self._requirements,
                ":types": self._types,
                ":constants": self._constants,
                ":predicates": self._predicates,
                ":functions": self._functions,
                ":derived": self._derived,
                ":action": self._action,
            },
        )
        return Domain(
            source,
            name,
            tuple(self.requirements),
            self._declared_types(),
            tuple(self.constants),
            tuple(self.predicates),
            tuple(self.functions),
            tuple(self.derived),
            tuple(self.actions),
            tuple(self.choices.values()),
        )


def _below_root(of: Typed) -> bool:
    return of.type is None or of.type.key == "object"


def read_domain(source: Source, faults: Faults) -> Domain | None:
    """The domain of a text as written, as far as it could be read; names are not looked up.

    ``None`` where the text is no domain at all. Everything wrong has been told to ``faults``.
    """
    reader = _DomainReader(faults)
    frame = framed(source, faults, reader, "domain", "Name the domain file first.")
    return None if frame is None else reader.read(source, *frame)


# ---- problem -----------------------------------------------------------------------------------


class _ProblemReader(FileReader):
    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.domain: Name | None = None
        self.objects: list[Typed] = []
        self.init: list[Start] = []
        self.goals: list[Condition] = []
        self.metric: Metric | None = None
        self.goal_seen = False

    def _domain(self, item: Group) -> None:
        self.domain = self.name(second(item), "domain's name", item.span)

    def _objects(self, item: Group) -> None:
        self.objects += self.typed(item.items[1:], variables=False)

    def _init(self, item: Group) -> None:
        parts = item.items[1:]
        if len(parts) == 1 and isinstance(parts[0], Group) and parts[0].head == "and":
            parts = parts[0].items[1:]
        for part in parts:
            try:
                self.init.append(self.start(part))
            except Skip:
                continue

    def _goal(self, item: Group) -> None:
        self.goal_seen = True
        (condition,) = self.exactly(item, 1, "a condition")
        self.goals.append(self.condition(condition))

    def _metric(self, item: Group) -> None:
        sense, value = self.exactly(item, 2, "`minimize` or `maximize` and an expression")
        word = sense.key if isinstance(sense, Word) else ""
        if word not in ("minimize", "maximize"):
            message = f"`{show(sense)[:40]}` is no way to measure a plan."
            raise self.faults.unexpected(message, sense.span, "Write `minimize` or `maximize`.")
        way = cast("Literal['minimize', 'maximize']", word)
        self.metric = Metric(way, show(value), item.span)

    def _skipped(self, item: Group) -> None:
        """The requirements of a problem are those of its domain."""

    def read(self, source: Source, name: Name, items: tuple[Item, ...]) -> Problem | None:
        known: dict[str, Callable[[Group], None]] = {
            ":domain": self._domain,
            ":requirements": self._skipped,
            ":objects": self._objects,
            ":init": self._init,
            ":goal": self._goal,
            ":metric": self._metric,
        }
        self.sections(items, known)
        if not self.goal_seen:
            what = f"Problem `{name.text}` has no goal."
            self.faults.tell("TW0101", what, name.span, hint="Write `(:goal condition)`.")
        if not self.goals:
            return None
        objects, init = tuple(self.objects), tuple(self.init)
        return Problem(source, name, self.domain, objects, init, self.goals[0], self.metric)


def read_problem(source: Source, faults: Faults) -> Problem | None:
    """The problem of a text as written; ``None`` where it cannot be used at all.

    Everything wrong has been told to ``faults``.
    """
    reader = _ProblemReader(faults)
    hint = "Name the problem file behind the domain."
    frame = framed(source, faults, reader, "problem", hint)
    return None if frame is None else reader.read(source, *frame)
