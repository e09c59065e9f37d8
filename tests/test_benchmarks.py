"""The benchmark harness: no time without equal digests, and every failure by its name."""

from __future__ import annotations

import ast
import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import coverage
from benchmarks.__main__ import main
from benchmarks.chart import Line, chart
from benchmarks.editing import OF_ALL, editing
from benchmarks.growth import measured
from benchmarks.peers import environments, worker
from benchmarks.peers.duel import Question, ask_in_turns
from benchmarks.peers.environments import Environment, SetupError
from benchmarks.peers.traces import PROBLEMS, trace_of
from benchmarks.peers.worker import PeerError, Worker
from benchmarks.speed import environments as v3
from benchmarks.speed import report
from benchmarks.speed.figures import Figure, Goal, Sample, at_least, at_most, merged
from benchmarks.speed.options import Options
from benchmarks.speed.page import line, page
from benchmarks.speed.translating import problems
from benchmarks.village import village

ROOT = Path(__file__).parents[1]
HERE = Environment(Path(sys.executable))

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


def asked(digest: str, op: str = "walk") -> Question:
    return Question("a way", "per step", op, {"digest": digest})


def duel(question: Question, rounds: int = 3) -> Sample:
    with Worker(HERE, "quick", 20) as own, Worker(HERE, "slow", 20) as other:
        return ask_in_turns(own, other, question, rounds)


# ---- two sides ------------------------------------------------------------------------------


def test_a_speed_is_their_time_in_ours_and_a_cost_ours_in_theirs(adapters: Path) -> None:
    found = duel(asked("same"))
    assert found.values(at_least(1)) == (4.0, 4.0, 4.0)
    assert found.values(at_most(1)) == (0.25, 0.25, 0.25)


