"""A log held against the reference evaluator: each lie is found in its own tick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tokenworld.session.replaying import stored_session
from tokenworld.store.log import RunStore
from tokenworld.store.read import history
from tokenworld.store.records import Run
from tokenworld.verbs.quality.dimensions import Dimension
from tokenworld.verbs.quality.scorecard import score_run
from tokenworld.verbs.recheck import Snapshot, replayed

Play = Callable[..., Run]
Forge = Callable[..., Run]

# It burns from tick 2 on; "light" is refused in tick 4, and tick 6 tells what tick 6 changes.
LINES = ("tell", "light", "hum", "light", "hint", "snuff", "tell", "light()", "pass", "nonsense")


def grounded(store: RunStore, run: Run) -> Dimension:
    return score_run(store, run).dimensions[0]


def faults(store: RunStore, run: Run) -> dict[str, list[str]]:
    found: Any = grounded(store, run).values["faults"]
    return dict(found)


def test_an_honest_log_is_grounded(store: RunStore, play: Play) -> None:
    found = grounded(store, play(*LINES))
    assert (found.status, found.text) == ("OK", "1.00    10 of 10 records")
    assert found.values["unchecked"] == 1  # "You hum." claims nothing


def told_executed(outcome: dict[str, Any]) -> None:
    """The lie that this project began with: refused by the engine, stored as executed."""
    assert outcome["status"] == "refused"
    del outcome["refusal"]
    outcome.update(status="executed", noop=True)


def other_require(outcome: dict[str, Any]) -> None:
    for report in (outcome["refusal"], *outcome["refusal"]["requires"]):
        report["label"] = "tired"


def other_change(outcome: dict[str, Any]) -> None:
    outcome["changes"][0]["new"] = "true"


def other_law(outcome: dict[str, Any]) -> None:
    outcome["law_changes"] = []


def other_words(outcome: dict[str, Any]) -> None:
    outcome["said"] = ["There is no oil."]


def other_action(outcome: dict[str, Any]) -> None:
    outcome["action"] = "snuff"


@pytest.mark.parametrize(
    ("seq", "lie", "said"),
    [
        (4, told_executed, "it is logged as executed, and comes out refused"),
        (4, other_require, "it names the require `tired`, and `already` is false"),
        (2, other_change, "its changes are not those that a replay makes"),
        (3, other_law, "its changes by laws are not those that a replay makes"),
        (1, other_words, "its narration is not what the rules say"),
        (3, other_action, 'its `action` is logged as "snuff", not "hum"'),
    ],
)
def test_a_lie_is_found_in_its_tick_and_nowhere_else(
    store: RunStore,
    play: Play,
    forge: Forge,
    seq: int,
    lie: Callable[[dict[str, Any]], None],
    said: str,
) -> None:
    forged = forge(play(*LINES), seq, lie)
    assert faults(store, forged) == {str(seq): [said]}


def test_a_narration_that_a_law_overtakes_is_false(store: RunStore, play: Play) -> None:
    """The lamp burns while its oil is told: 7 were told, 6 are left."""
    run = play("light", "hum", "tell", *("hum",) * 7)
    assert faults(store, run) == {"3": ["its narration is not true: it told `7` where it is `6`"]}


def test_a_free_question_is_answered_truly(store: RunStore, play: Play) -> None:
    assert not faults(store, play("light", *("hint",) * 10))


ROOMS = """type Room
type Thing { at: Room? }
type Cat : Thing { mood: 0 to 9 = 0 }
actor me: Thing
phase late
derive sees(m: Thing, x: Thing) = m.at == x.at
action call(c: Cat) as "call {c}" { say "{The c} has mood {c.mood}."  c.mood += 1 }
action shoo(c: Cat) as "shoo {c}" { require c.at == me.at else gone "{The c} is gone."
  c.at = shed  say "{The c} runs off with mood {c.mood}." }
action eat(c: Cat) as "eat {c}" { say "You had {the c}, mood {c.mood}."  destroy c }
law sulk(c: Cat) during late when c.at == shed { c.mood = 5 }
object hall, shed: Room
world w { object me_too: Thing { at = hall }  object tom: Cat { at = hall }
  object tim: Cat { at = hall } }
"""


def test_what_the_reader_cannot_see_afterwards_is_not_disputed(store: RunStore, play: Play) -> None:
    run = play("call tom", "shoo tom", "eat tim", *("pass",) * 7, text=ROOMS)
    assert grounded(store, run).values["u"] == 0


TURNS = """type P { n: 0 to 99 = 0 }
actor me: P
action add() as "add" takes 1 { me.n += 1 }
action dig() as "dig" takes 3 { me.n += 5 }
law rot(p: P) when p.n > 50 { p.n -= 1 }
world w { turns one, two  object one, two, three: P }
"""


@pytest.mark.parametrize("first", [1, 2, 3, 8, 120, 121, 150])
def test_the_check_may_begin_anywhere(store: RunStore, play: Play, first: int) -> None:
    """In the middle of a round or of a long action, and after a stored whole state."""
    run = play(*("add", "dig", "add", "pass", "add", "pass") * 25, text=TURNS)
    session, ticks = stored_session(run), history(store, run)
    found = replayed(session.world, session.seed, ticks, first)
    assert sorted(found.checks) == list(range(first, len(ticks) + 1))
    assert not [each for each in found.checks.values() if each.faults]


def test_a_snapshot_that_the_log_does_not_vouch_for_is_not_used(
    store: RunStore, play: Play
) -> None:
    run = play(*("tell", "light", "snuff") * 40)
    session, ticks = stored_session(run), history(store, run)
    state = session.engine.json(session.state)
    wrong = Snapshot(100, state, session.engine.hash(session.state))
    found = replayed(session.world, session.seed, ticks, 101, wrong)
    assert not [each for each in found.checks.values() if each.faults]
    unfit = Snapshot(100, {"objects": 3}, "")
    found = replayed(session.world, session.seed, ticks, 101, unfit)
    assert not [each for each in found.checks.values() if each.faults]


def test_a_branch_is_judged_with_what_led_to_it(store: RunStore) -> None:
    from tokenworld.diagnostics import Source
    from tokenworld.session import Session
    from tokenworld.session.loading import open_text

    world = open_text((Source("w.tw", None, ROOMS),), "w")
    session = Session(world, 0, store=store)
    for _ in range(12):
        session.intend("call tom")
    session.undo()
    session.intend("shoo tom")
    session.finish("done")
    assert session.recording is not None
    run = session.recording.handle.run()
    card = score_run(store, run, 5)
    assert (run.ticks, card.window.first, card.window.last) == (1, 8, 12)
    assert card.dimensions[0].status == "OK"


def test_a_halt_that_hides_a_deed_is_a_lie(store: RunStore, play: Play) -> None:
    """What stands in place of an intent where the runner stopped excuses nothing else."""
    from tokenworld.store.read import ticks_of
    from tokenworld.store.records import TickRecord

    run = play(*LINES)
    forged = store.begin(run.header)
    for tick in ticks_of(store, run):
        intent = {"format": "tw-intent/1", "halt": "?"} if tick.seq == 3 else tick.intent
        forged.append(TickRecord(intent, tick.outcome, tick.source, tick.text))
    said = "the runner stopped here, and something else is told"
    assert faults(store, forged.run())["3"] == [said]
