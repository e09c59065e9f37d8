"""`tw rules`, `tw graph`, `tw grammar` and `tw explain --stages FILE:rule`."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session.loading import Loaded, load_program, split_target
from tokenworld.verbs.explain import explain_stages, rule_stages
from tokenworld.verbs.grammars.verb import grammar
from tokenworld.verbs.output import Output
from tokenworld.verbs.reading import graph, rules


def cellar() -> Loaded:
    return load_program(split_target("cellar")[0])


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules("cellar", Output(as_json=True)) == 0
    found = answer(capsys)
    titles = [section["title"] for section in found["sections"]]  # type: ignore[attr-defined]
    assert "What can be done" in titles
    assert "The world “The Cellar”" in titles


def edges(capsys: pytest.CaptureFixture[str]) -> set[tuple[str, str, str]]:
    found = answer(capsys)["edges"]
    return {(one["from"], one["kind"], one["to"]) for one in found}  # type: ignore[attr-defined]


def test_what_unlocks_enables_what_opens(capsys: pytest.CaptureFixture[str]) -> None:
    assert graph("cellar", Output(as_json=True), form="mermaid", rule=None) == 0
    found = edges(capsys)
    assert ("action unlock", "enables", "action open") in found
    assert ("action unlock", "blocks", "action open") not in found
    assert ("action unlock", "blocks", "action unlock") in found
    assert ("action take", "enables", "goal rich") in found


def test_laws_feed_and_hinder(capsys: pytest.CaptureFixture[str]) -> None:
    graph("kitchen", Output(as_json=True), form="mermaid", rule=None)
    found = edges(capsys)
    assert ("action turn", "feeds", "law fill") in found
    assert ("law warm", "enables", "law cook") in found
    assert ("law cook", "enables", "goal cooked") in found
    assert ("law cook", "blocks", "goal cooked") not in found


def test_one_rule_with_its_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    graph("cellar", Output(), form="dot", rule="unlock")
    text = capsys.readouterr().out
    assert text.startswith("digraph rules {")
    assert "goal rich" not in text


def test_two_rules_have_one_arrow_and_a_legend_shows_the_kinds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    graph("cellar", Output(), form="mermaid", rule=None)
    text = capsys.readouterr().out
    arrows = re.findall(r"^  (n\d+) \S+\|.*\| (n\d+)$", text, re.M)
    assert len(arrows) == len(set(arrows)) > 5
    assert '|"enables, blocks: Thing.holder, Thing.at"|' in text
    assert all(f'|"{kind}"|' in text for kind in ("enables", "feeds", "blocks"))


def test_graphviz_draws_it_and_is_named_where_it_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("dot") is not None:
        graph("cellar", Output(), form="svg", rule=None)
        assert "action unlock" in capsys.readouterr().out.partition("<svg")[2]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Failure) as failure:
        graph("cellar", Output(), form="svg", rule=None)
    assert failure.value.diagnostics[0].code == "TW0811"


def test_no_such_rule() -> None:
    with pytest.raises(Failure) as failure:
        graph("cellar", Output(), form="mermaid", rule="unlok")
    assert failure.value.diagnostics[0].code == "TW0005"
    assert "unlock" in (failure.value.diagnostics[0].hint or "")


def test_the_grammars(capsys: pytest.CaptureFixture[str]) -> None:
    grammar(Output(), dialect="lark")
    plain = capsys.readouterr().out
    grammar(Output(), dialect="llguidance")
    assert capsys.readouterr().out != plain
    grammar(Output(), dialect="llguidance", world="cellar")
    assert "oak_chest" in capsys.readouterr().out


def test_every_stage_of_an_action() -> None:
    stages = {stage.name: stage.text for stage in rule_stages(cellar(), "cellar", "take")}
    names = ["source", "tree", "model", "core", "stepper", "operators", "pddl", "english"]
    assert list(stages) == names
    assert stages["source"].startswith("action take(it: Thing)")
    assert "Require" in stages["tree"]
    assert "fluent='Thing.holder'" in stages["model"]
    assert "]: Thing.at(self)\n" in stages["stepper"]
    assert "\ndef ok_take_" in stages["stepper"]
    assert "def run_take_" in stages["stepper"]
    assert "D.log(" in stages["stepper"]
    assert stages["operators"].startswith("take(ruby)\n  if at(ruby) = stairs\n")
    assert "\n  holder(ruby) := hero\n" in stages["operators"]
    assert stages["pddl"].startswith("(:action take")
    assert "too heavy to lift" in stages["english"]


def test_every_stage_of_a_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain_stages("kitchen:warm", Output(as_json=True)) == 0
    found = answer(capsys)["rule"]
    assert "boil rate" in found["english"]  # type: ignore[index]


STAGES = {
    "kitchen:cook": {  # a law: the operator and the PDDL action of its phase
        "core": "when and(Pea.in_pot(x) == p,", "stepper": "def turn_cook_",
        "operators": "phase cooking\n  if turn = phase cooking\n",
        "pddl": "(increase (doneness ?x) 1)",
    },
    "frozen_lake:move": {  # chance: one operator for each outcome
        "core": "let way = pick(way: Direction where ", "stepper": " = D.even(len(",
        "operators": "\n; … and 11 more", "pddl": "(:action move-o1",
    },
    "cottage:rest": {  # a long action
        "core": "takes 4\nuntil 90 <= Hero.energy(me)\n", "stepper": "def cancel_rest_",
        "operators": "\n  long := none\n", "pddl": "(:action rest",
    },
    "cottage:clear_up": {  # a law that draws: the operators of its outcomes
        "core": "let `0 = branch(10)\n", "stepper": " = D.branch(",
        "operators": "draw law clear_up 0: 1\n  if turn = draw law clear_up 0\n",
        "pddl": "(:action draw-law-clear_up-0-1\n",
    },
    "dishwasher:cycle": {  # objects are destroyed
        "core": "\n        destroy s\n", "stepper": "D.destroy(",
        "operators": "; phase `ticks` by nesting: ", "pddl": "; PDDL has no exact form for phase ",
    },
    "willowbrook:fox": {  # derived predicates, an enum, several actors
        "core": "sky() == Sky[5]", "stepper": "# S[115]: quarter()\n",
        "operators": "; `turns` of several actors: a plan has one actor",
        "pddl": "; PDDL has no exact form for `turns` of several actors",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [pytest.param(one, marks=pytest.mark.slow) if "cottage" in one else one for one in STAGES],
)
def test_the_stages_of_bundled_worlds(target: str) -> None:
    path, rule = target.split(":")
    loaded = load_program(split_target(path)[0])
    stages = {stage.name: stage.text for stage in rule_stages(loaded, path, rule)}
    for name, part in STAGES[target].items():
        assert part in stages[name], stages[name]


def test_stages_of_an_unknown_rule() -> None:
    with pytest.raises(Failure) as failure:
        rule_stages(cellar(), "cellar", "tak")
    assert "take" in (failure.value.diagnostics[0].hint or "")
