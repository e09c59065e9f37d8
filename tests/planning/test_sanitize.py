"""Sanitized pairs: names that every planner takes, read by several parsers; plans come back."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.planning.pddl.export import PddlExport, sanitize
from tokenworld.planning.pddl.sanitize import MOST_LETTERS, RESERVED, sanitized
from tokenworld.planning.pddl.tree import PddlPair
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.verdict import Verdict
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.loading import open_text
from tokenworld.session.pddl import export, read_plan

ROOT = Path(__file__).parents[2]
needs_up = pytest.mark.skipif(find_spec("unified_planning") is None, reason="an extra")
needs_fd = pytest.mark.skipif(find_spec("up_fast_downward") is None, reason="no Fast Downward")
NAME = re.compile(r"[a-z]([a-z0-9_-]*[a-z0-9])?\Z")


def _worlds() -> list[str]:
    """Every world but those that are large: grounding Crafter takes more memory than a test may
    have, and the planners of the tests read Blackjack and the grid of the templates for minutes."""
    found = []
    for path in sorted((ROOT / "domains").glob("*/*.tw")):
        if path.parent.name in ("crafter", "templates") or path.stem == "blackjack":
            continue
        worlds = re.findall(r"^world (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found += [f"{path.relative_to(ROOT)}:{world}" for world in worlds]
    return found


@cache
def opened(name: str) -> OpenWorld:
    return open_world(str(ROOT / name))


@cache
def exported(name: str) -> PddlExport | None:
    """The sanitized pair; ``None`` where PDDL has no form for the world."""
    try:
        return export(opened(name), None, names=True)
    except Failure:
        return None


def expressible(name: str) -> PddlExport:
    found = exported(name)
    if found is None:
        pytest.skip("no PDDL form")
    return found


WORLDS = _worlds()
LARGE = (
    "skirmish/more", "skirmish/twin.tw:three", "skirmish/twin.tw:two", "cottage", "willowbrook",
    "workshop/more", "workshop/twin.tw:t", "smugglers/world",
)  # fmt: skip
"""Grounded pairs over which planners sit for long."""


LONG = ("taxi", "cliff_walking", "frozen_lake")
"""Pairs whose conditional effects keep Fast Downward's translator busy for minutes: not asked."""


def each(*, readers: bool) -> list[object]:
    """All worlds; those that take parsers of others long are left to slow tests."""
    large = (
        LARGE
        if readers
        else ("cottage/world", "willowbrook", "taxi", "cliff_walking", "frozen_lake")
    )
    asked = [name for name in WORLDS if not (readers and any(one in name for one in LONG))]
    return [
        pytest.param(name, marks=pytest.mark.slow) if any(one in name for one in large) else name
        for name in asked
    ]


def test_most_worlds_are_expressible() -> None:
    refused = [name for name in WORLDS if exported(name) is None]
    # Creation, real numbers, laws in turn, `turns`.
    hard = {"boil_water", "cwmb", "dishwasher", "island", "smugglers", "willowbrook"}
    assert {name.split("/")[1] for name in refused} <= hard
    assert len(WORLDS) - len(refused) >= 25


# ---- every name once --------------------------------------------------------------------------


def names_of(pair: PddlPair) -> list[str]:
    """All names that a pair declares, once for each kind; variables count once altogether."""
    domain, problem = pair.domain, pair.problem
    signatures = (*domain.predicates, *domain.functions)
    variables = {param.name for one in (*signatures, *domain.actions) for param in one.params}
    found = [one.name for one in domain.types]
    found += [one.name for one in (*domain.constants, *problem.objects)]
    found += [one.name for one in signatures if one.name != "total-cost"]
    found += [one.name for one in domain.actions]
    return [*found, *(name.removeprefix("?") for name in variables), domain.name, problem.name]


def check_names(pair: PddlPair) -> None:
    found = names_of(pair)
    assert len(set(found)) == len(found), sorted(n for n in found if found.count(n) > 1)
    for name in found:
        assert NAME.match(name), name
        assert name not in RESERVED
        assert len(name) <= MOST_LETTERS


@pytest.mark.parametrize("name", WORLDS)
def test_every_name_is_used_once_and_is_no_keyword(name: str) -> None:
    check_names(expressible(name).pair)


CLASHING = f"""
enum Color {{ red, hero, green }}
type Key
type Box {{ key: Key?  box: bool  color: Color = red }}
object key, box: Key
object `2nd-key`, `at`, `define`, `Hero`: Key
object {"x" * 70}, {"x" * 60}y: Key
object owner: Box
relation at(x: Key)
relation took(k: Key, box: Box)
function metric(): 0 to 9 = 0
action key(key: Key, box: Box) {{ require not at(key) else a "A."  box.key = key  add at(key) }}
action at(x: Key) {{
  require at(x) else b "B."
  owner.color = green  metric() += 1  owner.box = true
}}
world domain "W" {{ object hero_: Box  goal both: owner.box and owner.color == green }}
"""


def clashing() -> OpenWorld:
    return open_text((Source("t.tw", None, CLASHING),), "domain")


def test_clashing_reserved_and_long_names_are_changed() -> None:
    plain = export(clashing(), None)
    before = names_of(plain.pair)
    assert len({name.lower() for name in before}) < len(before)
    found = sanitize(plain)
    check_names(found.pair)
    assert len(names_of(found.pair)) == len(before)
    assert next(one.name for one in found.pair.domain.actions) == "key"  # actions keep theirs


