"""Plans that branch on what the player sees, compared with all sets of states that there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine, SeededLuck, State
from tokenworld.ground import Command, Json
from tokenworld.planning.proof.certificate import certificate_from_json
from tokenworld.session import OpenWorld
from tokenworld.verbs.plan.branching import BranchingVerdict, branching_lines, branching_verdict
from tokenworld.verbs.plan.certificates import (
    CertificateReport,
    certify_branching,
    check_certificate,
)
from tokenworld.verbs.plan.honesty import possible_starts, solve_honest

ROOT = Path(__file__).resolve().parents[2]
Tiny = Callable[[str], OpenWorld]

SAFE = """
type Safe { secret code: 0 to 4 = 3  open: bool  jammed: bool  tries: 0 to 9 clamped = 0 }
object safe: Safe
type Note { secret digit: 0 to 4 = 0 }
object note: Note
action read() { say "The note says {note.digit}." }
"""
WORLD = (
    'world w "W" { TIME setup { pick n: 0 to 4 { safe.code = n DRAWN } }  goal rich: safe.open }\n'
)
TRY = 'action dial(n: 0 to 4) { require safe.code == n else no "No."  safe.open = true }\n'
JAM = """
action dial(n: 0 to 4) {
  require not safe.jammed else jam "Jammed."
  if safe.code == n { safe.open = true } else { safe.jammed = true }
}
"""


def asked(world: OpenWorld, seed: int = 0) -> BranchingVerdict:
    return branching_verdict(world.engine, seed, None, time_limit=60)


def written(drawn: str = "", time: str = "") -> str:
    return WORLD.replace("DRAWN", drawn).replace("TIME", time)


def test_a_note_tells_what_to_dial(tiny: Tiny) -> None:
    """Where a wrong number jams the safe, only the note helps, and only if it is right."""
    world = tiny(SAFE + JAM + written("note.digit = n"))
    assert solve_honest(world.engine, 0, None, time_limit=60).answer == "unwinnable"
    found = asked(world)
    assert (found.answer, found.ticks, found.cost, found.optimal) == ("winnable", 2, 2, True)
    lines = branching_lines(found)
    assert lines[1] == "  1. read()"
    for n in range(5):
        at = lines.index(f'     if "The note says {n}.": (1 way)')
        assert lines[at + 1] == f"       2. dial({n})"
    found = asked(tiny(SAFE + JAM + written()))
    assert (found.answer, found.few, found.ticks) == ("unwinnable", 5, 0)


def test_a_refusal_tells_something_and_costs_nothing(tiny: Tiny) -> None:
    """Four refusals are enough to know the code; where time passes always each is a tick."""
    world = tiny(SAFE + TRY + written())
    assert solve_honest(world.engine, 0, None, time_limit=60).answer == "unwinnable"
    found = asked(world)
    assert (found.answer, found.ticks, found.cost, found.optimal) == ("winnable", 1, 1, True)
    assert '     if refused: no "No.": (4 ways)' in branching_lines(found)
    found = asked(tiny(SAFE + TRY + written(time="time passes always ")))
    assert (found.answer, found.ticks, found.cost, found.optimal) == ("winnable", 5, 5, True)
    found = asked(tiny(SAFE + TRY + written("note.digit = n", "time passes always ")))
    assert (found.answer, found.ticks, found.optimal) == ("winnable", 2, True)


def test_refusals_for_all_values_may_differ(tiny: Tiny) -> None:
    """*Too low* and *too high* halve what is possible, though neither is executed."""
    text = """
