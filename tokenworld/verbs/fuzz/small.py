"""Small random worlds, whose states can all be seen: what verdicts of planners are tried on.

They have what a search may take for granted and must not: long actions with a `cancelled`, free
actions that draw, rounds of several actors, time that passes always, invariants and ranges that
luck breaks, intents that are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Fluent:
    """A stored value: its owner (none: of the world), its kind, its highest number."""

    name: str
    kind: str
    owner: str = ""
    high: int = 0
    clamped: bool = False
    scratch: bool = False

    @property
    def written(self) -> str:
        """As an author declares it."""
        kinds = {
            "bool": "bool", "enum": "E", "ref": "D?", "int": "int",
            "nest": "D? nested ordered inverse kids",
        }  # fmt: skip
        kind = kinds.get(self.kind, f"0 to {self.high}")
        return f"{self.name}: {kind}{' clamped' if self.clamped else ''}"


@dataclass(frozen=True)
class _Scope:
    """The names that may be read at one place of a text."""

    names: tuple[tuple[str, str], ...]
    banned: frozenset[str] = frozenset()
    law: bool = False
    draws: bool = False

    def bind(self, name: str, kind: str) -> _Scope:
        return replace(self, names=((name, kind), *self.names))

    def of(self, kind: str) -> list[str]:
        return [name for name, own in self.names if own == kind]


@dataclass
class _Small:
    """A small world in the making. ``heroes`` act; without any there is one player, unseen."""

    random: Random
    heroes: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    fluents: list[_Fluent] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    shared: bool = False
    ticks: bool = False
    lives: bool = False
    effects: list[str] = field(default_factory=list)
    fresh: int = 0

    def one(self, things: Sequence[T]) -> T:
        return self.random.choice(things)

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        self.fresh += 1
        return f"x{self.fresh}"

    @property
    def forgotten(self) -> frozenset[str]:
        """The fluents that last for one tick."""
        return frozenset(one.name for one in self.fluents if one.scratch)

    # ---- reading ------------------------------------------------------------------------------

    def slot(self, fluent: _Fluent, scope: _Scope) -> str:
        if not fluent.owner:
            return f"{fluent.name}()"
        return f"{self.one(scope.of(fluent.owner))}.{fluent.name}"

    def readable(self, scope: _Scope, *kinds: str) -> list[_Fluent]:
        return [
            one for one in self.fluents
            if one.kind in kinds and one.name not in scope.banned
            and (not one.owner or scope.of(one.owner))
        ]  # fmt: skip

    def read(self, fluent: _Fluent, scope: _Scope) -> str:
        was = "was " if scope.law and self.maybe(0.15) else ""
        return was + self.slot(fluent, scope)

    def through(self, scope: _Scope) -> tuple[str, str] | None:
        """The path to a thing that may be missing, and the path to a number of it."""
        steps = [one for one in self.readable(scope, "ref", "nest") if one.owner]
        ends = [one for one in self.readable(scope, "number") if one.owner == "D"]
        if not steps or not ends:
            return None
        base = self.slot(self.one(steps), scope)
        return base, f"{base}.{self.one(ends).name}"

    def condition(self, scope: _Scope, depth: int = 1) -> str:
        """A truth: an atom, or several joined."""
        if depth <= 0 or self.maybe(0.45):
            return self.atom(scope)
        inner = [self.condition(scope, depth - 1) for _ in range(2)]
        match self.one(["and", "and", "or", "not", "implies", "fold", "fold"]):
            case "not":
                return f"not ({inner[0]})"
            case "fold":
                return self.fold(scope, depth)
            case joint:
                return f"({inner[0]}) {joint} ({inner[1]})"

    def fold(self, scope: _Scope, depth: int) -> str:
        kind = self.one(["D", "H"] if self.heroes else ["D"])
        bound = self.name()
        inner = self.condition(scope.bind(bound, kind), depth - 1)
        match self.one(["any", "all", "count"]):
            case "count":
                return f"count({inner} for {bound}: {kind}) {self.one(['==', '>='])} 1"
            case fold:
                return f"{fold}({inner} for {bound}: {kind})"

    def atom(self, scope: _Scope) -> str:
        """A condition on one slot, on what an actor does, or on the clock."""
        if scope.of("H") and self.maybe(0.15):
            hero = self.one(scope.of("H"))
            did = f"did({hero}, {self.one(self.actions)})" if scope.law and self.actions else ""
            return self.one([f"busy({hero})", did or f"not busy({hero})"])
        if self.ticks and self.maybe(0.15):
            return self.one(["tick() mod 2 == 0", "tick() >= 2", "tick() < 3", "tick() == 1"])
        if self.maybe(0.08) and (path := self.through(scope)) is not None:
            return f"({path[0]} != none and {path[1]} + 1 {self.one(['>', '<='])} 2)"
        found = self.readable(scope, "bool", "number", "int", "enum", "ref", "nest")
        return self.about(self.one(found), scope) if found else "true"

    def about(self, fluent: _Fluent, scope: _Scope) -> str:
        text = self.read(fluent, scope)
        match fluent.kind:
            case "bool":
                return self.one([text, f"not {text}"])
            case "enum":
                return (
                    f"{text} {self.one(['==', '!='])} {self.one(['a', 'b', 'c', *scope.of('E')])}"
                )
            case "nest" if self.maybe(0.6):
                one, other = (self.one(scope.of("D")) for _ in range(2))
                return self.one([
                    f"first({one}.kids) == {other}", f"last({one}.kids) == {other}",
                    f"{one} in {other}.kids", f"count({one}.kids) {self.one(['==', '>='])} 1",
                ])  # fmt: skip
            case "ref" | "nest":
                other = self.one(["none", *scope.of("D")])
                return f"{text} {self.one(['==', '!='])} {other}"
        op = self.one(["==", "==", ">=", "<", "!="])
        return f"{text} {op} {self.number(scope, fluent, op in ('>=', '<'))}"

    def number(self, scope: _Scope, fluent: _Fluent, low: int = 0) -> str:
        """A number that a fluent may have, from ``low`` on, or one made of another fluent."""
        numbers = self.readable(scope, "number", "int")
        given = scope.of("0 to 2")
        if given and self.maybe(0.4):
            return self.one(given)
        if not numbers or self.maybe(0.7):
            return str(self.random.randint(low, fluent.high))
        if self.maybe(0.3) and (path := self.through(scope)) is not None:
            return f"({path[1]} otherwise {self.random.randint(low, fluent.high)})"
        return f"{self.read(self.one(numbers), scope)} {self.one(['+ 0', '+ 1', '- 1'])}"

    # ---- changing -----------------------------------------------------------------------------

    def body(self, scope: _Scope, most: int = 3) -> list[str]:
        """Statements; none reads what one before it may have changed."""
        lines: list[str] = []
        if scope.draws and self.maybe(0.15):
            name = self.name()
            lines += [f"let {name} = chance {self.share(scope)}"]
            own, scope = self.change(scope)
            return [*lines, f"if {name} {{", f"  {own}", "}", *self.body(scope, 1)]
        for _ in range(self.random.randint(1, most)):
            more, scope = self.statement(scope)
            lines += more
        return lines

    def share(self, scope: _Scope) -> str:
        """A probability; what cannot happen is one too."""
        known = ["50%", "50%", "50%", "30%", "75%", "0%", "100%"]
        return self.one([*known, f"(if {self.atom(scope)} then 20% else 80%)"])

    def statement(self, scope: _Scope) -> tuple[list[str], _Scope]:
        kinds = ["plain"] * 6 + ["if", "if", "for"] + ["chance", "chance", "pick"] * scope.draws
        kinds += ["life"] * self.lives
        match self.one(kinds):
            case "if":
                head = f"if {self.condition(scope)} {{"
            case "chance":
                head = f"chance {self.share(scope)} {{"
            case "for" | "pick" as word:
                return self.over(word, scope)
            case "life":
                return [self.life(scope)], scope
            case _:
                text, scope = self.change(scope)
                return [text], scope
        text, after = self.change(scope)
        lines = [head, f"  {text}", "}"]
        if self.maybe(0.4):
            text, last = self.change(scope)
            lines += ["else {", f"  {text}", "}"]
            after = replace(after, banned=after.banned | last.banned)
        return lines, after

    def over(self, word: str, scope: _Scope) -> tuple[list[str], _Scope]:
        """A loop over the things, or one of them by chance."""
        name = self.name()
        inner = scope.bind(name, "D")
        where = f" where {self.condition(inner, 0)}" if self.maybe(0.5) else ""
        owned = [one for one in self.fluents if one.owner == "D"]
        owned = [one for one in owned if not one.scratch or one.name not in scope.banned]
        fluent = self.one(owned)
        text = self.assigned(fluent, f"{name}.{fluent.name}", inner)
        after = replace(scope, banned=scope.banned | {fluent.name})
        numbers = [one for one in self.readable(inner, "number") if one.owner == "D"]
        if word == "pick" and numbers and self.maybe(0.4):
            key = self.one(["weight 1 +", "weight 1 +", "least", "most"])
            where += f" by {key} {name}.{self.one(numbers).name}"
        return [f"{word} {name}: D{where} {{", f"  {text}", "}"], after

    def life(self, scope: _Scope) -> str:
        dying = [name for name in scope.of("D") if name not in self.things]
        return (
            f"destroy {dying[0]}" if dying and self.maybe(0.5) else f"create {self.name()}: D {{}}"
        )

    def change(self, scope: _Scope) -> tuple[str, _Scope]:
        """One change of a slot that the text before has not changed."""
        known = [one for one in self.fluents if not one.owner or scope.of(one.owner)]
        known = [one for one in known if not one.scratch or one.name not in scope.banned]
        free = [one for one in known if one.name not in scope.banned]
        fluent = self.one(free or known)
        if fluent.kind not in ("nest", "bool") and fluent.owner and self.maybe(0.1):
            slots = self.slot(fluent, scope), self.slot(fluent, scope)
            moved = "swap {}, {}" if self.maybe(0.5) else "transfer 1 of {} to {}"
            if slots[0] != slots[1] and (fluent.kind == "number" or moved.startswith("swap")):
                return moved.format(*slots), replace(scope, banned=scope.banned | {fluent.name})
        text = self.assigned(fluent, self.slot(fluent, scope), scope)
        return text, replace(scope, banned=scope.banned | {fluent.name})

    def assigned(self, fluent: _Fluent, slot: str, scope: _Scope) -> str:
        match fluent.kind:
            case "bool":
                return (
                    f"{slot} = {self.one(['true', 'true', 'false', f'not ({self.atom(scope)})'])}"
                )
            case "enum":
                return f"{slot} = {self.one(['a', 'b', 'c', *scope.of('E')])}"
            case "ref" | "nest":
                return f"{slot} = {self.one(['none', *scope.of('D')])}"
        if self.maybe(0.7):
            return f"{slot} {self.one(['+=', '+=', '-='])} {self.one(['1', '1', '2'])}"
        return f"{slot} = {self.number(scope, fluent)}"

    # ---- rules --------------------------------------------------------------------------------

    @property
    def objects(self) -> tuple[tuple[str, str], ...]:
        return (*((one, "D") for one in self.things), *((one, "H") for one in self.heroes))

    def scope(
        self, params: Sequence[tuple[str, str]], *, me: bool = False, law: bool = False
    ) -> _Scope:
        """The names in a rule: its parameters, the actor, and the objects of every world."""
        acting = (("me", "H"),) if me and self.heroes else ()
        shared = self.objects if self.shared else ()
        names = (*acting, *params, *shared)
        return _Scope(names, self.forgotten, law=law, draws=self.maybe(0.45))

    def params(self) -> tuple[str, list[tuple[str, str]]]:
        some: list[tuple[str, ...]] = [("D",), ("D",), ("D",), ("D", "D")]
        some += [("D", "0 to 2"), ("D", "E")] + [("D", "H")] * bool(self.heroes)
        some += [(), ("H",) * bool(self.heroes)] if self.shared else []
        pairs = [(self.name(), kind) for kind in self.one(some)]
        return ", ".join(f"{name}: {kind}" for name, kind in pairs), pairs

    def action(self, index: int) -> str:
        formals, pairs = self.params()
        scope, name = self.scope(pairs, me=True), f"act{index}"
        self.actions.append(name)
        head, long = f"action {name}({formals})", self.maybe(0.4)
        if self.maybe(0.5):
            head += f' as "{name}{"".join(f" {{{one}}}" for one, _ in pairs)}"'
        if long:
            head += f" takes {self.one(['2', '2', '3', '4'])}"
            head += f" until {self.condition(scope, 0)}" if self.maybe(0.25) else ""
        elif self.maybe(0.25):
            head += " takes 0"
        if " takes 0" not in head:
            scope = replace(scope, banned=frozenset())
        if self.maybe(0.15):
            head += f" cost {self.random.randint(0, 3)}"
        lines = [f"require {self.condition(scope)}" for _ in range(self.one([0, 1, 1, 2]))]
        lines += self.called(scope) or self.body(scope)
        if long and self.maybe(0.75):
            lines += ["cancelled {", *(f"  {line}" for line in self.body(scope, 2)), "}"]
        return _block(head, lines)

    def law(self, index: int, phases: Sequence[str]) -> str:
        formals, pairs = self.params()
        scope = self.scope(pairs, law=True)
        phase = self.one(phases)
        scope = replace(scope, banned=frozenset()) if phase else scope
        head = f"law law{index}({formals}){phase}"
        if self.maybe(0.8):
            head += f" when {self.condition(scope)}"
        return _block(head, self.called(scope) or self.body(scope, 2))

    def effect(self, index: int) -> str:
        """Changes with a name, which hang on a truth that is handed over."""
        name, sure = self.name(), self.name()
        lines = self.body(self.scope([(name, "D")]), 2)
        self.effects.append(f"effect{index}")
        inside = ["if " + sure + " {", *(f"  {line}" for line in lines), "}"]
        return _block(f"effect effect{index}({name}: D, {sure}: bool)", inside)

    def called(self, scope: _Scope) -> list[str]:
        """A call of an effect, where there is one, now and then."""
        if not self.effects or not scope.of("D") or self.maybe(0.6):
            return []
        return [f"{self.one(self.effects)}({self.one(scope.of('D'))}, {self.condition(scope, 0)})"]

    def guards(self) -> list[str]:
        """Invariants, of which draws and laws may break some."""
        found = []
        scope = _Scope((("y", "D"),), self.forgotten)
        numbers = [one for one in self.fluents if one.kind == "number" and one.owner == "D"]
        for index in range(self.one([0, 0, 1, 1, 2])):
            body = self.condition(scope)
            if numbers and self.maybe(0.5):
                body = f"y.{self.one(numbers).name} < {self.random.randint(1, 3)}"
            found.append(f"invariant kept{index}(y: D): {body}")
        if numbers and self.maybe(0.1):
            found.append(f"conserve total: sum(y.{numbers[0].name} for y: D) except act0")
        return found


def small_world(seed: int) -> str:
    """The text of a small random program with one world ``w``, which has a goal."""
    random = Random(f"small {seed}")
    count = random.choice([0, 1, 1, 1, 2, 2])
    making = _Small(random, ("ann", "bob")[:count], ("d0", "d1")[: random.randint(1, 2)])
    making.shared = making.maybe(0.5)
    making.ticks = making.maybe(0.15)
    making.lives = making.maybe(0.06)
    _declare(making)
    items = ["enum E { a, b, c }", _type(making, "D"), _type(making, "H")]
    items += _objects(making) if making.shared else []
    items += ["actor me: H"] if count else []
    items += [f"function {one.written}".replace(":", "():", 1)
              for one in making.fluents if not one.owner]  # fmt: skip
    items += [f"scratch {name}(x: D): bool = false" for name in sorted(making.forgotten)]
    items += making.guards()
    phases = [""]
    for name in ("dawn", "dusk")[: random.choice([0, 0, 1, 2])]:
        items.append(f"phase {name}{random.choice(['', '', ' sequentially'])}")
        phases.append(f" during {name}")
    items += [making.effect(index) for index in range(random.choice([0, 0, 1]))]
    items += [making.action(index) for index in range(random.randint(2, 3))]
    items += [making.law(index, phases) for index in range(random.choice([0, 0, 1, 1, 2]))]
    items.append(_world(making))
    return "\n".join(items) + "\n"


def _declare(making: _Small) -> None:
    for owner in ("D", "D", "D", "H", ""):
        if owner == "H" and not making.heroes:
            continue
        if owner == "D" or making.maybe(0.5):
            kind = making.one(["bool", "bool", "number", "number", "enum", "ref"])
            kind = "int" if making.maybe(0.02) else kind
            nested = any(one.kind == "nest" for one in making.fluents)
            kind = "nest" if kind == "ref" and making.maybe(0.4) and not nested else kind
            kind = "bool" if kind in ("ref", "nest") and owner != "D" else kind
            clamped = kind == "number" and making.maybe(0.6)
            name = f"f{len(making.fluents)}"
            high = making.random.randint(1, 3)
            making.fluents.append(_Fluent(name, kind, owner, high, clamped))

    if making.maybe(0.3):
        making.fluents.append(_Fluent("stir", "bool", "D", scratch=True))


def _type(making: _Small, owner: str) -> str:
    return _block(f"type {owner}", [
        one.written for one in making.fluents if one.owner == owner and not one.scratch
    ])  # fmt: skip


def _block(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{head} {{", *(f"  {line}" for line in lines), "}"])


def _objects(making: _Small) -> list[str]:
    return [f"object {name}: {kind}" for name, kind in making.objects]


def _world(making: _Small) -> str:
    lines = [] if making.shared else _objects(making)
    lines += ["turns ann, bob"] if len(making.heroes) > 1 else []
    for line, share in (
        ("time passes always", 0.3), ("endless", 0.12), ("outcomes live", 0.08),
    ):  # fmt: skip
        lines += [line] if making.maybe(share) else []
    lines += ["spare D 2"] if making.lives else []
    scope = _Scope(making.objects, making.forgotten)
    if making.maybe(0.2):
        lines.append(_block("setup", making.body(replace(scope, draws=making.maybe(0.3)), 2)))
    goal = " and ".join(
        f"({making.condition(scope, 0)})" for _ in range(making.random.randint(2, 4))
    )
    lines.append(f"goal done: {goal}")
    for kind, share in (("goal", 0.15), ("lose", 0.2), ("stop", 0.1)):
        if making.maybe(share):
            lines.append(f"{kind} by_{kind}: {making.condition(scope)}")
    if making.ticks and making.maybe(0.7):
        lines.append(f"stop late: tick() >= {making.random.randint(3, 6)}")
    if making.maybe(0.08):
        lines += [f"award 1 when {making.condition(scope)}", "goal rich: score >= 1"]
    return _block("world w", lines)
