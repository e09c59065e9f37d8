"""Random vocabulary, rules and objects of finite worlds, as text (`planning_worlds`).

About half of the worlds use only constructs that lifted PDDL has. Items that the checker refuses
are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors

__all__ = ["Writer", "block", "closed", "objects_of", "rules_of"]

_OPTIONAL = re.compile(
    r"(?:function|relation|table|derive|param) (?P<called>\w+)"
    r"|  (?:static )?(?P<held>m|tag|slot|heavy):"
)
"""The start of a vocabulary line that may be dropped, with the name that it declares."""

_TYPES = """
enum Lock { open, closed, locked }
enum Mood { low < mid < high }
type Holder
type Room : Holder
type Thing {
  at: Holder? nested{ordered} inverse contents closure inside
  n: 0 to {size}{clamped} = {one}
  b: bool = {truth}
  m: Mood = {mood}
  tag: Lock = closed
  static heavy: bool
}
type Box : Holder, Thing {
  slot: Thing?{unique}
  home: Room
}
type Hero : Holder, Thing
"""
_REST = """
function f(): 0 to 3 clamped = 0
function g(x: Thing): 0 to 2 = 0
function h(x: Thing): Room?
relation r(x: Thing, y: Thing){kind}
relation p()
param q: 1 to 3 = {two}
table t(l: Lock): Mood? { open: low closed: high }
table fits(x: Lock, m: Mood) { open, mid  locked, high }
derive here(x: Thing) = x.at == {me}.at or x in {me}.contents
derive way(x: Thing, y: Thing) = r(x, y) or any(r(x, z) and way(z, y) for z: Thing)
derive total() = sum(x.n for x: Thing)
derive good(x: Thing) = x.b and x.n > 0
"""
_BLANKS: dict[str, list[str]] = {
    "size": ["1", "2", "3"], "one": ["1", "0"], "two": ["1", "2"],
    "clamped": [" clamped", ""], "truth": ["true", "false"], "mood": ["low", "mid", "high"],
    "ordered": ["", "", "", " ordered"], "unique": ["", " unique"],
    "kind": ["", " symmetric", " acyclic", " closure reach"],
}  # fmt: skip

# Patterns: `{c}` a condition, `{k}` a number, `{s}` a change, `{me}` who acts. The plain ones are
# those that lifted PDDL has words for.
_PLAIN_CONDITIONS = [
    "x.b", "not x.b", "x.n >= 1", "x.n == 0", "x.m == mid", "x.m < high", "x.at == {me}.at",
    "x.at != none", "here(x)", "any(y.b for y: Thing)", "all(y.b or y.n > 0 for y: Box)",
    "r(x, {me})", "x is Box", "x.tag == closed", "x.tag in [open, locked]", "f() < 3", "p()",
    "x.heavy", "h(x) == none", "g(x) >= 1", "fits(x.tag, x.m)", "good(x)", "crate.slot == x",
]  # fmt: skip
_CONDITIONS = [
    *_PLAIN_CONDITIONS, "x in {me}.inside", "way({me}, x)", "t(x.tag) == x.m",
    "tick() mod 3 == 0", "tick() mod 2 == f() mod 2", "any(y.slot == x for y: Box)",
    "x.at is Box", "first(y for y: Thing where y.b) == x", "any(crate.contents)",
    "count(y for y: Thing where y.b) == 1", "max(y.n for y: Thing) == x.n", "total() > 2",
    "sum(y.n for y in {me}.contents) == 1", "last(y for y: Thing where y.n > 0) == x",
    "any(r(y, z) and y.n < z.n for y: Thing, z: Thing)", "id(x) mod 2 == 0", "x.at is Room",
    "(if x.b then x.n else f()) == 1", "min(x.n, f()) == 1", "h(x) == crate.home",
]  # fmt: skip
_ACTOR_CONDITIONS = ["busy({me})", "not busy({me}, act0)", "did({me}, act0)", "did({me}, act1, x)"]
_WAS = ["was x.b", "x.n != was x.n", "was here(x)", "was f() < f()", "x.at != was x.at"]
_NUMBERS = [
    "x.n", "f()", "g(x)", "1", "q", "x.n + 1", "count({me}.contents)", "total()", "f() mod 2",
    "count(y for y: Thing where y.b)", "max(f(), 1)", "abs(x.n - 2)", "toward(f(), 2, 1)",
    "clamp(x.n + f(), 0, 2)", "x.n * 2", "(x.n + 1) div 2", "sign(x.n - 1)", "2 - x.n",
    "if x.b then 1 else 0", "min(y.n for y: Thing)", "tick() mod 3",
]  # fmt: skip
_PLAIN_CHANGES = [
    "x.n += 1", "x.n -= 1", "x.n = 0", "x.b = true", "x.b = false", "f() += 1", "f() = 0",
    "x.m = mid", "x.m = high", "x.tag = locked", "x.tag = open", "add r(x, {me})",
    "remove r(x, {me})", "add p()", "remove p()", "x.at = {me}.at", "x.at = {me}", "x.at = none",
    "h(x) = crate.home", "h(x) = none", "crate.slot = x", "crate.slot = none", "g(x) += 1",
    "if {c} {\n{s}\n}", "if {c} {\n{s}\n} else {\n{s}\n}", "for y: Thing where y.b {\ny.n += 1\n}",
    "for y: Box {\ny.b = not y.b\n}", "x.b = not x.b",
]  # fmt: skip
_CHANGES = [
    *_PLAIN_CHANGES, "x.n += q", "x.n = {k}", "x.b = {c}", "x.m = next(x.m)", "x.m = prev(x.m)",
    "f() = {k}", "add r({me}, x)", "transfer 1 of x.n to {me}.n", "swap x.n, {me}.n",
    "swap x.at, {me}.at", "for y in {me}.contents {\ny.at = {me}.at\n}",
    "for y: Thing where y.at == x.at {\n{y}\n}", "for y: Box {\ny.slot = x\n}",
    "let k{u} = {k}\nif k{u} > 1 {\n{s}\n}", "let c{u} = {c}\nx.b = c{u}", "crate.home = attic",
]  # fmt: skip
_RARE = [
    "chance 30% {\n{s}\n} or 20% {\n{s}\n}", "chance 50% {\n{s}\n}", "chance 0% {\n{s}\n}",
    "pick y: Thing where y.b {\ny.n -= 1\n} else {\nf() += 1\n}",
    "pick y: Thing where y != {me} by weight y.n {\ny.b = not y.b\n}",
    "pick y: Thing where y.b by least y.n {\ny.m = high\n}",
    "pick y: Thing by most y.n {\ny.tag = open\n}", "let l{u} = chance 40%\nx.b = l{u}",
    "if x is Box {\ndestroy x\n}", 'say "{x}: {x.n}"', "reward 1",
]  # fmt: skip
_PARAMETERS = [
    ("x: Thing", ""), ("x: Thing", ""), ("x: Box", ""), ("x: Thing, y: Box", ""), ("", "ball"),
    ("x: Thing, l: Lock", "x.tag = l"), ("x: Thing, k: 1 to 2", "x.n = k"),
    ("x: Thing, k: 1 to 2", "x.n += k"), ("x: Thing, d: Room", "x.at = d"),
    ("x: Thing, o: Holder", "x.at = o"), ("x: Box, y: Thing", "x.slot = y"),
]  # fmt: skip
"""Parameters of an action, and a change that uses the last one (or the value for ``x``)."""


class Writer:
    """Fill the blanks of patterns at random."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.plain = random.random() < 0.45
        self.me = "me" if random.random() < 0.85 else "hero"
        self.lucky = not self.plain and random.random() < 0.5
        self._used = 0

    def condition(self, *, was: bool = False, actor: bool = False) -> str:
        random = self.random
        known = _PLAIN_CONDITIONS if self.plain else _CONDITIONS
        asks = actor and self.me == "me" and not self.plain
        known = known + (_WAS if was and not self.plain else []) + (_ACTOR_CONDITIONS * asks)
        found = random.choice(known)
        if random.random() < 0.3:
            found = f"({found} {random.choice(['and', 'or', 'implies'])} {random.choice(known)})"
        elif not self.plain and random.random() < 0.15:
            ops = ["<", "<=", "==", "!=", ">"]
            found = f"{random.choice(_NUMBERS)} {random.choice(ops)} {random.choice(_NUMBERS)}"
        return f"not ({found})" if random.random() < 0.1 else found

    def change(self, depth: int = 0) -> str:
        known = _PLAIN_CHANGES if self.plain else _CHANGES
        if self.lucky and depth == 0 and self.random.random() < 0.4:
            known = _RARE
        flat = [one for one in known if "{s}" not in one]
        found = self.random.choice(known if depth < 2 else flat)
        self._used += 1
        found = found.replace("{u}", str(self._used))
        makers: dict[str, Callable[[], str]] = {
            "{c}": self.condition,
            "{k}": lambda: self.random.choice(_NUMBERS),
            "{s}": lambda: self.change(depth + 1),
            "{y}": lambda: self.change(3).replace("x", "y") if depth < 3 else "y.b = true",
        }
        for blank, made in makers.items():
            while blank in found:
                found = found.replace(blank, made(), 1)
        return found

    def changes(self) -> list[str]:
        return [self.change() for _ in range(self.random.choice((1, 1, 2)))]

    def action(self, number: int) -> str:
        random = self.random
        params, use = random.choice(_PARAMETERS)
        head, lines = f"action act{number}({params})", list[str]()
        if random.random() < 0.15:
            head += f" cost {random.choice(['1', '2', '0'])}"
        elif not self.plain and random.random() < 0.2:
            head += f" takes {random.choice(['2', '3', 'q', '0'])}"
            head += f" until {self.condition()}" * (random.random() < 0.4)
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            lines.append(f"require {self.condition(actor=True)}")
        used = use if "=" in use else ""
        changes = [used] if used and random.random() < 0.8 else []
        lines += changes or self.changes()
        if " takes " in head and random.random() < 0.5:
            lines.append("cancelled {\n" + self.change(2) + "\n}")
        text = block(head, lines)
        return text if params else text.replace("{x}", "ball").replace("x.", "ball.")

    def law(self, number: int, phases: Sequence[str]) -> str:
        phase = self.random.choice([f" during {one}" for one in phases] or [""])
        phase = phase if self.random.random() < 0.8 else ""
        when = f" when {self.condition(was=True)}" if self.random.random() < 0.9 else ""
        return block(f"law law{number}(x: Thing){phase}{when}", self.changes())

    def filled(self, text: str) -> str:
        """A text with its blanks filled, with one choice for each kind of blank."""
        for blank, values in _BLANKS.items():
            text = text.replace("{" + blank + "}", self.random.choice(values))
        return self.named(text)

    def named(self, text: str) -> str:
        return text.replace("{me}", self.me)


