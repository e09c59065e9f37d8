"""The false-accept corpus: good worlds are accepted, those with a planted error are refused.

`corpus/` has worlds with their contracts, `planted.toml` semantic errors: the boundary of a number
that no scenario tests may get through, so that a twentieth may.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.judge.conftest import CORPUS, QUICK, judged
from tokenworld.diagnostics import read_source
from tokenworld.session.loading import load_program
from tokenworld.verbs.judge.contract import Budget, Contract, read_contract
from tokenworld.verbs.judge.findings import Finding
from tokenworld.verbs.judge.judging import judge, judge_loaded
from tokenworld.verbs.mutate import mutants, sampled

WORLDS = sorted(CORPUS.glob("*.tw"))
PLANTED = tomllib.loads((CORPUS.parent / "planted.toml").read_text(encoding="utf-8"))["planted"]


def contract_of(name: str) -> Contract:
    return read_contract(str(CORPUS / f"{name}.json"))


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.stem)
def test_a_good_world_is_accepted(path: Path) -> None:
    found = judge(read_source(path), contract_of(path.stem), Budget(mutants=25))
    assert found.status == "accepted", [one.found for one in found.findings if one.is_error]


def test_a_planted_error_is_refused() -> None:
    one = PLANTED[0]
    text = (CORPUS / f"{one['world']}.tw").read_text(encoding="utf-8")
    assert text.count(one["old"]) == 1
    changed = text.replace(one["old"], one["new"])
    assert judged(changed, contract_of(one["world"])).status == "refused"


@pytest.mark.slow
def test_worlds_with_a_planted_error_are_refused() -> None:
    assert len(WORLDS) >= 12
    assert len(PLANTED) >= 40
    accepted = []
    for one in PLANTED:
        text = (CORPUS / f"{one['world']}.tw").read_text(encoding="utf-8")
        assert text.count(one["old"]) == 1, one
        changed = text.replace(one["old"], one["new"])
        if judged(changed, contract_of(one["world"])).status != "refused":
            accepted.append((one["world"], one["error"]))
    assert len(accepted) <= 0.05 * len(PLANTED), accepted


def told(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    return {(one.code, one.found.message) for one in findings}


@pytest.mark.slow
def test_mutants_of_good_worlds_draw_a_finding() -> None:
    number = silent = 0
    for path in WORLDS:
        source, loaded, contract = read_source(path), load_program(path), contract_of(path.stem)
        usual = told(judge_loaded(source, loaded, contract, QUICK).findings)
        for mutant in sampled(list(mutants(loaded.program)), 3, seed=1):
            changed = replace(loaded, program=mutant.program)
            found = judge_loaded(source, changed, contract, QUICK).findings
            number, silent = number + 1, silent + (told(found) <= usual)
    assert number >= 30
    assert silent <= 0.1 * number