type Safe { secret code: 0 to 6 = 3  open: bool  tried: 0 to 9 = 0 }
object safe: Safe
action dial(n: 0 to 6) {
  require n >= safe.code else low "Too low."  require n <= safe.code else high "Too high."
  safe.open = true
}
law turn() { safe.tried += 1 }
world w "W" {
  time passes always
  setup { pick n: 0 to 6 { safe.code = n } }  goal rich: safe.open  lose late: safe.tried > 2
}
"""
    found = asked(tiny(text))
    assert (found.answer, found.ticks) == ("winnable", 3)
    assert asked(tiny(text.replace("> 2", "> 1"))).answer == "unwinnable"


def test_hidden_values_are_no_observation(tiny: Tiny) -> None:
    """A change of a secret slot, and a refusal for another reason, tell nothing."""
    turn = "action turn() { note.digit = safe.code }\n"
    assert asked(tiny(SAFE + turn + JAM + written())).answer == "winnable"  # then reads the note
    blind = SAFE.replace("{note.digit}", "something")
    assert asked(tiny(blind + turn + JAM + written())).answer == "unwinnable"


def test_luck_that_takes_part_is_never_counted_on(tiny: Tiny) -> None:
    shaky = JAM.replace("safe.open = true }", "chance 1/2 { safe.open = true } }")
    found = asked(tiny(SAFE + shaky + written("note.digit = n")))
    assert (found.answer, bool(found.limit)) == ("unknown", True)
    coin = "function heads(): bool = false\naction flip() { chance 1/2 { heads() = true } }\n"
    found = asked(tiny(SAFE + coin + JAM + written("note.digit = n")))
    assert found.answer == "winnable"


def test_one_start_is_an_ordinary_question(tiny: Tiny) -> None:
    found = asked(tiny(SAFE + JAM + 'world w "W" { goal rich: safe.open }\n'))
    assert (found.answer, found.ticks) == ("winnable", 1)
    assert found.honest is not None
    assert found.honest.assignments == 1


def test_programs_get_the_whole_tree(tiny: Tiny) -> None:
    found = asked(tiny(SAFE + JAM + written("note.digit = n"))).to_json()
    tree = found["branches"]
    assert isinstance(tree, dict)
    assert tree["command"] == "read()"
    ends = {one["seen"][0]: (one["starts"], one["then"]["command"]) for one in tree["observations"]}
    assert ends == {f'"The note says {n}."': (1, f"dial({n})") for n in range(5)}
    json.dumps(found)


def test_the_page_shows_what_is_printed(tiny: Tiny) -> None:
    page = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
    text = page.partition("### Plans that branch")[2]
    world, shown = (text.partition(f"```{kind}\n")[2].partition("\n```")[0]
                    for kind in ("tw", "console"))  # fmt: skip
    found = asked(tiny(world.replace("world safe_and_note", "world w")))
    assert shown.splitlines()[1:] == branching_lines(found)


# ---- against brute force ----------------------------------------------------------------------


def _random(number: int) -> str:
    """Two secrets, three facts, four actions of random requires, changes and texts."""
    random = Random(number)
    hidden = ["me.a == 0", "me.a == 1", "me.b", "not me.b", "me.a != 2"]
    atoms = [*hidden, "f()", "g()", "not f()", "not g()"]
    changes = ["f() = true", "g() = true", "g() = me.b", "me.b = f()", "me.b = not me.b",
               "f() = me.a == 0", "h() = true", "me.a = 1"]  # fmt: skip
    lines = ["type T { secret a: 0 to 2 = 0  secret b: bool }", "object me: T"]
    lines += [f"function {name}(): bool = false" for name in "fgh"]
    for name in "xyz":
        asks = random.random() < 0.5
        require = f'require {random.choice(atoms)} else no "No."  ' if asks else ""
        first, second = random.sample(changes, 2)
        test = f"if {random.choice(atoms)} {{ {first} }} else {{ {second} }}"
        lines.append(f"action {name}() {{ {require}{test} }}")
    told = random.choice(["me.a", "me.b", "f()"])
    no = f'require {random.choice(atoms)} else no "No."' if random.random() < 0.3 else ""
    lines.append(f'action look() {{ {no}  say "{{{told}}}" }}')
    goal = f"{random.choice(['f()', 'g()'])} and {random.choice(atoms)}"
    time = random.choice(["", "time passes always "])
    setup = "pick n: 0 to 2 { me.a = n } chance 1/2 { me.b = true }"
    lines.append(f'world w "W" {{ {time}setup {{ {setup} }} lose bad: h()  goal done: {goal} }}')
    return "\n".join(lines)


Belief = frozenset[str]


class Brute:
    """Every set of states that play can lead to, as printed, and the least cost of each."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.states: dict[str, State] = {}
        self.ways: dict[Belief, list[list[tuple[int, Belief]]]] = {}

    def name(self, state: State) -> str:
        found = {k: v for k, v in self.engine.json(state).items() if k not in ("tick", "score")}
        name = json.dumps(found, sort_keys=True)
        self.states.setdefault(name, state)
        return name

    def seen(self, before: State, command: Command) -> tuple[str, int, State]:
        """What is shown to the player of a command, by its record and the state; the cost."""
        after, records = self.engine.play(before, command, SeededLuck())
        told = [self.engine.known.outcome(one).to_json() for one in records]
        public = self.engine.known.json(after)
        for one in told:
            del one["hash_before"], one["hash_after"], one["tick"]
        del public["tick"]
        passed = after.tick - before.tick
        return json.dumps([told, public, passed], sort_keys=True), passed, after

    def explore(self, starts: list[State]) -> Belief:
        start = frozenset(self.name(one) for one in starts if not one.latched)
        waiting = [start]
        while waiting:
            one = waiting.pop()
            if one in self.ways:
                continue
            self.ways[one] = [
                way for name in (*"xyz", "look", "") if (way := self.way(one, name)) is not None
            ]
            waiting += [after for way in self.ways[one] for _, after in way]
        return start

    def way(self, belief: Belief, name: str) -> list[tuple[int, Belief]] | None:
        parts: dict[str, tuple[int, set[str]]] = {}
        for one in belief:
            sight, cost, after = self.seen(self.states[one], Command(name, ()))
            if "bad" in after.latched:
                return None
            _, part = parts.setdefault(sight, (cost, set()))
            if not after.latched:
                part.add(self.name(after))
        return [(cost, frozenset(part)) for cost, part in parts.values()]

    def least(self, start: Belief) -> int | None:
        """The least cost in the worst case, by value iteration; ``None`` if nothing wins."""
        value: dict[Belief, int] = {frozenset(): 0}
        while True:
            before = dict(value)
            for one, ways in self.ways.items():
                for way in ways:
                    if all(after in before for _, after in way):
                        worst = max((cost + before[after] for cost, after in way), default=0)
                        value[one] = min(value.get(one, worst), worst)
            if value == before:
                return value.get(start)