def block(head: str, lines: Sequence[str]) -> str:
    """An item with the contents of its braces, one per line."""
    return "\n".join((f"{head} {{", *lines, "}"))


def rules_of(writer: Writer, objects: Sequence[str]) -> str:
    """A vocabulary and rules that the checker accepts, without unused declarations.

    ``objects`` are the lines of the world.
    """
    return _without_unused(_drawn(writer, objects), objects)


def _drawn(writer: Writer, objects: Sequence[str]) -> str:
    random = writer.random
    actor = "actor me: Hero\n" if writer.me == "me" else ""
    text = "object hero: Hero\n" * (not actor) + "object crate: Box { home = attic }\n"
    text += "object ball: Thing\nobject attic: Room\n"
    text = writer.filled(_TYPES) + actor + writer.filled(_REST) + text
    # Rules may name objects of every world; the world itself gives the others.
    phases = ["one", "two", "three"][: random.choice((0, 1, 2, 2, 3))]
    kinds = [""] if writer.plain or random.random() < 0.93 else [" sequentially"]
    text += "".join(f"phase {one}{random.choice(kinds)}\n" for one in phases)
    rules = [writer.action(number) for number in range(random.randint(3, 6))]
    laws = random.choice((0, 0, 1, 2, 3, 4))
    rules += [writer.law(number, phases) for number in range(laws)]
    for share, line in (
        (0.1, f"invariant kept(x: Thing): x.n <= {random.randint(1, 2)}"),
        (0.06, "conserve kept: sum(x.n for x: Thing) except act0"),
        (0.05, 'watch seen(x: Thing) when x.b { say "{x}!" }'),
    ):
        rules += [line] if random.random() < share else []
    return _accepted(text, [writer.named(one) + "\n" for one in rules], objects)


