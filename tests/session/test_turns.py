"""Sessions in which several actors take turns: scenarios, scripts, players, the run store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.prose.intents import read_script
from tokenworld.session import Loaded, OpenWorld, ScenarioResult, Session, run_scenario
from tokenworld.session.players import Player, random_player, script_player
from tokenworld.session.replaying import replay_run
from tokenworld.store import database as schema
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of

RULES = """
type Room
type Hero { at: Room  gold: 0 to 99 = 0  age: 0 to 99 = 0 }
actor me: Hero
law grow(h: Hero) { h.age += 1 }
action go(r: Room) as "go {r}" { require me.at != r else there "You are there."  me.at = r }
action toss() as "toss" { chance 50% { me.gold += 1  say "{me} wins." } }
action earn() as "earn" { me.gold += 1 say "{me} earns." }
action look() as "look" takes 0 { say "{me} looks." }
action nap() as "nap" takes 3 { me.gold += 10  cancelled { me.gold += 1 } }
watch rich(h: Hero) when h.gold == 2 { say "{h} is rich." }
world w {
  object hall, yard: Room
  object anna, bran, cora, dora: Hero { at = hall }
  turns anna, bran, cora
  goal met: all(h.at == yard for h: Hero where h != dora)
}
"""


@pytest.fixture
def session(tiny: Callable[[str], OpenWorld], store: RunStore) -> Session:
    return Session(tiny(RULES), 5, store=store)


def replays(store: RunStore, session: Session) -> None:
    session.finish("done")
    report = replay_run(store, find_run(store, "w-1"), verify=True)
    assert report.ok, report
    assert report.final_hash == session.engine.hash(session.state)


# ---- scenarios --------------------------------------------------------------------------------


@pytest.fixture
def run(loaded: Callable[[str], Loaded]) -> Callable[[str], ScenarioResult]:
    def play(steps: str) -> ScenarioResult:
        program = loaded(RULES + f'scenario "s" in w {{ {steps} }}')
        (scenario,) = program.program.scenarios
        return run_scenario(program, scenario, plan_seconds=20)

    return play


Run = Callable[[str], ScenarioResult]


@pytest.mark.parametrize(
    "steps",
    [
        "when earn() then anna.gold == 1, bran.gold == 0, tick() == 1, anna.age == 1",
        "when earn() by bran then bran.gold == 1, anna.gold == 0, tick() == 1",
        "when go(hall) by bran then refused because there, tick() == 1",
        "when earn() by cora times 2 then cora.gold == 2, tick() == 2, says \"cora is rich\"",
        "when nap() when pass by bran times 2 then anna.gold == 10, tick() == 3",
        "when look() then tick() == 0, says \"anna looks\"",
        "when look() by bran then tick() == 1, says \"bran looks\"",
        "when \"earn\" by bran then status executed, says \"bran earns\"",
        "when earn() by dora then status no_match, tick() == 0, unchanged",
        "then within 2 anna.age == 2, anna.age == 0",
        "when go(yard) when go(yard) by bran then winnable within 1, not tick() == 3",
        "then winnable within 1",
    ],
)  # fmt: skip
def test_steps_that_pass(run: Run, steps: str) -> None:
    result = run(steps)
    assert result.checks
    assert result.ok, result.failed


def test_one_when_is_one_tick(run: Run) -> None:
    assert run("when earn() by bran times 3 then tick() == 3").ticks == 3


def test_a_scenario_that_halts_in_the_middle_of_a_round_ends(run: Run) -> None:
    result = run("given { anna.at = yard bran.at = yard } when go(yard) by cora then won "
                 "when earn() by bran then status halted")  # fmt: skip
    assert result.ok, result.failed


def test_in_a_world_with_one_actor_by_names_that_actor(loaded: Callable[[str], Loaded]) -> None:
    rules = RULES.replace("turns anna, bran, cora", "")
    program = loaded(
        rules
        + 'scenario "s" in w { when earn() by anna then anna.gold == 1, status executed '
        + "when earn() by bran then status no_match, tick() == 1 }"
    )
    result = run_scenario(program, program.program.scenarios[0])
    assert result.ok, result.failed


# ---- players and the store ----------------------------------------------------------------------


def plays(session: Session, player: Player, most: int = 200) -> None:
    for intent in islice(player(session), most):
        if session.intend(intent)[-1].status == "halted":
            return


def test_a_script_in_turn_order(session: Session, store: RunStore) -> None:
    text = """
        go yard
        {"format": "tw-intent/1", "actor": "bran", "action": "nap"}
        {"format": "tw-intent/1", "actor": "anna", "action": "earn"}
        toss
        look
        pass
        {"format": "tw-intent/1", "actor": "bran", "pass": true}
        """
    plays(session, script_player(read_script(Source("s", None, text))))
    records = [tick.outcome for tick in ticks_of(store, find_run(store, "w-1"))]
    assert [(one["actor"], one["status"]) for one in records] == [
        ("anna", "executed"), ("bran", "waiting"), ("cora", "no_match"), ("cora", "executed"),
        ("anna", "executed"), ("anna", "executed"), ("bran", "waiting"),
    ]  # fmt: skip
    assert (session.tick, session.actor) == (1, "cora")
    replays(store, session)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_random_run_replays_and_verifies(
    tiny: Callable[[str], OpenWorld], store: RunStore, seed: int
) -> None:
    session = Session(tiny(RULES), seed, store=store)
    plays(session, random_player)
    actors = {tick.outcome["actor"] for tick in ticks_of(store, find_run(store, "w-1"))}
    assert actors == {"anna", "bran", "cora"}
    replays(store, session)


def test_a_plan_is_played_move_by_move(session: Session, store: RunStore) -> None:
    verdict = session.plan(time_limit=20)
    assert [step.command for step in verdict.plan] == [
        "anna: go(yard)", "bran: go(yard)", "cora: go(yard)",
    ]  # fmt: skip
    plays(session, lambda _: (step.command for step in verdict.steps))
    assert session.won("met")
    replays(store, session)


def test_a_hint_in_the_middle_of_a_round_begins_with_whose_turn_it_is(session: Session) -> None:
    session.intend("go yard")
    assert session.hint(time_limit=20).plan[0].command == "bran: go(yard)"


def test_undo_takes_back_one_move_and_the_branch_replays(session: Session, store: RunStore) -> None:
    for words in ("earn", "nap", "earn"):
        session.intend(words)
    session.undo()
    session.undo()
    assert session.actor == "bran"
    session.intend("go yard")
    session.intend("pass")
    session.finish("done")
    report = replay_run(store, find_run(store, "w-2"), verify=True)
    assert report.ok, report
    assert report.final_hash == session.engine.hash(session.state)


def test_an_intent_out_of_turn_is_recorded_as_it_came(session: Session, store: RunStore) -> None:
    plays(session, script_player(read_script(Source("s", None, (
        '{"format": "tw-intent/1", "actor": "cora", "text": "earn"}\nearn\n'
    )))))  # fmt: skip
    ticks = list(ticks_of(store, find_run(store, "w-1")))
    assert [(one.intent["actor"], one.status) for one in ticks] == [
        ("cora", "no_match"), ("anna", "executed"),
    ]  # fmt: skip
    replays(store, session)


def test_a_store_of_the_first_schema_takes_runs_of_several_actors(
    tiny: Callable[[str], OpenWorld], tmp_path: Path
) -> None:
    import sqlite3

    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path, isolation_level=None) as old:
        for statement in schema.DDL:
            old.execute(statement.replace(schema._STAYS, schema._STAYED))
        old.execute("DROP TABLE reference")
        old.execute("DROP TABLE narration")
        old.execute("DROP TABLE usage")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with RunStore.open(path) as store:
        session = Session(tiny(RULES), 0, store=store)
        session.intend("go hall")
        replays(store, session)
    with sqlite3.connect(path) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert opened.execute("PRAGMA user_version").fetchone() == (schema.SCHEMA_VERSION,)
    opened.close()
