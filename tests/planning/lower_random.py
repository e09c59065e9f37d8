"""Random small worlds that use most of the language, for differential tests of the encoding.

Rules are drawn one by one; a rule that the checker refuses is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

from lower_worlds import Opened, opened

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors
from tokenworld.ground import domain_of, show_value
from tokenworld.model import is_optional

__all__ = ["random_world"]

VOCABULARY = """
enum Lock { open, closed, locked }  enum Mood { low < mid < high }
type Holder  type Room : Holder
type Thing { at: Holder? nested inverse contents closure inside  n: 0 to {size}{clamped} = 1
             b: bool = {b}  m: Mood = {m}  tag: Lock = closed }
type Box : Holder, Thing { slot: Thing?{unique} }
type Hero : Holder, Thing
actor me: Hero
function f(): 0 to 3 clamped = 0   function g(x: Thing): 0 to 2 = 0
relation r(x: Thing, y: Thing){kind}
param q: 1 to 3 = 2
table t(l: Lock): Mood? { open: low closed: high }
derive here(x: Thing) = x.at == me.at or x in me.contents
derive way(x: Thing, y: Thing) = r(x, y) or any(r(x, z) and way(z, y) for z: Thing)
derive total() = sum(x.n for x: Thing)
phase one  phase two
"""
NUMBERS = [
    "x.n", "f()", "g(x)", "1", "q", "x.n + 1", "count(me.contents)", "total()", "f() mod 2",
    "count(y for y: Thing where y.b)", "max(f(), 1)", "abs(x.n - 2)", "toward(f(), 2, 1)",
]  # fmt: skip
CONDITIONS = [
    "x.b", "not x.b", "x.n >= 1", "x.m == mid", "x.m < high", "x.at == me.at", "x.at != none",
    "here(x)", "x in me.inside", "any(y.b for y: Thing)", "all(y.n > 0 for y: Box)", "r(x, me)",
    "way(me, x)", "x is Box", "x.tag in [open, locked]", "t(x.tag) == x.m", "tick() mod 3 == 0",
    "any(y.slot == x for y: Box)", "x.at is Box", "first(y for y: Thing where y.b) == x",
]  # fmt: skip
CHANGES = [
    "x.n += q", "x.n -= 1", "x.n = {number}", "x.b = not x.b", "x.b = {condition}", "f() += 1",
    "x.m = next(x.m)", "x.m = prev(x.m)", "x.tag = locked", "f() = {number}", "g(x) += 1",
    "add r(x, me)", "add r(me, x)", "remove r(x, me)", "x.at = me.at", "x.at = me",
    "transfer 1 of x.n to me.n", "for y: Box { y.slot = x }", "swap x.n, me.n",
    "swap x.at, me.at", "for y in me.contents { y.at = me.at }",
    "for y: Thing where y.b { y.n += 1 }", "if x is Box { destroy x }",
    "if {condition} { {change} } else { {change} }", "if {condition} { {change} }",
    "chance 30% { {change} } or 20% { {change} }", "chance 0% { {change} } else { {change} }",
    "pick y: Thing where y.b { y.n -= 1 } else { f() += 1 }",
    "pick y: Thing where y != me by weight y.n { y.b = not y.b }",
    "pick y: Thing where y.b by least y.n { y.m = high }",
]  # fmt: skip
CREATIONS = [
    "create w: Thing { at = me.at  n = 0 }", "create w: Box { at = x  b = x.b }",
    "create w: Thing { at = me }  create v: Thing { at = w  m = x.m }",
    "for y: Box where y.b { create w: Thing { at = y } }", "if x != me { destroy x }",
]  # fmt: skip
WAS = ["was x.b", "x.n != was x.n", "was here(x)", "was f() < f()"]


class _Writer:
    """Fill the blanks of patterns at random."""

    def __init__(self, random: Random, creations: Sequence[str]) -> None:
        self._random, self._changes = random, [*CHANGES, *creations]

    def number(self) -> str:
        return self._random.choice(NUMBERS)

    def condition(self, was: bool = False) -> str:
        random = self._random
        found = random.choice(CONDITIONS + (WAS if was else []))
        if random.random() < 0.3:
            op = random.choice(["and", "or", "implies"])
            return f"({found} {op} {random.choice(CONDITIONS)})"
        if random.random() < 0.2:
            return f"{self.number()} {random.choice(['<', '==', '!='])} {self.number()}"
        return found

    def change(self, depth: int = 0) -> str:
        found = self._random.choice(self._changes if depth < 2 else CHANGES[:18])
        while "{" in found.replace("{ ", ""):
            for blank, made in (
                ("{number}", self.number),
                ("{condition}", self.condition),
                ("{change}", lambda: self.change(depth + 1)),
            ):
                if blank in found:
                    found = found.replace(blank, made(), 1)
        return found

    def changes(self) -> str:
        return "  ".join(self.change() for _ in range(self._random.choice((1, 1, 2))))

    def action(self, number: int) -> str:
        random = self._random
        kind = random.choice(["Thing", "Box"])
        takes, cancelled = "", ""
        if random.random() < 0.25:
            takes = f"takes {random.randint(2, 3)}"
            until = f" until {self.condition()}" if random.random() < 0.4 else ""
            takes += until
            cancelled = random.choice(["", "cancelled { f() += 1 }", "cancelled { x.n += 1 }"])
        require = f"require {self.condition()}" if random.random() < 0.4 else ""
        return f"action act{number}(x: {kind}) {takes} {{ {require} {self.changes()} {cancelled} }}"

    def law(self, number: int) -> str:
        random = self._random
        phase = random.choice(["during one", "during two", ""])
        when = f"when {self.condition(was=True)}" if random.random() < 0.8 else ""
        return f"law law{number}(x: Thing) {phase} {when} {{ {self.changes()} }}"


def _accepted(text: str) -> bool:
    stub = "world w { object hall: Room object hero: Hero { at = hall } goal z: hero.b }"
    return not has_errors(check_source(Source("rule.tw", None, f"{text}\n{stub}")).diagnostics)


def _rules(random: Random, creations: Sequence[str]) -> str:
    writer = _Writer(random, creations)
    text = VOCABULARY
    for blank, values in {
        "size": ["1", "2", "3"],
        "clamped": [" clamped", " clamped", ""],
        "b": ["true", "false"],
        "m": ["low", "mid", "high"],
        "unique": ["", " unique"],
        "kind": ["", " symmetric", " acyclic", " closure reach"],
    }.items():
        text = text.replace("{" + blank + "}", random.choice(values))
    makers = [writer.action] * random.randint(2, 4) + [writer.law] * random.randint(0, 2)
    for number, make in enumerate(makers):
        rule = make(number)
        while not _accepted(f"{text}\n{rule}"):
            rule = make(number)
        text = f"{text}\n{rule}"
    if random.random() < 0.15:
        line = f"\ninvariant kept(x: Thing): x.n <= {random.randint(1, 2)}"
        text += line if _accepted(text + line) else ""
    return text


def _facts(world: Opened) -> list[str]:
    """The state as conditions, one for each slot."""
    instance, found = world.instance, []
    for fluent in instance.program.fluents.values():
        if fluent.fluent_kind == "table":
            continue
        for args in product(*(domain_of(instance, one.type) or () for one in fluent.params)):
            value = world.simulator.read(world.state, fluent.id, args)
            if value is None and not is_optional(fluent.type):
                continue  # of an object that is gone
            names = [instance.names[arg] for arg in args if isinstance(arg, int)]
            left = f"{fluent.name}({', '.join(names)})"
            if fluent.fluent_kind == "attribute":
                left = f"{names[0]}.{fluent.name}"
            shown = show_value(instance.program, instance.names, fluent.type, value)
            if isinstance(shown, bool):
                found.append(left if shown else f"not {left}")
            else:
                found.append(f"{left} == {'none' if shown is None else shown}")
    return found


def _walked(world: Opened, random: Random, steps: int) -> list[Opened]:
    """The worlds after each step of a random walk."""
    found, state = [world], world.state
    for _ in range(steps):
        commands = list(world.simulator.commands(state))
        results = world.simulator.successors(state, random.choice(commands)) if commands else ()
        if results:
            state = random.choice(list(results)).state
            found.append(Opened(world.instance, world.simulator, state))
    return found


def random_world(seed: int, *, creates: bool = False) -> Opened:
    """A world whose goal is partly true somewhere on a random walk; often it is unwinnable.

    ``creates``: rules make objects, a few of which a planner may use.
    """
    random = Random(seed)
    rules = _rules(random, CREATIONS * 3 if creates else ())
    ball = random.choice(["hall", "shed", "crate", "hero"])
    lines = ["object hall, shed: Room", "object hero: Hero { at = hall }"]
    lines += ["object crate: Box { at = hall n = 0 }", f"object ball: Thing {{ at = {ball} }}"]
    lines += [f"spare Thing {random.randint(1, 2)}  spare Box 1"] if creates else []
    lines += random.choice([[], ["endless"], ["lose gone: f() == 3 and hero.b"]])
    start = "\n".join([rules, "world w {", *lines, "goal g: GOAL }"])
    places = _walked(opened(start.replace("GOAL", "f() == 3 and crate.n == 1")), random, 10)
    before = set(_facts(places[0]))
    news = [fact for fact in _facts(places[-1]) if fact not in before] or ["hero.n == 0"]
    wanted = random.sample(news, min(len(news), random.randint(1, 3)))
    told = {fact.removeprefix("not ").split(" ==")[0] for fact in wanted}
    others = _facts(random.choice(places))
    others = [fact for fact in others if fact.removeprefix("not ").split(" ==")[0] not in told]
    wanted += random.sample(others, random.choice((0, 0, 1, 3)))
    return opened(start.replace("GOAL", " and ".join(wanted)))