def _worlds(tiny: Tiny, numbers: Iterable[int]) -> Iterator[tuple[int, OpenWorld]]:
    for number in numbers:
        try:
            yield number, tiny(_random(number))
        except Failure:
            continue


def agrees(number: int, world: OpenWorld) -> tuple[str, bool]:
    """The answer for a world, which is that of brute force; whether the plan branches."""
    starts = [one.state for one in possible_starts(world.engine, 0)]
    brute = Brute(world.engine)
    lost = any("bad" in one.latched for one in starts)
    least = None if lost else brute.least(brute.explore(starts))
    found = asked(world)
    if least is None:
        assert found.answer == "unwinnable", number
    else:
        assert found.answer == "winnable", number
        assert found.cost >= least, number
        assert not found.optimal or found.cost == least, number
    fixed = solve_honest(world.engine, 0, None, time_limit=60, own_only=True).answer
    assert fixed != "winnable" or found.answer == "winnable", number
    return found.answer, found.answer != fixed


@pytest.mark.slow
def test_brute_force_agrees_on_thirty_random_worlds(tiny: Tiny) -> None:
    seen = [agrees(*one) for one in _worlds(tiny, (*range(29), 192))]
    assert len(seen) >= 30
    assert {("winnable", True), ("winnable", False), ("unwinnable", False)} <= set(seen)


