"""PDDL terms and conditions as `.tw` text with the same nesting; names are resolved.

Each reader reports constructs that it cannot read and raises `Skip`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tokenworld.diagnostics import Span, counted, did_you_mean
from tokenworld.planning.reader.names import (
    AND,
    ATOM,
    COMPARE,
    FRACTION,
    IMPLIES,
    NOT,
    OR,
    PAID,
    PRODUCT,
    ROOT,
    SUM,
    TOTAL_COST,
    UNARY,
    Choice,
    Locals,
    Phrase,
    Signature,
    Spelling,
    Symbols,
    Typed,
    joined,
    word,
)
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Skip, Word

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\Z")
_TRAJECTORY = frozenset(
    ("always", "sometime", "at-most-once", "sometime-after", "sometime-before", "always-within")
)
_TEMPORAL = frozenset(("at", "over", "within", "hold-during", "hold-after"))
_OPERATORS = frozenset(
    (*("and", "or", "not", "imply", "forall", "exists", "when"), "=", "<", ">", "<=", ">=")
)


def show(item: Item) -> str:
    """The item as text with single spaces."""
    if isinstance(item, Word):
        return item.text
    return "(" + " ".join(show(part) for part in item.items) + ")"


def is_number(item: Item) -> bool:
    return isinstance(item, Word) and _NUMBER.match(item.text) is not None


def is_timed(item: Group) -> bool:
    """Return whether ``(at start …)`` is about time; ``(at ?x ?y)`` is a fact like any other."""
    first = item.items[1] if len(item.items) > 1 else None
    named = isinstance(first, Word) and first.key in ("start", "end", "all")
    return named and any(isinstance(part, Group) for part in item.items[2:])


class Parts:
    """Reads names, typed lists and unions of types."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.choices: dict[str, Choice] = {}
        """The unions of types met so far, by key."""

    # ---- names ------------------------------------------------------------------------------

    def name(self, item: Item | None, what: str, place: Span) -> Word:
        """A plain name; ``place`` is where it is missing if there is no item."""
        if item is None:
            raise self.faults.unexpected(f"The {what} is missing.", place, "Add a name.")
        if isinstance(item, Group):
            message = f"A list stands where the {what} should be."
            hint = (
                "Write `and` before several conditions." if what == "predicate" else "Write a name."
            )
            raise self.faults.unexpected(message, item.span, hint)
        if item.text[0] in "?:" or item.text == "-":
            message = f"`{item.text}` stands where the {what} should be."
            hint = "Write `-` before a type." if item.text == ":" else "Write a name."
            raise self.faults.unexpected(message, item.span, hint)
        return item

    def variable(self, item: Item) -> Word:
        if isinstance(item, Word) and item.text.startswith("?") and len(item.text) > 1:
            return Word(item.text[1:], item.span)
        message = f"`{show(item)[:40]}` stands where a variable should be."
        plain = isinstance(item, Word) and item.text[:1].isalpha()
        word = show(item)[:40]
        hint = "Write a name with `?` before it."
        hint = f"Write `?{word}`; or `- {word}`, if it is a type." if plain else hint
        raise self.faults.unexpected(message, item.span, hint)

    def exactly(self, item: Group, count: int, what: str) -> tuple[Item, ...]:
        """The parts after the head; it is an error if their number is another one."""
        parts = item.items[1:]
        if len(parts) != count:
            message = f"`{item.head}` takes {what}, and {len(parts)} given."
            message = message.replace("and 0 given", "and nothing is given")
            hint = f"Write `({item.head} …)` with {what}."
            whole = next((k for k, one in enumerate(parts) if isinstance(one, Group)), len(parts))
            if whole > 1 and whole + count - 1 == len(parts):  # words without their parentheses
                inner = " ".join(show(one) for one in parts[:whole])
                hint = f"Put them in parentheses: `({item.head} ({inner}){' …' * (count - 1)})`."
            raise self.faults.unexpected(message, item.span, hint)
        return parts

    # ---- typed lists ------------------------------------------------------------------------

    def typed(
        self, items: Sequence[Item], *, variables: bool, types: bool = False
    ) -> tuple[Typed, ...]:
        """``?a ?b - t ?c``: the type after ``-`` is that of all names since the last one; after
        ``variables`` and ``types`` it may be an `either`."""
        found: list[Typed] = []
        waiting: list[Word] = []
        left = iter(items)
        for item in left:
            if isinstance(item, Word) and item.text == "-":
                kind = self.type_name(next(left, None), item.span, union=variables or types)
            elif variables and isinstance(item, Word) and item.text[0] == "-":
                glued = Word(item.text[1:], item.span)  # `?x -block`: read by everybody
                kind = self.type_name(glued, item.span)
            else:
                one = self.variable(item) if variables else self.name(item, "name", item.span)
                if one.text.endswith(":"):
                    message, right = f"`{one.text}` ends in a colon.", item.text.rstrip(":")  # type: ignore[union-attr]
                    hint = f"Write `-` before the type: `{right} - type`."
                    raise self.faults.unexpected(message, one.span, hint)
                waiting.append(one)
                continue
            found += [Typed(name, kind) for name in waiting]
            waiting = []
        found += [Typed(name, None) for name in waiting]
        for of in (one.type for one in found if variables):
            if isinstance(of, Choice):
                self.choices.setdefault(of.key, of)
        return tuple(found)

    def type_name(self, item: Item | None, place: Span, *, union: bool = False) -> Word:
        """The type after ``-``; ``union``: it may be ``(either a b)``."""
        if isinstance(item, Group) and item.head == "either":
            if union:
                return self._choice(item)
            hint = "Declare a type above these and use it."
            what = "`either` in another place than after a variable or a type"
            raise self.faults.unsupported(what, item.span, hint)
        if item is None:
            raise self.faults.unexpected("A type is missing after `-`.", place, "Write a type.")
        return self.name(item, "type", place)

    def _choice(self, item: Group) -> Word:
        """The union of some types; that of one type is the type."""
        parts = tuple(self.name(part, "type", item.span) for part in item.items[1:])
        if not parts:
            what, hint = "`either` names no type.", "Write two types after it."
            raise self.faults.unexpected(what, item.span, hint)
        for part in parts:
            if part.key == ROOT:
                hint = "Leave the type out: every object is an `object`."
                raise self.faults.unsupported("`either` with `object`", part.span, hint)
        if len({part.key for part in parts}) == 1:
            return parts[0]
        distinct = tuple({part.key: part for part in parts}.values())
        text = " ".join(("either", *sorted(part.key for part in distinct)))
        return Choice(text, item.span, distinct)

    def params(self, item: Item | None, place: Span) -> tuple[Typed, ...]:
        """A parenthesised list of variables."""
        if not isinstance(item, Group):
            where = place if item is None else item.span
            hint = "Write them in parentheses, as in `(?x - block)`."
            raise self.faults.unexpected("A list of parameters is missing.", where, hint)
        return self.typed(item.items, variables=True)


