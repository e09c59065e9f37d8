"""Conditions on all states up to now: play, searches and exports agree with whole histories.

The oracle keeps every state of a play and reads the words as Gerevini and Long (2005) define them;
it knows nothing of monitors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.session.loading import open_text

planner = pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")

LAMPS = """
type Lamp { lit: bool }
object a, b: Lamp
"""
RULES = {
    "actions": """
action light(l: Lamp) { require not l.lit  l.lit = true }
action quench() { require a.lit  a.lit = false  b.lit = false }
""",
    "laws": """
action light(l: Lamp) { require not l.lit  l.lit = true }
law fade(l: Lamp) when l.lit and was l.lit { l.lit = false }
law spread() when a.lit and not was a.lit { b.lit = not b.lit }
""",
    "free": """
action light(l: Lamp) takes 0 { require not l.lit  l.lit = true }
action swap_both() takes 2 { swap a.lit, b.lit  cancelled { a.lit = false } }
law fade() when b.lit and was b.lit { b.lit = false }
""",
}
Lit = frozenset[str]
History = Sequence[tuple[int, Lit]]
CONDITIONS: dict[str, Callable[[int, Lit], bool]] = {
    "a.lit": lambda tick, lit: "a" in lit,
    "not b.lit": lambda tick, lit: "b" not in lit,
    "any(l.lit for l: Lamp)": lambda tick, lit: bool(lit),
    "(a.lit and b.lit)": lambda tick, lit: len(lit) == 2,
    "(a.lit and tick() >= 2)": lambda tick, lit: "a" in lit and tick >= 2,
}
WORDS = ("sometime", "always", "at_most_once", "sometime_after", "sometime_before")


def holds(word: str, first: Sequence[bool], last: Sequence[bool]) -> bool:
    """Whether the word holds of a history, given where its conditions hold."""
    match word:
        case "sometime":
            return any(first)
        case "always":
            return all(first)
        case "at_most_once":
            begins = zip([False, *first], first, strict=False)
            return sum(now and not before for before, now in begins) < 2
        case "sometime_after":
            return all(any(last[at:]) for at, now in enumerate(first) if now)
        case _:
            return all(any(last[:at]) for at, now in enumerate(first) if now)


def drawn(rng: Random) -> tuple[str, Callable[[History], bool]]:
    """One word with its conditions, and the oracle for it."""
    word, first, last = rng.choice(WORDS), *rng.choices(sorted(CONDITIONS), k=2)
    two = f" then {last}" if word in ("sometime_after", "sometime_before") else ""

    def oracle(states: History) -> bool:
        where = [[CONDITIONS[one](*state) for state in states] for one in (first, last)]
        return holds(word, *where)

    return f"{word} {first}{two}", oracle


def for_each_lamp(states: History) -> bool:
    """`all(at_most_once l.lit for l: Lamp)`, by hand."""
    return all(holds("at_most_once", [one in lit for _, lit in states], []) for one in "ab")


def never_b(states: History) -> bool:
    return all("b" not in lit for _, lit in states)


def opened(text: str) -> Engine:
    return open_text((Source("test.tw", None, text),), "w").engine


def seen(engine: Engine, state: State) -> tuple[int, Lit]:
    lit = EngineSimulator(engine).read
    names = engine.instance.names
    return state.tick, Lit(one for at, one in enumerate(names) if lit(state, "Lamp.lit", (at,)))


@pytest.mark.parametrize("kind", sorted(RULES))
def test_play_agrees_with_whole_histories(kind: str) -> None:
    true = 0
    for number in range(8):
        rng = Random(number)
        asked = [drawn(rng) for _ in range(4)]
        asked.append(("all(at_most_once l.lit for l: Lamp)", for_each_lamp))
        asked.append(("not sometime sometime b.lit", never_b))
        lines = "\n".join(f"  goal g{at}: {text}" for at, (text, _) in enumerate(asked))
        engine = opened(f"{LAMPS}{RULES[kind]}world w {{ endless outcomes live\n{lines} }}")
        simulator, state = EngineSimulator(engine), engine.start()
        endings = engine.instance.world.endings
        states = [seen(engine, state)]
        for _ in range(12):
            state, _ = engine.play(state, rng.choice([*engine.legal(state), PASS]))
            states.append(seen(engine, state))
            right = [oracle(states) for _, oracle in asked]
            found = [simulator.ask(state, line.condition) for line in endings]
            assert found == right, [text for text, _ in asked]
            true += sum(right)
    assert 150 < true < 450


def fewest(engine: Engine, won: Callable[[History], bool], most: int) -> int | None:
    """The fewest commands after which a history wins, if so many are enough."""
    start = engine.start()
    plays = [(start, [seen(engine, start)])]
    for steps in range(most + 1):
        if any(won(states) for _, states in plays):
            return steps
        plays = [
            (after, [*states, seen(engine, after)])
            for state, states in plays
            for after in (engine.play(state, one)[0] for one in (*engine.legal(state), PASS))
        ]
    return None


def both(asked: Sequence[tuple[str, Callable[[History], bool]]], states: History) -> bool:
    return all(oracle(states) for _, oracle in asked)


def compared(kind: str, number: int, by: str) -> int | None:
    """The length of the best plan that an engine finds: brute force agrees."""
    rng = Random(f"{kind} {number}")
    asked = [drawn(rng) for _ in range(3)]
    asked.append(("b.lit", lambda states: "b" in states[-1][1]))
    goal = " and ".join(text for text, _ in asked)
    text = f"{LAMPS}{RULES[kind]}world w {{ setup {{ a.lit = true }} goal g: {goal} }}"
    bare = opened(text.replace(goal, "tick() > 99"))
    right = fewest(bare, partial(both, asked), 4)
    engine = opened(text)
    start = engine.start()
    verdict = plan_by(EngineSimulator(engine, start), start, None, by, seconds=20)
    length = len(verdict.steps) if verdict.answer == "winnable" else None
    assert length == right or (right is None and (length is None or length > 4)), goal
    return length


@pytest.mark.parametrize("kind", ["actions", "laws"])
def test_plans_agree_with_whole_histories(kind: str) -> None:
    lengths = [compared(kind, number, "own") for number in range(8)]
    assert {None, 1} < set(lengths)


@planner
@pytest.mark.parametrize("kind", ["actions", "laws"])
def test_plans_of_the_encoding_agree_with_whole_histories(kind: str) -> None:
    lengths = [compared(kind, number, "blind") for number in range(4)]
    assert len(set(lengths)) > 1
