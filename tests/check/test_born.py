"""`born(x)`: the tick in which an object was created (language.md §19)."""

from __future__ import annotations

from pathlib import Path

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.ground import Json
from tokenworld.model import Program
from tokenworld.session.loading import load_program, open_text
from tokenworld.session.scenarios import run_scenario
from tokenworld.session.session import Session
from tokenworld.verbs.fuzz.playing import first_difference

GARDEN = """
type Spot
type Plant { grown: 0 to 9 clamped }
type Fern : Plant { at: Spot? }
action plant() as "plant" { create p: Fern }
action cut(p: Plant) as "cut {p}" {
  require born(p) >= 0 else old "{The p} was here before."
  destroy p
}
phase growing sequentially
law grow(p: Plant) during growing when born(p) != tick() { p.grown += 1 }
birth f: Fern { say "Planted in tick {born(f)}." }
world w {
  object oak: Plant
  layout Spot { "f"  legend "f" { create fern: Fern { at = here } } }
  setup { create elm: Plant }
  goal tall: any(born(p) >= 0 and p.grown > 3 for p: Plant)
}
"""


def program(text: str) -> Program:
    found = check_source(Source("t.tw", None, text)).program
    assert found is not None
    return found


def births(session: Session) -> dict[str, Json]:
    objects = session.state_json()["objects"]
    return {one["name"]: one["attrs"].get("born") for one in objects}


def test_states_carry_it_where_a_rule_reads_it() -> None:
    session = Session(open_text((Source("t.tw", None, GARDEN),), "w"))
    before = {"oak": -1, "fern": -1, "elm": -1, "spot_0_0": None}
    assert births(session) == before
    for tick in range(2):
        (planted,) = session.intend("plant")
        assert planted.said == (f"Planted in tick {tick}.",)
    assert births(session) == {**before, "p_4": 0, "p_5": 1}
    (cut,) = session.intend("cut oak")
    assert cut.refusal is not None
    assert cut.refusal.label == "old"
    assert {one["attrs"].get("grown") for one in session.state_json()["objects"]} == {2, 1, 0, None}


def test_it_is_part_of_the_hash() -> None:
    read, unread = (
        Session(open_text((Source("t.tw", None, text),), "w"))
        for text in (GARDEN, GARDEN.replace("when born(p) != tick()", "when id(p) != tick()"))
    )
    hashes = [[one.intend("plant")[-1].hash_after for _ in range(2)] for one in (read, unread)]
    assert hashes[0] != hashes[1]


def test_evaluators_and_searches_agree() -> None:
    done = [{"action": "plant", "args": {}}, {"action": "cut", "args": {"p": "oak"}}]
    assert first_difference(GARDEN, [*done, *done, *done], 0) is None
    plan = Session(open_text((Source("t.tw", None, GARDEN),), "w")).plan()
    assert (plan.answer, plan.ticks) == ("winnable", 5)


def test_only_types_that_are_asked_about_carry_it() -> None:
    found = program(GARDEN)
    assert [one.id for one in found.fluents.values() if one.name == "born"] == ["Plant.born"]
    some = "type A\ntype B\ntype C : A, B\nderive d(a: A, b: B) = born(a) < born(b)\n"
    assert [one.id for one in program(some).fluents.values()] == ["Object.born"]
    assert "Object.born" in program(some).types["C"].attributes
    assert not program("type A\nderive d() = tick() > 3  # born").fluents


def test_what_a_given_creates_counts_as_there_before(tmp_path: Path) -> None:
    steps = "given { create f: Fern } when pass then last(f.grown for f: Fern) == 1"
    (tmp_path / "t.tw").write_text(f'{GARDEN}scenario "s" in w {{ {steps} }}')
    loaded = load_program(tmp_path / "t.tw")
    assert run_scenario(loaded, loaded.program.scenarios[0]).ok


def test_an_attribute_of_that_name_comes_first() -> None:
    text = "type P { born: 0 to 9 = 3 }\nderive old(p: P) = born(p) > 2 and p.born > 1\n"
    assert [one.id for one in program(text).fluents.values()] == ["P.born"]
    assert program(text).fluents["P.born"].default is not None
