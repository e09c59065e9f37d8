"""The benchmark harness: no time without equal digests, and every failure by its name."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.chart import Line, chart
from benchmarks.growth import measured, village
from benchmarks.peers import results, worker
from benchmarks.peers.alone import Alone, measured_alone
from benchmarks.peers.catalogue import PEERS, Match, Peer, Places, matches
from benchmarks.peers.duel import Measured, Question, ask_in_turns
from benchmarks.peers.environments import Environment
from benchmarks.peers.traces import PROBLEMS, toy_actions
from benchmarks.peers.worker import PeerError, Worker

ROOT = Path(__file__).parents[1]
HERE = Path(sys.executable)

PEER = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    match asked["op"]:
        case "crash": sys.exit("out of luck")
        case "wait":
            while True: pass
        case "refuse": answer = {"error": "no such thing"}
        case "load": answer = {"digest": "x", "stores": "nothing", "seconds": 0.0}
        case "walk": answer = {"digest": asked["args"]["digest"], "seconds": SECONDS}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two made-up peers: the second takes four times as long."""
    for name, seconds in (("quick", 0.5), ("slow", 2.0)):
        text = PEER.replace("SECONDS", str(seconds))
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(worker, "_ADAPTERS", tmp_path)
    return tmp_path


def asked(digest: str, op: str = "walk", goal: str = "") -> Question:
    return Question(goal, "walking", "a way", "step", op, {"digest": digest})


def duel(question: Question, rounds: int = 3) -> Measured:
    with Worker(HERE, "quick", 20) as own, Worker(HERE, "slow", 20) as other:
        return ask_in_turns(own, other, question, rounds)


# ---- two sides ------------------------------------------------------------------------------


def test_a_ratio_is_their_time_in_ours(adapters: Path) -> None:
    found = duel(asked("same"))
    assert found.ratios == (4.0, 4.0, 4.0)
    assert found.ratio == 4.0


def test_different_results_have_no_time(adapters: Path) -> None:
    text = (adapters / "slow.py").read_text(encoding="utf-8")
    text = text.replace('asked["args"]["digest"]', '"another"')
    (adapters / "slow.py").write_text(text, encoding="utf-8")
    found = duel(asked("same"))
    assert found.failed == "results differ: ours same, theirs another; no time counts"
    assert found.ratios == ()


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ("crash", "out of luck"),
        ("refuse", "no such thing"),
        ("wait", "no answer within 1 s of CPU time"),
    ],
)
def test_a_peer_that_fails_is_named(adapters: Path, op: str, told: str) -> None:
    with Worker(HERE, "slow", 1) as other:
        with pytest.raises(PeerError, match=told):
            other.ask(op)
        assert other.alive is (op == "refuse")


# ---- our side -------------------------------------------------------------------------------

DOMAIN = """
(define (domain rooms) (:requirements :strips)
 (:predicates (in ?r) (door ?a ?b))
 (:action go :parameters (?a ?b) :precondition (and (in ?a) (door ?a ?b))
  :effect (and (in ?b) (not (in ?a)))))
"""
PROBLEM = """
(define (problem three) (:domain rooms) (:objects Hall attic cellar)
 (:init (in hall) (door hall attic) (door attic cellar) (door cellar hall) (door attic hall))
 (:goal (in cellar)))
"""


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[tuple[Worker, dict[str, str]]]:
    """Our adapter with three rooms loaded, and their files."""
    pair = {"domain": tmp_path / "domain.pddl", "problem": tmp_path / "problem.pddl"}
    for path, text in zip(pair.values(), (DOMAIN, PROBLEM), strict=True):
        path.write_text(text, encoding="utf-8")
    files = {name: str(path) for name, path in pair.items()}
    with Worker(HERE, "ours", 60) as own:
        own.ask("load", **files)
        yield own, files


def digest(*rows: str) -> str:
    return hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()[:16]


