"""Own search, Fast Downward on E, SymK and unified-planning agree on random worlds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import planning_up
from benchmarks.planning_differential import (
    SEEDS,
    Ask,
    asked,
    campaign,
    installed,
    main,
    shrunk,
)
from benchmarks.planning_opinions import Compared, Left
from benchmarks.planning_record import OtherEditionError, load, save
from benchmarks.planning_worlds import Drawn, draw, opened
from tokenworld.planning import task as sas
from tokenworld.planning.lower.world import Commanded
from tokenworld.planning.pddl.export import PddlExport
from tokenworld.planning.search.interpreted import Exhausted, Found, Limits, Search
from tokenworld.planning.task import Effect

ENGINES = installed() if find_spec("unified_planning") is not None else None
FIRST = 7 * SEEDS
needs_planners = pytest.mark.skipif(ENGINES is None, reason="extras")


def ask(*, symk: bool = True) -> Ask:
    assert ENGINES is not None
    return asked(ENGINES if symk else replace(ENGINES, symk=None))


@needs_planners
@pytest.mark.planner
@pytest.mark.parametrize("part", range(6))
def test_all_agree(part: int) -> None:
    report = campaign(10, FIRST + 1_000 * part, ask(symk=part < 2))
    assert report.found is None, report.found
    assert report.worlds == 10
    assert min(report.verdicts["winnable"], report.verdicts["unwinnable"]) >= 1
    assert report.said["E symk", "plan"] == report.verdicts["winnable"] * (part < 2)
    assert report.said["E blind", "no plan"] == report.verdicts["unwinnable"]


@needs_planners
@pytest.mark.planner
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_all_agree_on_many(part: int) -> None:
    report = campaign(30, FIRST + 100_000 + 1_000 * part, ask())
    assert report.found is None, report.found
    assert report.stepped["plans"] >= 2
    assert min(report.verdicts["winnable"], report.verdicts["unwinnable"]) >= 5


# ---- mistakes are noticed ------------------------------------------------------------------------

# Won only by whoever forgets a require: `strike` needs what it then cannot get rid of.
REQUIRES = """
type T { lit: bool = false  open: bool = false }
action unlock(t: T) { t.open = true }
action strike(t: T) { require t.open  t.lit = true }
world w { object o: T  goal g: o.lit and not o.open }
"""
# `n >= 1` is a set of values, which a variable of its own watches.
WATCHED = """
type T { n: 0 to 3 = 0  b: bool = false  c: bool = false }
action rise(t: T) { t.n += 1 }
action some(t: T) { require t.n >= 1  t.b = true }
action two(t: T) { require t.n == 2  t.c = true }
world w { object o: T  goal g: o.b and o.c }
"""
LIFTED = """
type T { b: bool = false  c: bool = false }
action begin(t: T) { t.b = true }
action finish(t: T) { require t.b  t.c = true }
world w { object o: T  goal g: o.c }
"""


# What `reach` asks is a derived predicate, which unified-planning's reader does not know.
CLOSED = """
type T { b: bool = false }
relation r(x: T, y: T) closure reach
action link(x: T, y: T) { require x != y  add r(x, y) }
action light(x: T, y: T) { require y in x.reach and not r(x, y)  y.b = true }
world w { object o, m, e: T  goal g: e.b }
"""


def forget_requires(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Commanded, "requires", lambda self: self._world.diagrams.true)


def forget_watchers(patch: pytest.MonkeyPatch) -> None:
    def alone(self: Any, effect: Effect, known: object) -> Iterator[Effect]:
        yield replace(effect, conditions=self.literals(effect.conditions))

    patch.setattr(sas._Watched, "_effects", alone)


def forget_an_effect(patch: pytest.MonkeyPatch) -> None:
    read_pair = planning_up.read_pair

    def forgetful(export: PddlExport) -> Any:
        domain = export.pair.domain
        first, *others = domain.actions
        actions = (replace(first, effects=first.effects[1:]), *others)
        domain = replace(domain, actions=actions)
        return read_pair(replace(export, pair=replace(export.pair, domain=domain)))

    patch.setattr(planning_up, "read_pair", forgetful)


@needs_planners
@pytest.mark.planner
@pytest.mark.parametrize(
    ("mistake", "text", "about"),
    [
        (forget_requires, REQUIRES, "verdict: E"),
        (forget_watchers, WATCHED, "verdict: E"),
        (forget_an_effect, LIFTED, "unified-planning: plan of E"),
    ],
)
def test_a_mistake_is_noticed(
    mistake: Any, text: str, about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = ask(symk=False)(Drawn(text, "g"))
    assert isinstance(sound, Compared)
    assert not sound.disagreement
    assert bool(sound.stepped["plans"]) == sound.winnable
    mistake(monkeypatch)
    wrong = ask(symk=False)(Drawn(text, "g"))
    assert isinstance(wrong, Compared)
    assert wrong.disagreement.startswith(about)


# ---- the campaign itself -------------------------------------------------------------------------


def blames(word: str) -> Ask:
    """An opinion that is wrong wherever a word stands in the text."""

    def wrong(drawn: Drawn) -> Compared | Left:
        if opened(drawn.text) is None:
            return Left("the world does not start")
        return Compared(True, disagreement="replay: wrong" if word in drawn.text else "")

    return wrong


def test_the_same_number_draws_the_same_world() -> None:
    drawn = [draw(number) for number in range(FIRST + 10, FIRST + 20)]
    assert drawn == [draw(number) for number in range(FIRST + 10, FIRST + 20)]
    assert any(drawn)
    assert all(opened(one.text) is not None for one in drawn if one is not None)


def test_most_worlds_take_some_thought() -> None:
    """Half of the goals that can be reached are four ticks away, and there is something to see."""
    ticks, states = [], []
    for number in range(FIRST, FIRST + 150):
        drawn = draw(number)
        world = None if drawn is None else opened(drawn.text)
        if drawn is None or world is None:
            continue
        found = Search(world.simulator, world.state, drawn.goal).run(Limits())
        match found:
            case Found(steps=steps):
                ticks.append(len(steps))
            case Exhausted(states=count):
                states.append(count)
    assert len(ticks) >= 5
    assert len(states) >= 5
    assert 5 * sum(one >= 4 for one in ticks) >= 2 * len(ticks)
    assert sorted(states)[len(states) // 4] >= 20


@needs_planners
@pytest.mark.planner
def test_unified_planning_gets_the_grounded_pair_where_it_cannot_read_the_lifted_one() -> None:
    found = ask(symk=False)(Drawn(CLOSED, "g"))
    assert isinstance(found, Compared)
    assert not found.disagreement
    assert found.stepped["worlds, grounded"] == 1
    assert found.stepped["plans"] >= 1
    assert [name for name in found.stepped if "derived predicates" in name]


def test_the_first_disagreement_ends_the_campaign_and_is_shrunk() -> None:
    report = campaign(20, FIRST, blames("actor me"))
    assert report.found is not None
    _, drawn, disagreement = report.found
    less = shrunk(drawn, disagreement, blames("actor me"))
    assert len(less.text.splitlines()) <= 12
    assert "actor me: Hero" in less.text
    assert "disagreements: 1" in list(report.lines())


def test_what_is_not_compared_is_counted_with_its_reason() -> None:
    answers = iter([Left("too hard"), Compared(winnable=False, size=7, said={"E ff": "no plan"})])
    report = campaign(1, FIRST, lambda drawn: next(answers))
    assert (report.worlds, report.left["too hard"]) == (1, 1)
    assert report.drawn == 1 + sum(report.left.values())
    lines = list(report.lines())
    assert "  unwinnable worlds by reachable states, in quarters: 7 7 7 7 7" in lines
    assert "  left out: 1 too hard" in lines
    assert "  E ff: 1 no plan" in lines
    assert "disagreements: 0" in lines


def test_a_campaign_goes_on_where_another_ended() -> None:
    report = campaign(1, FIRST, blames("no such word"), seconds=0)
    assert (report.worlds, report.next_seed) == (0, FIRST)


def test_portions_add_up_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.planning_differential.draw", lambda number: Drawn(LIFTED, "g"))
    record = tmp_path / "record.json"
    answers = [Left("too hard"), *(Compared(one < 2, one, {"E ff": "plan"}) for one in range(4))]
    at_once, in_portions = iter(answers), iter(answers)
    whole = campaign(4, FIRST, lambda drawn: next(at_once))
    save(record, campaign(2, FIRST, lambda drawn: next(in_portions)))
    both = campaign(4, 0, lambda drawn: next(in_portions), before=load(record))
    assert replace(both, seconds=whole.seconds) == whole
    assert (both.worlds, both.next_seed) == (4, FIRST + 5)
    assert (both.left["too hard"], both.said["E ff", "plan"], both.lengths[1]) == (1, 4, 1)
    record.write_text(record.read_text().replace('"generator": ', '"generator": 1'))
    with pytest.raises(OtherEditionError):
        load(record)


def test_a_missing_planner_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.planning_differential.installed", lambda: None)
    assert main(["--n", "1"]) == 2
    assert "tw doctor" in capsys.readouterr().err