def test_different_results_have_no_time(adapters: Path) -> None:
    text = (adapters / "slow.py").read_text(encoding="utf-8")
    text = text.replace('asked["args"]["digest"]', '"another"')
    (adapters / "slow.py").write_text(text, encoding="utf-8")
    found = duel(asked("same"))
    assert found.failed == "results differ: ours same, theirs another; no time counts"
    assert (found.ours, found.theirs) == ((), ())


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
    if op != "wait":
        assert duel(asked("same", op)).failed == f"ours: {told}"


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
 (:goal (and (in hall) (in cellar))))
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Three rooms, as a domain and a problem."""
    pair = {"domain": tmp_path / "domain.pddl", "problem": tmp_path / "problem.pddl"}
    for path, text in zip(pair.values(), (DOMAIN, PROBLEM), strict=True):
        path.write_text(text, encoding="utf-8")
    return {name: str(path) for name, path in pair.items()}


def digest(*rows: str) -> str:
    return hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()[:16]


def test_steps_and_lists_are_told_by_facts_and_names(files: dict[str, str]) -> None:
    trace = ["go hall attic", "go attic cellar"]
    with Worker(HERE, "ours_steps", 60) as own:
        assert own.ask("load", **files)["digest"] == digest("in hall")
        walked = own.ask("walk", trace=trace, warm=1)
        assert walked["digest"] == digest("in cellar")
        assert walked["seconds"] > 0
        listed = own.ask("enumerate", trace=trace, warm=0, every=1)
        lists = (["go attic cellar", "go attic hall"], ["go cellar hall"])
        assert (listed["digest"], listed["count"]) == (digest(*map(str, lists)), 1.5)
        with pytest.raises(PeerError, match="not applicable: go Hall cellar"):
            own.ask("walk", trace=["go hall cellar"], warm=0)


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_the_explorer_and_the_encoding_tell_what_they_found(files: dict[str, str]) -> None:
    with Worker(HERE, "ours_tasks", 60) as own:
        assert own.ask("layers", **files, depth=2)["digest"] == "1 2 3"
        assert own.ask("translate", **files)["count"] == 4


def test_both_programs_play_the_same_trace() -> None:
    target = str(ROOT / "domains" / "blocks" / "world.tw")
    with Worker(HERE, "ours_session", 60) as own, Worker(HERE, "ours_session", 60) as other:
        own.ask("load", target=target)
        traces = own.ask("draw", ticks=4, count=2)["traces"]
        assert [len(one) for one in traces] == [4, 4]
        for side in (own, other):
            side.ask("load", target=target, traces=traces)
        for op in ("intend", "legal"):
            first, second = (side.ask(op, number=0) for side in (own, other))
            assert first["digest"] == second["digest"] != own.ask(op, number=1)["digest"]


# ---- environments of the peers --------------------------------------------------------------


def test_what_is_missing_is_told_with_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TW_PEERS", str(tmp_path))
    found = [one for name in ("V2", "V3", "V4", "V5", "V6", "V7", "V9") for one in figures(name)]
    assert {one.verdict for one in found} == {"not measured"}
    told = " ".join(one.missing for one in found)
    assert "python -m benchmarks --peers token-world" in told
    assert "--ipc DIR" in told
    assert "--bytesized32 DIR" in told
    with pytest.raises(SetupError, match="`0000000` is not in this clone"):
        environments.unpacked("0000000")


def figures(part: str) -> list[Figure]:
    """The figures of a part for whom nothing is installed, nor any data there."""
    return list(report.PARTS[part](Options(rounds=1, base="0000000", crafter=Path("nowhere"))))


def test_traces_are_kept_with_the_project() -> None:
    assert {len(trace_of(problem)) for problem in PROBLEMS} == {60}


def test_actions_are_drawn_alike_every_time() -> None:
    assert v3.drawn(6) == v3.drawn(6)
    assert {len(v3.drawn(6)), max(v3.drawn(6))} == {300, 5}


def test_one_problem_of_each_family(tmp_path: Path) -> None:
    for family, names in (("one", ["domain", "p1"]), ("two", ["domain", "p1", "p2", "p3"])):
        (tmp_path / family).mkdir()
        for name in names:
            (tmp_path / family / f"{name}.pddl").touch()
    (tmp_path / "airport").mkdir()
    (tmp_path / "airport" / "p01-domain.pddl").touch()
    assert list(problems(tmp_path)) == ["one/p1", "two/p2"]


# ---- the page -------------------------------------------------------------------------------


def test_a_figure_is_the_median_of_what_did_not_fail() -> None:
    quick, slow = Sample("a", "s", (1.0,) * 3, (2.0, 4.0, 9.0)), Sample("b", "s", (1.0,), (8.0,))
    samples = (quick, slow, Sample("c", "s", failed="it crashed"))
    assert Figure("V1", "w", "", at_least(6), samples).value == 6.0
    assert Figure("V1", "w", "", at_least(6), samples).verdict == "met"
    assert Figure("V1", "w", "", at_least(6.1), samples).verdict == "missed"
    assert Figure("V1", "w", "", at_most(0.1), (slow,)).verdict == "missed"
    assert Figure("V1", "w", "", at_most(1.5, "s"), (slow,)).verdict == "met"


def test_rounds_of_one_problem_are_put_together() -> None:
    rounds = [Sample("a", "s", (float(at),), (1.0,)) for at in range(3)]
    assert merged(rounds) == Sample("a", "s", (0.0, 1.0, 2.0), (1.0,) * 3)
    assert merged([*rounds, Sample("a", "s", failed="late")]).failed == "late"


def test_the_page_tells_figures_failures_and_what_is_missing() -> None:
    samples = (Sample("p", "per step", (0.5,), (2.0,)), Sample("q", "", failed="it crashed"))
    made = (
        Figure("V3", "a step", "gymnasium", at_least(5), samples),
        Figure("V8", "starting", "", Goal(1.0, "s", at_most=True), (Sample("r", "", (0.002,)),)),
        Figure("V9", "rows", "parsing", at_most(3), missing="no rows"),
    )
    told = list(page(made, "python -m benchmarks", "on a day", "It was busy."))
    assert "Written by `python -m benchmarks`, on a day." in told
    assert any(one.endswith(" It was busy.") for one in told)
    assert "| V3 | a step | gymnasium | at least 5x | 4x | 1 | missed |" in told
    assert "| V8 | starting |  | at most 1 s | 2 ms | 1 | met |" in told
    assert "| V9 | rows | parsing | at most 3x | no rows |  | not measured |" in told
    assert "| p | a step | 500 ms | 2 s per step | 4x | 4x to 4x |" in told
    assert "| q | a step | | | – | it crashed |" in told
    assert "## V9" not in told
    assert line(made[0]).endswith("4x (wanted: at least 5x; missed)\n   q: it crashed")


def test_the_parts_write_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Figure("V1", "a", "", at_most(1, "s"), (Sample("p", "", (0.1,)),))
    monkeypatch.setattr(report, "PARTS", {"V1": lambda _: iter((made,)), "V2": figures})
    target = tmp_path / "page.md"
    lines = list(report.report(["V1"], Options(), "python -m benchmarks", "", target))
    assert lines == [line(made), f"written: {target}"]
    assert "| V1 | a |" in target.read_text(encoding="utf-8")


# ---- editing and growth ---------------------------------------------------------------------


def test_an_edit_is_checked_as_the_whole_text_is() -> None:
    assert set(editing(81, 1, OF_ALL)) == {"the whole text", "a type"}


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


# ---- coverage on planning problems --------------------------------------------------------------

PLANS = """
import json, pathlib, sys
assert pathlib.Path("domain.pddl").exists() and pathlib.Path("problem.pddl").exists()
if sys.argv[1] in pathlib.Path("problem.pddl").read_text():
    pathlib.Path("plan").write_text("(go)")
