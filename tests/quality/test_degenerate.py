"""For each dimension a run that must fail it, played for real; and it fails nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.store.log import RunStore
from tokenworld.store.records import IntentSource, Run
from tokenworld.verbs.quality.scorecard import (
    Scorecard,
    exit_code,
    keep_reference,
    score_run,
    scorecard_lines,
)

Play = Callable[..., Run]

# A closed world that is saturated after two ticks: nothing here can fail but what is meant to.
LAMP = """type Lamp { oil: 0 to 99 clamped = 99 }
actor me: Lamp
phase burning
action wait() as "wait" { say "You wait." }
action tell() as "tell" { say "There is {me.oil} oil." }
law burn(l: Lamp) during burning { l.oil -= 1 }
world w "W" { object lamp: Lamp }
"""
GATE = """type T { open: bool = false }
actor me: T
action push() as "push" { require me.open else shut "It is shut." }
action wait() as "wait" { }
world w "W" { object gate: T }
"""
VERBS = "\n".join(f'action a{n}() as "verb {n}" {{ }}' for n in range(14))
MANY = f'type T\nactor me: T\n{VERBS}\nworld w "W" {{ object one: T }}\n'
WOOD = """type Store { wood: 0 to 99 = 20 }
actor me: Store
conserve timber: sum(s.wood for s: Store)
action burn(k: 0 to 3) as "burn {k}" { me.wood -= k }
action wait() as "wait" { }
world w "W" { object shed: Store }
"""
NOTHING = """type T { n: int = 0 }
actor me: T
action divide() as "divide" { me.n = 6 mod me.n }
action wait() as "wait" { }
world w "W" { object one: T }
"""


def failing(store: RunStore, run: Run) -> tuple[str, list[str]]:
    card = score_run(store, run)
    return card.verdict, [one.id for one in card.failing]


ASKED = LAMP.replace('as "wait" {', 'as "wait" or "ask the operator" {')
PULLED = GATE.replace("action wait", 'action pull() as "pull" { }\naction wait')
SHUT = """type T { open: bool = true }
actor me: T
action push() as "push" { require me.open else shut "It is shut."  me.open = false }
action wait() as "wait" { }
world w "W" { object gate: T }
"""


def falling_world() -> str:
    """Forty things that hold on to one; every tick one lets go."""
    things = " ".join(f"object t{n}: T {{ at = t0  place = {n} }}" for n in range(1, 41))
    return f"""type T {{ at: T?  place: int = 0 }}
function turn(): int = 0
actor me: T
action wait() as "wait" {{ turn() += 1 }}
law let_go(t: T) when t.at != none and t.place == turn() {{ t.at = none }}
world w "W" {{ object t0: T  {things} }}
"""


DEGENERATE = {
    # The narration tells of oil that a law has burnt by the time it is read.
    "groundedness": (LAMP, ("wait", *("tell",) * 12)),
    # Somebody talks to whoever set him up, in two of twelve ticks that do nothing else.
    "character": (ASKED, (*("wait",) * 10, "ask the operator", "Ask the OPERATOR.", "tell()")),
    # Every second tick is refused; never are two in a row.
    "action_coherence": (PULLED, ("pull", "push", "wait", "push", "wait") * 5),
    # Five refusals in a row between many ticks that go well.
    "refusal_cluster": (SHUT, ("push", *("wait",) * 20, *("push",) * 5, *("wait",) * 9)),
    # One verb for ever, where there are fourteen.
    "vocabulary": (MANY, ("verb 3",) * 40),
    # The rules burn wood that must be kept: two of twenty ticks are rolled back.
    "conservation": (WOOD, (*("wait",) * 16, "burn 2", "wait", "burn 1", "burn 0")),
    # Relations are lost, tick by tick, and nothing takes their place.
    "graph_fan_out": (falling_world(), ("wait",) * 40),
}


def test_every_dimension_has_its_run(store: RunStore, play: Play) -> None:
    card = score_run(store, play("wait", text=LAMP))
    assert list(DEGENERATE) == [one.id for one in card.dimensions]


@pytest.mark.parametrize("dimension", DEGENERATE)
def test_it_fails_this_dimension_alone(store: RunStore, play: Play, dimension: str) -> None:
    text, lines = DEGENERATE[dimension]
    run = play(*lines, text=text)
    assert failing(store, run) == ("FAILED", [dimension])
    card = score_run(store, run)
    assert exit_code(card, "plain") == 1
    assert not keep_reference(store, run, card, "plain")


def test_in_a_rush(store: RunStore, play: Play) -> None:
    """A new verb in six of ten ticks, and in six of the next ten."""
    lines = [f"verb {n}" for n in (0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0)]
    run = play(*lines, text=MANY)
    assert failing(store, run) == ("FAILED", ["vocabulary"])


def test_not_conserved(store: RunStore, play: Play) -> None:
    """The rules burn wood that must be kept: the tick is rolled back, and the rule is named."""
    run = play(*("wait",) * 16, "burn 2", "wait", "burn 1", "burn 0", text=WOOD)
    card = score_run(store, run)
    assert [one.id for one in card.failing] == ["conservation"]
    (line,) = (one for one in scorecard_lines(card) if "Invariants kept" in one)
    assert "2 of 20 records taken back: " in line
    assert "timber" in line
    assert "action burn" in line


def test_falling_apart(store: RunStore, play: Play) -> None:
    run = play(*("wait",) * 40, text=falling_world())
    card = score_run(store, run)
    assert (card.verdict, [one.id for one in card.failing]) == ("FAILED", ["graph_fan_out"])
    points = card.dimensions[-1].values["checkpoints"]
    assert points == [[10, 30, 41], [20, 20, 41], [30, 10, 41], [40, 0, 41]]


def test_a_tick_in_error_fails_the_run(store: RunStore, play: Play) -> None:
    run = play("wait", "divide", *("wait",) * 12, text=NOTHING)
    card = score_run(store, run)
    assert (card.verdict, card.window.errors, card.failing) == ("FAILED", (2,), ())


@pytest.mark.parametrize("source", ["planner", "script"])
def test_a_planner_that_is_refused_once_fails(store: RunStore, source: IntentSource) -> None:
    session = Session(open_text((Source("w.tw", None, GATE),), "w"), store=store, player=source)
    for command in (*("wait",) * 15, "push", *("wait",) * 4):
        session.intend(command, source=source)
    assert session.recording is not None
    card: Scorecard = score_run(store, session.recording.handle.run())
    failed = [one.id for one in card.failing]
    assert ("refusal_cluster" in failed) == (source == "planner")