def _accepted(text: str, rules: list[str], objects: Sequence[str]) -> str:
    """The text with the rules that the checker accepts; none if the world is wrong."""
    world = f"{block('world w', [*objects, 'goal g: false'])}\n"
    while True:
        checked = check_source(Source("world.tw", None, text + "".join(rules) + world))
        wrong = {one.span.line for one in checked.diagnostics if one.is_error and one.span}
        kept, line = list[str](), text.count("\n")
        for rule in rules:
            lines = range(line + 1, line + rule.count("\n") + 1)
            kept += [] if wrong & set(lines) else [rule]
            line = lines.stop - 1
        if not rules or not has_errors(checked.diagnostics):
            return text + "".join(rules)
        rules = kept if len(kept) < len(rules) else rules[:-1]


def _without_unused(rules: str, objects: Sequence[str]) -> str:
    """The rules without unused lines of the vocabulary."""
    lines, world = rules.splitlines(), "\n".join(objects)
    for number in range(len(lines) - 1, -1, -1):
        found = _OPTIONAL.match(lines[number])
        if found is None:
            continue
        name = found["called"]
        used = rf"\b{name}\b" if name else rf"(?:\.|\b(?=heavy)){found['held']}\b"
        rest = "\n".join((*lines[:number], *lines[number + 1 :], world))
        if not re.search(used, rest):
            del lines[number]
    return "\n".join(lines) + "\n"