def test_digests_are_of_facts_that_change(ours: tuple[Worker, dict[str, str]]) -> None:
    own, files = ours
    trace = ["go hall attic", "go attic cellar"]
    walked = own.ask("walk", trace=trace, budget=0.0)
    assert walked["digest"] == digest("in hall", "in cellar")
    assert walked["seconds"] > 0
    listed = own.ask("enumerate", trace=trace, every=1, budget=0.0)
    lists = ("go hall attic", "go attic cellar\ngo attic hall", "go cellar hall")
    assert (listed["digest"], listed["count"]) == (digest(*lists), 4 / 3)
    probed = own.ask("probe", trace=trace[:1], asked=trace, budget=0.0)
    assert probed["digest"] == digest("1", "0", "0", "1")
    assert own.ask("explore", **files)["digest"] == "3"


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_the_compiled_explorer_counts_the_steps(ours: tuple[Worker, dict[str, str]]) -> None:
    own, files = ours
    assert own.ask("solve", **files)["digest"] == "2"


def test_a_trace_that_is_not_possible_is_told(ours: tuple[Worker, dict[str, str]]) -> None:
    with pytest.raises(PeerError, match="not applicable: go hall cellar"):
        ours[0].ask("walk", trace=["go hall cellar"], budget=0.0)


# ---- the report -----------------------------------------------------------------------------


def test_the_page_tells_goals_failures_and_what_is_stored(
    adapters: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = Peer("slowpoke", (), "slow", "made up", ours="quick")
    questions = (asked("same", goal="P1 100x"), asked("same", "crash"), asked("same", goal="P2 2x"))
    found = (Match("a way", {"world": "w"}, questions), Match("b", {}, (), "nothing there"))
    monkeypatch.setattr(results, "PEERS", (peer,))
    monkeypatch.setattr(results, "matches", lambda peer, places: found)
    monkeypatch.setattr(results, "prepared", lambda *_: Environment(HERE, "slowpoke 1.0"))
    alone = (Alone("P13", "starting", 1.0, (0.2, 0.5, 3.0)), Alone("P14", "edits", 0.02, (0.03,)))
    monkeypatch.setattr(results, "measured_alone", lambda rounds: alone)
    target = tmp_path / "RESULTS.md"
    options = results.Options((), Places(None, None), 2, 20.0, "python -m benchmarks", target)
    lines = list(results.report(options))
    page = target.read_text(encoding="utf-8")
    assert "a way: walking: 4x (4x to 4x)" in lines
    assert "| P1 | slowpoke | walking | 100x | 4x | 1 | missed |" in page
    assert "| P2 | slowpoke | walking | 2x | – | 0 | not measured |" in page
    assert "not asked after that" in page
    assert "- b: left out, nothing there." in page
    assert "- theirs stores nothing." in page
    assert "| P13 | starting | at most 1 s | 500 ms | 200 ms to 3 s | met |" in page
    assert "| P14 | edits | at most 20 ms | 30 ms | 30 ms to 30 ms | missed |" in page


def test_a_world_starts_in_a_process_of_its_own() -> None:
    first = next(measured_alone(2))
    assert (first.goal, len(first.rounds)) == ("P13", 2)
    assert all(seconds > 0 for seconds in first.rounds)


def test_data_that_is_absent_is_a_reason() -> None:
    for peer in PEERS:
        found = list(matches(peer, Places(None, None)))
        assert found
        assert all(one.missing or one.questions for one in found)
    assert {len(toy_actions(6)), max(toy_actions(6))} == {300, 5}


def test_traces_are_kept_with_the_project() -> None:
    for problem in PROBLEMS:
        file = ROOT / "benchmarks" / "peers" / "traces" / f"{problem.replace('/', '-')}.txt"
        assert len(file.read_text(encoding="utf-8").splitlines()) == 60


# ---- growth ---------------------------------------------------------------------------------


def test_a_village_of_any_size_offers_the_same() -> None:
    small, large = measured(10), measured(300)
    assert small["legal_actions"] == large["legal_actions"] == 9
    assert [village(size).count("lit = true }") for size in (10, 300)] == [9, 9]


def test_a_chart_is_well_formed_and_names_its_lines() -> None:
    lines = [Line("a & b", [(10, 0.5), (1000, 20)]), Line("c", [(10, 0.5), (1000, 20)])]
    root: Any = ElementTree.fromstring(chart("Growth", "objects", "ms", lines))
    texts = ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("text")]
    assert {"a & b", "c", "1,000", "0.1"} <= set(texts)
    heights = [one.get("y") for one in root.iter() if one.text in ("a & b", "c")]
    assert len(set(heights)) == 2