print(json.dumps({"engine": "own search"}))
"""


def test_problems_alone_are_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "report", lambda folder, families, seconds: [f"{seconds:g}"])
    assert main(["--ipc", str(tmp_path), "--seconds", "9"]) == 0
    assert capsys.readouterr().out == "9\n"


def test_a_text_game_without_rows_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--learn", "chess", "--bytesized32", str(tmp_path)]) == 1
    assert "no rows of chess are there" in capsys.readouterr().err


def test_coverage_counts_the_plans_of_every_planner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second planner finds a plan for one of two problems only."""
    family = tmp_path / "roads"
    family.mkdir()
    (family / "domain.pddl").write_text("(define (domain roads))")
    for name in ("p1", "p2"):
        (family / f"{name}.pddl").write_text(f"(define (problem {name}) (:domain roads))")

    def planners(seconds: float) -> dict[str, list[str]]:
        command = [sys.executable, "-c", PLANS]
        return {coverage.OWN: [*command, "problem", "--json"], coverage.RIVAL: [*command, "p2"]}

    monkeypatch.setattr(coverage, "_planners", planners)
    monkeypatch.setattr(coverage.shutil, "which", lambda name: None)
    head, row, every, bar, shares, judged = coverage.report(tmp_path, [], 30.0)
    assert head.split()[:3] == ["family", "of", "tw"]
    assert [row.split()[place] for place in (0, 1, 2, 4)] == ["roads", "2", "2", "1"]
    assert every.split()[1:3] == ["2", "2"]
    assert bar == "at most 2 x lama-first + 0.7 s: 1 of 1 that both solve"
    assert (shares, judged) == ("found by own search 2", "VAL is not installed")


def test_the_bar_and_the_judgements_of_val_are_counted() -> None:
    runs = [{coverage.OWN: coverage.Run(True, 1.0, "own search", valid=True)}]
    assert list(coverage.compared(runs))[-1] == "VAL accepts 1 of 1 plans"
    late = [{coverage.OWN: coverage.Run(True, 2.0, "x"), coverage.RIVAL: coverage.Run(True, 0.5)}]
    assert next(coverage.compared(late)).endswith("0 of 1 that both solve")


# ---- adapters ------------------------------------------------------------------------------------
def names_of(module: str) -> set[str]:
    """The names that a module of the project defines or imports, and the modules below it."""
    path = ROOT.joinpath(*module.split("."))
    found = {one.stem for one in path.glob("*.py")} | {one.name for one in path.glob("*/")}
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = source.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {one.asname or one.name for one in names}
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)) if "__getattr__" in text:
                found.add(name)  # a package that imports its names when they are asked for
    return found


def test_the_names_that_benchmarks_import_exist() -> None:
    """Adapters of peers run in environments of their own, where no other test imports them."""
    asked: dict[str, set[str]] = {}
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tokenworld."):
                asked.setdefault(str(node.module), set()).update(one.name for one in node.names)
    assert len(asked) > 20
    missing = {
        module: names - names_of(module)
        for module, names in asked.items()
        if "*" not in names_of(module) and names - names_of(module)
    }
    assert missing == {}