def test_every_change_stands_in_both_files() -> None:
    found = sanitize(export(clashing(), None))
    told = [one for one in found.renamed if one[0] != "variable"]
    assert {kind for kind, _, _ in told} >= {"type", "object", "fluent"}
    for kind, new, old in told:
        for text in (found.domain, found.problem):
            assert f";   {kind} {new} = {old}\n" in text


def test_a_plan_in_new_names_is_read_back() -> None:
    world = clashing()
    found = sanitize(export(world, None))
    new = {old: name for kind, name, old in found.renamed if kind == "object"}
    plan = f"(key {new['key']} {new.get('owner', 'owner')})\n"
    assert read_plan(world, found, plan, None) == "its steps do not lead to the goal"
    action = next(one.name for one in found.pair.domain.actions if one.name.startswith("at"))
    won = read_plan(world, found, f"{plan}({action.upper()} {new['key']}) ; cost", None)
    assert isinstance(won, Verdict)
    assert (won.answer, won.ticks) == ("winnable", 2)
    with pytest.raises(Failure, match="TW0812"):
        read_plan(world, found, "(nothing)", None)


def test_the_names_of_a_sanitized_pair_are_left_alone() -> None:
    for name in ("domains/cellar/world.tw:cellar", "domains/kitchen/world.tw:kitchen"):
        once = expressible(name).pair
        again = sanitized(once).pair
        assert names_of(again) == names_of(once)
        assert again.domain.actions == once.domain.actions


# ---- what others read -------------------------------------------------------------------------


@needs_up
@pytest.mark.parametrize("name", each(readers=False))
def test_unified_planning_reads_the_pair(name: str) -> None:
    from unified_planning.io import PDDLReader

    found = expressible(name)
    if "cliff_walking" in name:
        pytest.skip("a variable of a wider type than the predicate's: its reader takes none")
    assert not found.pair.domain.derived  # its reader knows none
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = PDDLReader().parse_problem_string(found.domain, found.problem)
    assert len(problem.actions) == len(found.pair.domain.actions)
    objects = (*found.pair.domain.constants, *found.pair.problem.objects)
    assert {one.name for one in problem.all_objects} == {one.name for one in objects}


@pytest.mark.parametrize("name", WORLDS)
def test_our_own_reader_reads_the_pair(name: str) -> None:
    found = expressible(name)
    problem = Source("problem.pddl", None, found.problem)
    read = import_pddl(Source("domain.pddl", None, found.domain), (problem,))
    assert [one.code for one in read.remarks if one.is_error] == []


def _numeric(found: PddlExport) -> bool:
    return "numeric-fluents" in found.pair.domain.requirements


def _translate(found: PddlExport, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Fast Downward's translator of another release than the planner's."""
    (folder / "domain.pddl").write_text(found.domain)
    (folder / "problem.pddl").write_text(found.problem)
    command = [sys.executable, "-m", "fast_downward.translate", "domain.pddl", "problem.pddl"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)


@pytest.mark.planner
@pytest.mark.skipif(find_spec("fast_downward") is None, reason="no translator")
@pytest.mark.parametrize("name", each(readers=True))
def test_the_translator_reads_the_pair(name: str, tmp_path: Path) -> None:
    found = expressible(name)
    done = _translate(found, tmp_path)
    if _numeric(found):
        assert done.returncode != 0  # it knows no numbers but costs
        return
    assert done.returncode in (0, 10), done.stdout[-500:] + done.stderr[-500:]
    assert (tmp_path / "output.sas").exists()


# ---- plans come back --------------------------------------------------------------------------


def _fast_downward(found: PddlExport, folder: Path) -> tuple[int, str]:
    spec = find_spec("up_fast_downward")
    assert spec is not None
    assert spec.origin is not None
    driver = Path(spec.origin).parent / "downward" / "fast-downward.py"
    (folder / "domain.pddl").write_text(found.domain)
    (folder / "problem.pddl").write_text(found.problem)
    command = [
        *(sys.executable, str(driver), "--overall-time-limit", "100", "--plan-file", "plan"),
        *("domain.pddl", "problem.pddl", "--search", "eager_greedy([ff()])"),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    plan = folder / "plan"
    return done.returncode, plan.read_text() if plan.exists() else ""


@pytest.mark.planner
@needs_fd
@pytest.mark.parametrize("name", each(readers=True))
def test_a_plan_of_the_sanitized_pair_wins(name: str, tmp_path: Path) -> None:
    found = expressible(name)
    if _numeric(found):
        pytest.skip("Fast Downward knows no numbers")
    code, plan = _fast_downward(found, tmp_path)
    if "twin" in name:
        assert code in (11, 12)
        return
    assert code == 0
    won = read_plan(opened(name), found, plan, None)
    assert isinstance(won, Verdict)
    assert won.answer == "winnable"


def _in_pddl(found: PddlExport, verdict: Verdict) -> str:
    """A plan of ours in the names of the pair, forced steps left out."""
    objects = {raw: name for name, raw in found.names.objects.items()}
    lines = []
    for step in verdict.steps:
        for name, origin in found.names.steps.items():
            args = [objects[one] for one in step.command.args if isinstance(one, int)]
            plain = all(isinstance(one, int) for one in origin.args)
            if origin.action == step.command.action and plain:
                lines.append(f"({name} {' '.join(args)})")
                break
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["domains/greenhouse/world.tw:greenhouse"])
def test_a_plan_of_a_pair_with_numbers_comes_back(name: str) -> None:
    found, world = expressible(name), opened(name)
    assert _numeric(found)
    verdict = Session(world).plan(None, time_limit=60)
    won = read_plan(world, found, _in_pddl(found, verdict), None)
    assert isinstance(won, Verdict)
    assert won.ticks == verdict.ticks