def test_a_plan_that_play_refutes_is_no_answer(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree is played from every start before it counts."""
    from tokenworld.verbs.plan import branching

    world = tiny(SAFE + JAM + written("note.digit = n"))
    run = branching.BranchSearch.run

    def cut(self: object, starts: object) -> object:
        found = run(self, starts)  # type: ignore[arg-type]
        last = found.branches[-1]  # type: ignore[union-attr]
        return replace(found, branches=(*found.branches[:-1], replace(last, then=None)))  # type: ignore[type-var,union-attr]

    monkeypatch.setattr(branching.BranchSearch, "run", cut)
    found = asked(world)
    assert (found.answer, [note.code for note in found.notes]) == ("unknown", ["TW0812"])


# ---- certificates -------------------------------------------------------------------------------

TOSS = """
action toss() { chance 0.5 { safe.tries = 1 } else { safe.tries = 2 } }
action dial(n: 0 to 4) {
  require safe.tries > 0 else untossed "Toss first."
  require safe.tries == 2 or n < 3 else high "Not so high."
  if safe.code == n { safe.open = true } else { safe.jammed = true }
}
action lower(n: 0 to 4) { require n > 2  require safe.code == n  safe.open = true }
"""


def certified(world: OpenWorld) -> dict[str, Json]:
    found = certify_branching(world, asked(world), 0)
    assert found is not None
    return found.to_json()


def report(world: OpenWorld, found: Json) -> CertificateReport:
    again = certificate_from_json(json.loads(json.dumps(found)), "it")
    return check_certificate(world, again, seconds=30)


@pytest.mark.parametrize(
    "text",
    [
        SAFE + JAM + written("note.digit = n"),
        SAFE + TRY + written(),
        SAFE + TRY + written(time="time passes always"),
        SAFE + TOSS + written("note.digit = n"),
    ],
    ids=["read", "tries", "tries take time", "toss"],
)
def test_a_tree_is_checked_in_every_start_by_both_evaluators(tiny: Tiny, text: str) -> None:
    world = tiny(text)
    found = report(world, certified(world))
    assert found.holds, found.difference
    assert found.verified[-1] == "the plan wins in all 5 of them by both evaluators"


def _node(found: dict[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = found["honest"]["branches"]
    return node


def _swapped(found: dict[str, Any]) -> None:
    first, second, *_ = _node(found)["observations"]
    first["then"], second["then"] = second["then"], first["then"]


def _less(found: dict[str, Any]) -> None:
    _node(found)["observations"].pop()


def _twice(found: dict[str, Any]) -> None:
    observations = _node(found)["observations"]
    observations.append(observations[0])


def _blind(found: dict[str, Any]) -> None:
    for one in _node(found)["observations"]:
        one["seen"] = "0" * 32


def _short(found: dict[str, Any]) -> None:
    _node(found)["observations"][3]["then"] = None


def _fewer(found: dict[str, Any]) -> None:
    found["honest"]["assignments"] = 1


@pytest.mark.parametrize("forged", [_swapped, _less, _twice, _blind, _short, _fewer])
def test_a_forged_tree_does_not_hold(tiny: Tiny, forged: Callable[[dict[str, Any]], None]) -> None:
    world = tiny(SAFE + JAM + written("note.digit = n"))
    found: dict[str, Any] = certified(world)
    forged(found)
    assert report(world, found).difference


def test_that_no_tree_wins_is_searched_again(tiny: Tiny) -> None:
    world = tiny(SAFE + JAM + written())
    found = certified(world)
    assert found["proof"] == {"kind": "branching"}
    assert report(world, found).holds
    other = tiny(SAFE + JAM + written("note.digit = n"))
    assert report(other, {**certified(other), "answer": "unwinnable", **found}).difference


def test_a_tree_that_is_none_is_named(tiny: Tiny) -> None:
    world = tiny(SAFE + JAM + written("note.digit = n"))
    found: dict[str, Any] = certified(world)
    del _node(found)["observations"][0]["seen"]
    with pytest.raises(Failure) as raised:
        report(world, found)
    assert "`seen` of an observation is missing" in raised.value.diagnostics[0].message