_FEW = 6
"""Variables that a hint lists."""
_SIGNS = frozenset({"=", "<", "<=", ">", ">=", "==", "!=", "+", "*", "/"})


NEGATIONS = frozenset({"!", "~", "not"})
"""Words that negate the expression after them in other languages."""


class Expressions(Parts):
    """Reads the expressions of one file; ``objects`` are the constants and objects that it knows.

    ``feeds`` has the dependencies of each derived predicate, if they are known. ``groups`` gathers
    the functions that meet in one comparison or change: if one is `real`, all of them are. Slots in
    ``stale`` are written with `was`, because the effects change them before they read them.
    """

    symbols: Symbols
    spelling: Spelling
    objects: Mapping[str, Typed]

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.feeds: Mapping[str, frozenset[str]] = {}
        self.groups: list[frozenset[str]] = []
        self.stale = frozenset[str]()

    def arity(self, kind: str, declared: Signature, given: int, span: Span) -> None:
        wanted, name = len(declared.params), declared.name.text
        if wanted != given:
            message = (
                f"The {kind} `{name}` takes {counted(wanted, 'argument')}, and this gives {given}."
            )
            names = "".join(f" ?{one.name.text}" for one in declared.params)
            hint = f"Write as many as in its declaration: `({name}{names})`."
            label = f"{given} given"
            self.faults.tell("TW0302", message, span, label=label, hint=hint, names=True)

    # ---- terms ------------------------------------------------------------------------------

    def term(self, item: Item, names: Locals) -> Phrase:
        if isinstance(item, Word):
            return self._word(item, names)
        self.prefixed(item)
        op, parts = item.head, item.items[1:]
        if op not in ("+", "-", "*", "/"):
            return self.applied(item, names)
        if len(parts) < (1 if op == "-" else 2):
            hint = "Give it two operands."
            raise self.faults.unexpected(f"`{op}` lacks an operand.", item.span, hint)
        read = tuple(self.term(part, names) for part in parts)
        if len(read) == 1:
            (one,) = read
            text = f"-{one.within(ATOM)}"
            return Phrase(text, UNARY, item.span, one.reads, one.numbers)
        level = SUM if op in "+-" else PRODUCT
        found = joined(op, level, read, item.span, level, level + 1)
        numbers = found.numbers | frozenset((FRACTION,) if op == "/" else ())
        return Phrase(found.text, level, item.span, found.reads, numbers)

    def _word(self, item: Word, names: Locals) -> Phrase:
        if item.text.startswith("?"):
            name = self.variable(item)
            if name.key not in names.names:
                known = [f"?{one}" for one in names.names]
                shown = Word(f"?{name.text}", name.span)
                hint = f"Declare it in `:parameters` as `?{name.text} - type`, or quantify it."
                if 0 < len(known) <= _FEW:
                    listed = ", ".join(f"`{one}`" for one in known)
                    hint = f"{hint.removesuffix(', or quantify it.')}, or write one of {listed}."
                near = known if len(name.text) > 1 else ()  # all letters are alike
                self.faults.unknown("variable", shown, near, hint)
            return Phrase(names.names.get(name.key, "none"), ATOM, item.span)
        if item.text.startswith("#"):
            hint = "Write the rule as an action."
            raise self.faults.unsupported(f"`{item.text}` (time)", item.span, hint)
        if is_number(item):
            return _number(item)
        if item.key == "undefined":
            return Phrase("none", ATOM, item.span)
        name = self.name(item, "name", item.span)
        if name.key not in self.objects:
            self._unknown_object(name, names)
            return Phrase("none", ATOM, item.span)
        return Phrase(word(self.objects[name.key].name.text), ATOM, item.span)

    def _unknown_object(self, name: Word, names: Locals) -> None:
        known = [one.name.text for one in self.objects.values()]
        hint = "Declare it in `:constants` or `:objects`."
        if name.key in self.symbols.functions:
            hint = f"Write `({name.text})` for the function."
        elif name.key in names.names:
            hint = f"Write `?{name.text}` for the variable."
        self.faults.unknown("object", name, known, hint)

    def applied(self, item: Item, names: Locals, *, paid: bool = False) -> Phrase:
        """A function term; a bare word is a function without arguments.

        ``paid``: it may be ``(total-cost)``.
        """
        first = item if isinstance(item, Word) else (item.items[0] if item.items else None)
        name = self.name(first, "function", item.span)
        args = () if isinstance(item, Word) else item.items[1:]
        read = tuple(self.term(part, names) for part in args)
        if name.key == TOTAL_COST and not self.symbols.counted:
            if not paid:  # in a problem: the rules of a domain make it a function like any other
                what = f"Reading `{name.text}` in a problem alone is not supported."
                hint = "Count with a function of another name."
                self.faults.tell("TW0810", what, item.span, hint=hint, names=True)
            return Phrase(PAID, ATOM, item.span, frozenset((PAID,)))
        found = self._called("function", self.symbols.functions, name, read, item.span)
        number = frozenset((name.key,))
        return self._dated(Phrase(found.text, ATOM, item.span, found.reads, number), not paid)

    def _called(
        self, kind: str, known: Mapping[str, Signature], name: Word, args: Sequence[Phrase],
        span: Span,
    ) -> Phrase:  # fmt: skip
        """A predicate or function with its arguments."""
        if name.key not in known:
            names = [one.name.text for one in known.values()]
            hint = self._of_other_kind(kind, name, args) or f"Declare it in `:{kind}s`."
            self.faults.unknown(kind, name, names, hint)
            return Phrase("none", ATOM, span, frozenset((name.key,)))
        self.arity(kind, known[name.key], len(args), span)
        inside = ", ".join(one.text for one in args)
        reads = frozenset((name.key,)).union(*(one.reads for one in args))
        return Phrase(f"{word(known[name.key].name.text)}({inside})", ATOM, span, reads)

    # ---- conditions -------------------------------------------------------------------------

    def prefixed(self, item: Item) -> None:
        """Report a sign between its two sides: in PDDL it stands before them."""
        parts = item.items if isinstance(item, Group) else ()
        sign = parts[1] if len(parts) == 3 else None
        if isinstance(sign, Word) and sign.text in _SIGNS:
            what = f"`{sign.text}` stands between its two sides."
            hint = f"Write `({sign.text} {show(parts[0])} {show(parts[2])})`."
            raise self.faults.unexpected(what, sign.span, hint)

    def condition(self, item: Item, names: Locals) -> Phrase:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where a condition should be."
            hint = f"Write `({item.text})`."
            if item.key in NEGATIONS:
                hint = "Write `(not (…))`."
            elif item.key in ("and", "or", "imply"):
                hint = f"Leave it away, or write it first: `({item.key} …)`."
            raise self.faults.unexpected(message, item.span, hint)
        self.prefixed(item)
        parts = item.items[1:]
        match item.head:
            case "" if not item.items:
                return _truth(True, item.span)
            case "and" | "or":
                return self._joined(item, names)
            case "not":
                (part,) = self.exactly(item, 1, "a condition")
                one = self.condition(part, names)
                return Phrase(f"not {one.within(NOT)}", NOT, item.span, one.reads)
            case "imply" | "implies":
                both = self.exactly(item, 2, "two conditions")
                sides = tuple(self.condition(one, names) for one in both)
                return joined("implies", IMPLIES, sides, item.span, OR, IMPLIES)
            case "forall" | "exists":
                return self._quantified(item, names)
            case "=" | "<" | "<=" | ">" | ">=":
                return self._compared(item, names)
            case "preference":
                hint = "Write it as a conjunct of the goal, the precondition or the constraints."
                raise self.faults.unsupported("A preference in this place", item.span, hint)
            case head if head in _TRAJECTORY and any(isinstance(one, Group) for one in parts):
                hint = "Write it in `(:constraints …)`."
                raise self.faults.unsupported(
                    f"The constraint `{head}` in a condition", item.span, hint
                )
            case head if head in _TEMPORAL and is_timed(item):
                hint = "Use an action without duration."
                raise self.faults.unsupported("A timed condition", item.span, hint)
            case _:
                return self.fact(item, names)

    def _joined(self, item: Group, names: Locals) -> Phrase:
        both = item.head == "and"
        read = tuple(self.condition(part, names) for part in item.items[1:])
        if not read:
            return _truth(both, item.span)
        if len(read) == 1:
            return read[0]
        if not both:
            return joined("or", OR, read, item.span, AND)
        found = joined("and", AND, read, item.span, NOT)
        return Phrase(found.text, AND, item.span, found.reads, parts=read)

    def _quantified(self, item: Group, names: Locals) -> Phrase:
        params, body = self.exactly(item, 2, "variables and a condition")
        bound = self.params(params, item.span)
        self.symbols.check_typed(bound, "variable", self.faults)
        inner = names.bind(bound)
        one = self.condition(body, inner)
        if not bound:
            return one
        fold = "all" if item.head == "forall" else "any"
        text = f"{fold}({one.text} for {self.spelling.binders(bound, inner)})"
        return Phrase(text, ATOM, item.span, one.reads)

    def _compared(self, item: Group, names: Locals) -> Phrase:
        sides = tuple(self.term(part, names) for part in self.exactly(item, 2, "two terms"))
        found = joined("==" if item.head == "=" else item.head, COMPARE, sides, item.span, SUM)
        self.groups.append(found.numbers)
        return found

    def fact(self, item: Item, names: Locals) -> Phrase:
        head, args = self.atom(item, names)
        found = self._called("predicate", self.symbols.predicates, head, args, item.span)
        below = self.feeds.get(head.key, frozenset())
        return self._dated(Phrase(found.text, ATOM, item.span, found.reads | below))

    def _of_other_kind(self, kind: str, name: Word, args: Sequence[Phrase]) -> str | None:
        """The hint where a function is written as a fact, or a predicate as a function."""
        if kind == "function":
            known = name.key in self.symbols.predicates
            return f"`{name.text}` is a predicate: it has no value." if known else None
        found = self.symbols.functions.get(name.key)
        if found is None:
            return None
        count = len(found.params)
        inside = "".join(f" {one.text}" for one in args[:count])
        value = args[count].text if len(args) > count else "0"
        return f"`{name.text}` is a function: write `(= ({name.text}{inside}) {value})`."

    def _dated(self, found: Phrase, read: bool = True) -> Phrase:
        """A fact or a function that is ``read``: its value at the start of the tick if stale."""
        if not read or not self.stale & found.reads:
            return found
        return replace(found, text=f"was {found.text}", reads=found.reads - self.stale)

    def atom(self, item: Item, names: Locals) -> tuple[Word, tuple[Phrase, ...]]:
        """The predicate of a fact and its arguments."""
        if isinstance(item, Word) or not item.items:
            message = f"`{show(item)[:40]}` stands where a fact should be."
            hint = "Write a predicate with its arguments in parentheses."
            raise self.faults.unexpected(message, item.span, hint)
        head = self.name(item.items[0], "predicate", item.span)
        if head.key in _OPERATORS:
            message = f"`{head.text}` stands where a predicate should be."
            hint = "Name a single fact here."
            raise self.faults.unexpected(message, head.span, hint)
        known = head.key in self.symbols.predicates
        if not known and any(isinstance(part, Group) for part in item.items[1:]):
            hint = did_you_mean(head.text, _OPERATORS) or "Declare it in `:predicates`."
            self.faults.tell("TW0201", f"There is no predicate `{head.text}`.", head.span,
                             label="unknown", hint=hint, names=True)  # fmt: skip
            raise Skip
        return head, tuple(self.term(part, names) for part in item.items[1:])

    def changed(self, head: Word, args: Sequence[Phrase], span: Span) -> Phrase:
        """A fact that an effect or the start state sets."""
        if head.key in self.symbols.derived:
            what = f"The derived predicate `{head.text}` is changed, which is not supported."
            hint = "Change what it is derived from."
            self.faults.tell("TW0810", what, span, hint=hint, names=True)
        return self._called("predicate", self.symbols.predicates, head, args, span)


def _truth(value: bool, span: Span) -> Phrase:
    return Phrase("true" if value else "false", ATOM, span, parts=() if value else None)


def _number(item: Word) -> Phrase:
    """A number as the language writes it: digits on both sides of the point, no plus sign."""
    text = item.text
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text.lstrip("+"))
    whole, point, part = digits.partition(".")
    plain = f"{whole or '0'}{'.' + part if part else ''}" if point else whole
    level = UNARY if sign else ATOM
    numbers = frozenset((FRACTION,) if "." in text else ())
    return Phrase(sign + plain, level, item.span, numbers=numbers)
