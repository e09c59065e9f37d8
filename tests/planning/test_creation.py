"""Planning where play creates objects: spare objects, keys, and what encodings start from."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import opened, solution

from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.referee import needed_luck, replay
from tokenworld.planning.search.interpreted import Exhausted, Limits, search
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.session.loading import open_text

EGGS = """edition 1
type Nest { eggs: 0 to 9 = 0 }
type Egg { kind: Kind  at: Nest? }
type Gold : Egg { }
enum Kind { plain, gold }
action lay(k: Kind, n: Nest) { create e: Egg { kind = k  at = n } }
action eat(e: Egg) { destroy e }
action rest() { }
"""


def engine(text: str) -> Engine:
    return open_text((Source("t.tw", None, text),), "w").engine


def verdict(text: str) -> Verdict:
    one = EngineSimulator(engine(text))
    return plan(one, one.start(), None, time_limit=20)


def world(lines: str) -> str:
    return f"world w {{ object nest: Nest {lines} }}"


# ---- spare -------------------------------------------------------------------------------------


def test_a_plan_may_create_up_to_the_bound() -> None:
    goal = "spare Egg 3 goal many: count(e for e: Egg) >= 3"
    found = verdict(EGGS + world(goal))
    assert (found.answer, found.ticks) == ("winnable", 3)


def test_running_into_the_bound_is_unknown_and_says_how_many() -> None:
    goal = "spare Egg 2 goal many: count(e for e: Egg) >= 3"
    found = verdict(EGGS + world(goal))
    assert found.answer == "unknown"
    (note,) = (note for note in found.notes if note.code == "TW0802")
    assert "more than 2 spare `Egg`" in note.message
    assert note.span is not None


def test_a_bound_counts_subtypes() -> None:
    rules = EGGS.replace("create e: Egg", "create e: Gold")
    found = verdict(rules + world("spare Egg 1 goal many: count(e for e: Gold) >= 2"))
    assert [note.code for note in found.notes if note.code == "TW0802"] == ["TW0802"]


def test_a_proof_within_the_bound_holds() -> None:
    rules = EGGS.replace(
        "action lay(k: Kind, n: Nest) {",
        """action lay(k: Kind, n: Nest) {
        require count(e for e: Egg) < 2 else full "Full." """,
    )
    found = verdict(rules + world("spare Egg 2 goal many: count(e for e: Egg) >= 3"))
    assert (found.answer, found.claim) == ("unwinnable", "exhausted")


# ---- keys --------------------------------------------------------------------------------------


def test_states_differ_by_what_lives_and_not_by_numbers() -> None:
    one = EngineSimulator(engine(EGGS + world("goal many: count(e for e: Egg) >= 9")))

    def after(*commands: str) -> object:
        state = one.start()
        for command in commands:
            (state,) = (
                successor.state
                for option in one.commands(state)
                if one.show(state, option) == command
                for successor in one.successors(state, option)
            )
        return one.key(state)

    plain, gold = "lay(plain, nest)", "lay(gold, nest)"
    assert after(plain, "eat(e_1)") == after("rest()")
    assert after(gold, plain, "eat(e_1)") == after(plain)
    assert after(plain) != after(gold)
    assert after(plain, gold) != after(gold, plain)  # rules may tell the first from the second


def test_creating_and_destroying_in_turn_comes_to_an_end() -> None:
    rules = EGGS.replace(
        "action lay(k: Kind, n: Nest) {",
        """action lay(k: Kind, n: Nest) {
        require count(e for e: Egg) < 2 else full "Full." """,
    )
    one = EngineSimulator(engine(rules + world("goal many: count(e for e: Egg) >= 3")))
    result = search(one, one.start(), None, Limits(states=1000))
    assert isinstance(result, Exhausted)
    assert result.states == 7  # none, one of 2, two of 2 each


def test_where_a_rule_reads_numbers_the_dead_count_too() -> None:
    goal = "goal high: any(id(e) > 5 for e: Egg)"
    assert verdict(EGGS + world(goal)).ticks == 6
    rules = EGGS.replace("{ create e: Egg", "{ require count(e for e: Egg) < 1  create e: Egg")
    found = verdict(rules + world(goal))
    assert (found.answer, found.ticks) == ("winnable", 11)  # five of six eggs are eaten


# ---- encodings -----------------------------------------------------------------------------------


def test_no_encoding_takes_creation_in_play() -> None:
    one = EngineSimulator(engine(EGGS + world("goal many: count(e for e: Egg) >= 1")))
    found = encode(one.instance, one, one.start(), None)
    assert isinstance(found, Unencodable)
    (obstacle,) = found.obstacles
    assert (obstacle.construct, obstacle.span.line) == ("`create`", 6)


def won(lines: str, rules: str = EGGS) -> list[str] | None:
    """The commands of a plan that was found on the encoding and replayed."""
    opened_world = opened(rules + world(lines))
    steps = solution(opened_world)
    return None if steps is None else [one.command.action for one in steps]


def test_spare_objects_are_encoded() -> None:
    assert won("spare Egg 3  goal many: count(e for e: Egg) >= 3") == ["lay"] * 3
    assert won("spare Egg 2  goal many: count(e for e: Egg) >= 3") is None


def test_rules_that_create_at_the_same_time_make_different_objects() -> None:
    made = "create a: Egg { }  create b: Egg { }  e.at = none"
    laws = f"law hatch(e: Egg) when e.at != none {{ {made} }}"
    many = "goal many: count(e for e: Egg) == 6 and any(e.kind == gold for e: Egg)"
    assert won(f"spare Egg 6  {many}", EGGS + laws) == ["lay", "lay"]
    assert won(f"spare Egg 5  {many}", EGGS + laws) is None


FARM = """edition 1
type Egg { size: 0 to 2  touched: bool }
function eaten(): 0 to 9 = 0
action lay(s: 0 to 2) { require not any(true for e: Egg)  create e: Egg { size = s } }
action touch(e: Egg) { require e.size == 2  e.touched = true }
action eat(e: Egg) { destroy e  eaten() += 1 }
"""


def test_an_object_that_is_made_again_holds_its_defaults() -> None:
    rules = FARM.replace("{ destroy e", "{ require e.touched  destroy e")
    goal = "goal g: eaten() == 1 and any(e.size == 2 and not e.touched for e: Egg)"
    found = solution(opened(f"{rules} world w {{ spare Egg 1  {goal} }}"))
    assert found is not None
    assert [one.command.action for one in found] == ["lay", "touch", "eat", "lay"]


def test_commands_name_objects_by_the_numbers_that_they_get_in_play() -> None:
    goal = "goal g: eaten() == 2 and any(e.touched for e: Egg)"
    found = solution(opened(f"{FARM} world w {{ spare Egg 1  {goal} }}"))
    assert found is not None
    named = [one.command.args for one in found if one.command.action != "lay"]
    assert named == [(0,), (1,), (2,)]  # two are eaten, the third is touched


def test_too_few_spare_objects_are_no_proof() -> None:
    one = EngineSimulator(engine(EGGS + world("spare Egg 2 goal many: count(e for e: Egg) >= 3")))
    found = plan_on(one, one.start(), None, "E", seconds=20)
    assert found.answer == "unknown"
    assert [(one.result, "spare" in one.detail) for one in found.attempts] == [("no proof", True)]


SETUP = """edition 1
type Egg { boiled: bool }
type Hero { }
actor me: Hero
action boil(e: Egg) { e.boiled = true }
action drop(e: Egg) { destroy e }
world w { setup { create hero: Hero { }  create a: Egg { }  create b: Egg { }  create c: Egg { } }
          goal done: all(e.boiled for e: Egg) and count(e for e: Egg) >= 3 and b.boiled }
"""


def test_encodings_start_from_the_objects_that_setups_made() -> None:
    one = EngineSimulator(engine(SETUP))
    start = one.start()
    instance = one.instance_at(start)
    assert (instance.names, instance.me) == (("hero", "a", "b", "c"), 0)
    found = encode(instance, one, start, None)
    assert isinstance(found, Encoding)
    assert not found.unreachable
    names = {operator.name.partition(" ")[2] for operator in found.task.operators}
    assert names >= {"boil(a)", "boil(b)", "boil(c)"}


def test_the_dead_are_in_no_instance() -> None:
    one = EngineSimulator(engine(SETUP))
    start = one.start()
    drop = next(c for c in one.commands(start) if one.show(start, c) == "drop(b)")
    later = one.successors(start, drop)[0].state
    instance = one.instance_at(later)
    assert instance.members["Egg"] == (1, 3)
    found = encode(instance, one, later, None)
    assert isinstance(found, Encoding)
    assert found.unreachable


def test_an_unchanged_population_needs_no_other_instance() -> None:
    text = SETUP.replace("setup { create hero: Hero { }  create a: Egg { }  create b: Egg { }  "
                         "create c: Egg { } }", "object hero: Hero object b: Egg")  # fmt: skip
    one = EngineSimulator(engine(text))
    assert one.instance_at(one.start()) is one.instance


# ---- commands that name what does not exist ----------------------------------------------------

NEST = """edition 1
type Nest { fed: bool = false }
type Egg { }
object hen: Nest
object old: Egg
action lay() { chance 1 / 4 { create e: Egg { } } }
action drop(e: Egg) { chance 1 / 4 { destroy e } }
action eat(e: Egg) { require e != old else "The old egg is rotten."  hen.fed = true }
action show(e: Egg) { hen.fed = true }
world w { spare Egg 1  goal fed: hen.fed }
"""


def test_a_plan_counts_on_the_draw_that_creates_what_it_names() -> None:
    found = verdict(NEST.replace("action show(e: Egg) { hen.fed = true }", ""))
    assert found.answer == "winnable"
    assert [len(step.draws) for step in found.steps] == [1, 0]


def test_a_step_that_names_a_destroyed_object_fails() -> None:
    one = EngineSimulator(engine(NEST))
    old = [thing.name for thing in one.instance.objects].index("old")
    drop, show = Command("drop", (old,)), Command("show", (old,))
    gone, stays = (after.draws for after in one.successors(one.start(), drop))
    kept = replay(one, one.start(), (PlanStep(drop, stays), PlanStep(show)), None)
    assert kept.ok
    lost = replay(one, one.start(), (PlanStep(drop, gone), PlanStep(show)), None)
    assert (lost.failed, lost.reason) == (1, "`show` names an object that does not exist then")
    assert needed_luck(one, kept, None)[0].draws == stays