# ---- objects ------------------------------------------------------------------------------------


def objects_of(writer: Writer) -> list[str]:
    """The lines of the world except its goals."""
    random = writer.random
    hero = ["object hero: Hero { at = hall }"] if writer.me == "me" else []
    lines = ["object hall: Room", *hero]
    if random.random() < 0.4:
        at = random.choice(["hall", "attic", "crate", "none"])
        lines.append(f"object coin: Thing {{ at = {at} heavy = true }}")
    places = {"crate": ["hall", "attic"], "ball": ["hall", "crate", "hero", "none"]}
    setup = [f"{name}.at = {random.choice(of)}" for name, of in places.items()]
    setup += ["hero.at = hall"] * (not hero)
    lines.append(block("setup", [*setup, *random.choice([[], ["add r(ball, crate)"]])]))
    for share, line in (
        (0.1, "endless"), (0.1, "outcomes live"), (0.1, "time passes always"), (0.1, "param q = 3"),
    ):  # fmt: skip
        lines += [line] if random.random() < share else []
    if random.random() < 0.3:
        lines.append(f"lose gone: {writer.named(closed(writer.condition(), random))}")
    if random.random() < 0.1:
        lines.append("stop late: f() == 3 and ball.n == 1")
    return lines


def closed(condition: str, random: Random) -> str:
    """A condition about ``x``, quantified with `any` or `all`."""
    return f"{random.choice(['all', 'any'])}({condition} for x: Thing)"
