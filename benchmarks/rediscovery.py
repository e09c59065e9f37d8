"""Random worlds of a declared family: are their rules found again from walks alone?

    python -m benchmarks.rediscovery --seed N [--worlds 20] [--rows 200 500 2000] [--fuzzer]

The family: two or three types of objects (the actor's is one) with truths, words, bounded numbers
and references as attributes; two to four actions with up to two parameters; up to three laws in one
or two phases; guards of at most three predicates; at most two draws in a world, each a `chance` of
a multiple of 10 % or a `pick`. Every world is made from its seed alone.

A walker draws commands, a third of them whether they are legal or not. `tw learn propose` learns
from its rows. On fresh walks, of other seeds and without a common pair of state and command, the
exact distribution of each step by the true world is compared with that by the learned one. A step
is *exact* if both have the same states with the same probabilities, and *equal* if the total
variation between them is at most 0.05: a probability that is learned from rows has an error.
Commands that the true world refuses are steps too. ``-o`` keeps the worlds, true and learned.

``--fuzzer``: the worlds are those of `tw fuzz` instead, which use all of the language. What rows do
not show as objects and attributes is not compared.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import State
from tokenworld.ground import Command, NoMatch
from tokenworld.prose.intents import parse_intent_json
from tokenworld.session import check_text, open_world
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row, row_in, row_played
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.learn.propose.verb import learned_worlds
from tokenworld.verbs.simbench.making import Step, WorldWalk

__all__ = ["Compared", "compared", "fuzzed_text", "main", "report", "world_text"]

TOLERANCE: Final = 0.05
"""The total variation up to which two distributions count as equal."""
STEPS: Final = 12
"""Steps of a walk, after which the next one begins at the start."""
FRESH: Final = 300
"""Fresh transitions of each world."""
TYPES: Final = ("Box", "Lamp")
WORDS: Final = ("red", "green", "blue")
MOST_DRAWS: Final = 2
Distribution = Mapping[str, Fraction]


# ---- the family -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Attribute:
    """An attribute: its owner, and ``bool``, ``word``, ``number`` or the type that it refers to."""

    owner: str
    name: str
    kind: str
    high: int = 0


@dataclass
class _Maker:
    """Makes the text of one world."""

    random: random.Random
    attributes: list[_Attribute] = field(default_factory=list)
    draws: int = 0
    written: set[str] = field(default_factory=set)
    by_laws: set[str] = field(default_factory=set)

    def text(self) -> str:
        """The whole program."""
        one = self.random
        kinds = ("Hero", *TYPES[: one.randint(1, 2)])
        for kind in kinds:
            self._attributes(kind, kinds)
        actions = [self._action(at, kinds) for at in range(one.randint(2, 4))]
        phases = one.randint(1, 2)
        laws = [self._law(at, kinds, phases) for at in range(one.randint(0, 3))]
        types = [f"type {kind} {{ {'  '.join(map(self._declared, self._of(kind)))} }}"
                 for kind in kinds]  # fmt: skip
        lines = [f"enum Colour {{ {', '.join(WORDS)} }}", *types, "actor me: Hero", *actions]
        lines += [f"phase phase{at}" for at in range(phases)]
        lines += [one for one in laws if one]
        return "\n".join([*lines, *self._world(kinds)]) + "\n"

    def _of(self, kind: str) -> list[_Attribute]:
        return [one for one in self.attributes if one.owner == kind]

    def _attributes(self, kind: str, kinds: Sequence[str]) -> None:
        others = [one for one in kinds if one != "Hero"]
        for _ in range(self.random.randint(1, 3)):
            sort = self.random.choice(("bool", "bool", "word", "number", "object"))
            name = f"{sort[0]}{len(self.attributes)}"
            if sort == "object":
                sort = self.random.choice(others)
            high = self.random.randint(3, 6) if sort == "number" else 0
            self.attributes.append(_Attribute(kind, name, sort, high))

    def _declared(self, one: _Attribute) -> str:
        kind = {"bool": "bool", "word": "Colour", "number": f"0 to {one.high} clamped"}
        return f"{one.name}: {kind.get(one.kind, one.kind)}"

    def _world(self, kinds: Sequence[str]) -> Iterator[str]:
        names = {"Hero": ["hero"]}
        for kind in kinds[1:]:
            count = self.random.randint(2, 3)
            names[kind] = [f"{kind.lower()}_{at}" for at in range(1, count + 1)]
        yield "world w {"
        yield "  endless"
        for kind, objects in names.items():
            for name in objects:
                fields = (f"{one.name} = {self._start(one, names)}" for one in self._of(kind))
                yield f"  object {name}: {kind} {{ {'  '.join(fields)} }}"
        yield "}"

    def _start(self, one: _Attribute, names: Mapping[str, Sequence[str]]) -> str:
        match one.kind:
            case "bool":
                return self.random.choice(("true", "false"))
            case "word":
                return self.random.choice(WORDS)
            case "number":
                return str(self.random.randint(0, one.high))
            case kind:
                return self.random.choice(names[kind])

    # ---- rules ----------------------------------------------------------------------------

    def _action(self, at: int, kinds: Sequence[str]) -> str:
        params = {name: self.random.choice(kinds[1:])
                  for name in ("x", "y")[: self.random.choice((0, 1, 1, 2))]}  # fmt: skip
        scope = {"me": "Hero", **params}
        self.written = set()
        guards = self._guards(scope, self.random.choice((0, 1, 1, 2, 3)))
        effects = [self._effect(scope, chance=True) for _ in range(self.random.choice((1, 1, 2)))]
        heads = ", ".join(f"{name}: {kind}" for name, kind in params.items())
        words = " ".join([f"act{at}", *(f"{{{name}}}" for name in params)])
        body = [*(f"require {one}" for one in guards), *(one for one in effects if one)]
        return f'action act{at}({heads}) as "{words}" {{\n  ' + "\n  ".join(body) + "\n}"

    def _law(self, at: int, kinds: Sequence[str], phases: int) -> str:
        """A law over one object; no two laws change one attribute, so that they never conflict."""
        kind = self.random.choice(kinds)
        scope = {"me": "Hero", "x": kind}
        self.written = {one.name for one in self.attributes if one.owner != kind}
        self.written |= self.by_laws
        guards = self._guards(scope, self.random.choice((1, 2, 2, 3)))
        free = [one for one in self._of(kind) if one.name not in self.written]
        effect = self._change("x", self.random.choice(free), scope, True) if free else ""
        if not effect:
            return ""
        self.by_laws |= self.written & {one.name for one in self._of(kind)}
        when = f" when {' and '.join(guards)}" if guards else ""
        phase = self.random.randrange(phases)
        return f"law law{at}(x: {kind}) during phase{phase}{when} {{ {effect} }}"

    def _slots(self, scope: Mapping[str, str]) -> list[tuple[str, _Attribute]]:
        return [(name, one) for name, kind in scope.items() for one in self._of(kind)]

    def _guards(self, scope: Mapping[str, str], count: int) -> list[str]:
        """Conditions on different slots, so that they do not contradict each other."""
        slots = self._slots(scope)
        chosen = self.random.sample(slots, min(count, len(slots)))
        return [self._guard(f"{name}.{one.name}", one, scope) for name, one in chosen]

    def _guard(self, slot: str, one: _Attribute, scope: Mapping[str, str]) -> str:
        match one.kind:
            case "bool":
                return self.random.choice((slot, f"not {slot}"))
            case "word":
                return f"{slot} {self.random.choice(('==', '!='))} {self.random.choice(WORDS)}"
            case "number":
                bound = self.random.randint(1, one.high)
                return f"{slot} {self.random.choice(('>=', '<'))} {bound}"
            case kind:
                same = [f"{name}.{x.name}" for name, x in self._slots(scope)
                        if x.kind == kind and f"{name}.{x.name}" != slot]  # fmt: skip
                same += [name for name, of in scope.items() if of == kind and name != "me"]
                if not same:
                    inner = next((x for x in self._of(kind) if x.kind == "bool"), None)
                    return f"{slot}.{inner.name}" if inner else f"{slot} == {slot}"
                return f"{slot} {self.random.choice(('==', '!='))} {self.random.choice(same)}"

    def _effect(self, scope: Mapping[str, str], *, chance: bool) -> str:
        free = [(name, one) for name, one in self._slots(scope) if one.name not in self.written]
        if not free:
            return ""
        name, one = self.random.choice(free)
        return self._change(name, one, scope, chance)

    def _change(self, name: str, one: _Attribute, scope: Mapping[str, str], chance: bool) -> str:
        self.written.add(one.name)
        slot = f"{name}.{one.name}"
        drawn = chance and self.draws < MOST_DRAWS and self.random.random() < 0.35
        if drawn and one.kind in TYPES:
            self.draws += 1
            return f"pick o: {one.kind} {{ {slot} = o }}"
        change = self._plain(slot, one, scope)
        if drawn:
            self.draws += 1
            return f"chance {10 * self.random.randint(2, 9)}% {{ {change} }}"
        return change

    def _plain(self, slot: str, one: _Attribute, scope: Mapping[str, str]) -> str:
        match one.kind:
            case "bool":
                return f"{slot} = {self.random.choice(('true', 'false', f'not {slot}'))}"
            case "word":
                return f"{slot} = {self.random.choice(WORDS)}"
            case "number":
                step = self.random.choice(("+= 1", "-= 1", "+= 2", f"= {one.high}", "= 0"))
                return f"{slot} {step}"
            case kind:
                same = [f"{name}.{x.name}" for name, x in self._slots(scope)
                        if x.kind == kind and f"{name}.{x.name}" != slot]  # fmt: skip
                same += [name for name, of in scope.items() if of == kind and name != "me"]
                return f"{slot} = {self.random.choice(same)}" if same else f"{slot} = {slot}"


def world_text(seed: str) -> str:
    """The world of a seed. The first one that the checker accepts and in which a command changes
    something is taken."""
    for attempt in range(100):
        text = _Maker(random.Random(f"{seed} {attempt}")).text()
        found = check_text(Source("true.tw", None, text))
        if found.ok and not any(one.code == "TW0903" for one in found.diagnostics):
            return text
    raise AssertionError("the family makes no sound world")


def fuzzed_text(seed: str) -> str:
    """The world of a seed that the fuzzer makes, the first that can be played."""
    numbers = random.Random(seed)
    while True:
        text = playable(numbers.randrange(1_000_000))
        if text is not None:
            return text


# ---- rows -------------------------------------------------------------------------------------


def steps_of(world: OpenWorld, first: int, most: int) -> Iterator[Step]:
    """Steps of walks, from the seed ``first`` on."""
    walk, found, seed = WorldWalk(world), 0, first
    while found < most:
        before = found
        for one in walk.steps("after", seed, min(STEPS, most - found)):
            found += 1
            yield one
        if found == before:
            return
        seed += 1


def _rows(world: OpenWorld, steps: Sequence[Step]) -> list[Row]:
    """Steps as recorded rows, as `tw runs rows` writes them."""
    return [row_in(json.dumps(_row(world, one)), f"step {at}") for at, one in enumerate(steps)]


def _row(world: OpenWorld, one: Step) -> dict[str, Any]:
    return row_played(world.engine, one.before, one.command)[0]


# ---- comparing --------------------------------------------------------------------------------


@dataclass
class Compared:
    """Fresh steps of one world: those that agree exactly, within the tolerance, and all."""

    exact: int = 0
    equal: int = 0
    steps: int = 0
    why: str = ""
    seconds: float = 0.0
    verbs: dict[str, list[int]] = field(default_factory=dict)


def compared(text: str, rows: int, folder: Path) -> Compared:
    """Learn a world from rows, and compare it with the true one on fresh steps."""
    true = folder / "true.tw"
    true.write_text(text, encoding="utf-8")
    world = open_world(str(true))
    known = list(steps_of(world, 1, rows))
    if not known:
        return Compared(why="it ends at its start")
    fresh = _fresh(world, {_asked(world, one) for one in known})
    found = Compared(steps=len(fresh))
    begun = time.process_time()
    try:
        proposed, title = learned_worlds(_rows(world, known), lambda text: None)
        learned = folder / "learned.tw"
        learned.write_text(proposed.made.text, encoding="utf-8")
        other = open_world(f"{learned}:{title}")
    except Failure as failure:
        found.why = failure.diagnostics[0].message
        return found
    finally:
        found.seconds = time.process_time() - begun
    resolver = Resolver(other)
    for one in fresh:
        far = _far(world, other, resolver, one)
        found.exact += far < 1e-9
        found.equal += far <= TOLERANCE
        verb = found.verbs.setdefault(one.verb, [0, 0])
        verb[0] += far <= TOLERANCE
        verb[1] += 1
    return found


def _fresh(world: OpenWorld, seen: set[str]) -> list[Step]:
    """Steps of other walks that were not learned from, each once."""
    found: dict[str, Step] = {}
    for one in steps_of(world, 1_000_001, 6 * FRESH):
        key = _asked(world, one)
        if key not in seen and len(found) < FRESH:
            found.setdefault(key, one)
    return list(found.values())


def _asked(world: OpenWorld, one: Step) -> str:
    return f"{world.engine.hash(one.before)} {one.text}"


def _far(world: OpenWorld, other: OpenWorld, resolver: Resolver, one: Step) -> float:
    """The total variation between the outcomes of a step by two worlds; 1 where the other world
    cannot read the state or the command."""
    mine = _distribution(world, one.before, one.command)
    try:
        shown = _row(world, one)
        state = other.engine.restored(shown["state"])
        intent = parse_intent_json(json.dumps(shown["intent"]))
        theirs = _distribution(other, state, resolver.resolve(state, intent))
    except Failure:
        return 1.0
    keys = {*mine, *theirs}
    return float(sum(abs(mine.get(x, 0) - theirs.get(x, 0)) for x in keys) / 2)


def _distribution(world: OpenWorld, state: State, command: Command | NoMatch) -> Distribution:
    """The probabilities of the states after a step, by what both worlds know of them."""
    found: dict[str, Fraction] = {}
    for one in world.engine.distribution(state, command).successors:
        shown: Any = world.engine.json(one.state)
        facts = sorted((x["name"], x["type"], sorted(x["attrs"].items())) for x in shown["objects"])
        key = json.dumps(facts, default=str)
        found[key] = found.get(key, Fraction(0)) + one.probability
    return found


# ---- telling ----------------------------------------------------------------------------------


def report(
    seed: int, worlds: int, sizes: Sequence[int], output: Path | None,
    make: Callable[[str], str] = world_text,
) -> Iterator[str]:  # fmt: skip
    """A line for each world and number of rows, then the shares of all steps."""
    yield f"{'world':<12}{'rows':>7}{'equal':>16}{'exact':>8}{'s':>7}"
    total: dict[int, list[int]] = {size: [0, 0, 0] for size in sizes}
    for at in range(worlds):
        text = make(f"{seed} {at}")
        for size in sizes:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary) if output is None else output / f"{at}" / f"{size}"
                folder.mkdir(parents=True, exist_ok=True)
                found = compared(text, size, folder)
            for place, count in enumerate((found.equal, found.exact, found.steps)):
                total[size][place] += count
            cells = f"{found.equal} of {found.steps}"
            yield (f"{at:<12}{size:>7}{cells:>16}{_share(found.exact, found.steps):>8}"
                   f"{found.seconds:>7.1f} {found.why}").rstrip()  # fmt: skip
    for size, (equal, exact, steps) in total.items():
        yield (f"{'all worlds':<12}{size:>7}{_share(equal, steps):>16}{_share(exact, steps):>8}")


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else "-"


def main() -> int:
    """Make the worlds, learn them, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 2_000])
    parser.add_argument("--fuzzer", action="store_true", help="worlds of `tw fuzz`")
    parser.add_argument("-o", "--output", type=Path, help="a folder: keep the worlds")
    asked = parser.parse_args()
    make = fuzzed_text if asked.fuzzer else world_text
    for line in report(asked.seed, asked.worlds, asked.rows, asked.output, make):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
