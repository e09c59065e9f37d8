"""Import and export undo each other (language.md §16), on texts of our own and of others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3]))

from samples import PAIRS

from tokenworld.diagnostics import Failure, Source, read_source
from tokenworld.planning.reader import import_pddl
from tokenworld.verbs.bench.golds import read_golds
from tokenworld.verbs.bench.normal import normal
from tokenworld.verbs.bench.scores import score, strict
from tokenworld.verbs.bench.trips import Trip, trips

SHARED = Path(__file__).parents[4] / "shared" / "data"
BROKEN = "ipc-old-pathways-p02"
"""The one published text whose parentheses do not match."""


def is_perfect(trip: Trip) -> bool:
    """Whether a domain came back with every F1 score 1, as Text2World defines them."""
    return bool(trip.after) and score(trip.before, trip.after).perfect


def is_strict(trip: Trip) -> bool:
    """Whether types, costs, order of parameters and additional actions came back as well."""
    return bool(trip.after) and strict(trip.before, trip.after).f1 == 1


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_pair_comes_back_as_it_went_in(name: str, tmp_path: Path) -> None:
    for file, text in zip(("domain.pddl", "problem.pddl"), PAIRS[name], strict=True):
        (tmp_path / file).write_text(text, encoding="utf-8")
    ((domain, problems),) = ((one.domain, one.problems) for one in read_golds(tmp_path))
    found = list(trips(domain, problems))
    assert [one.kind for one in found] == ["domain", "problem"]
    assert [one.failure for one in found] == ["", ""]
    assert is_perfect(found[0])
    assert is_strict(found[0])


def test_the_comparison_sees_what_was_lost() -> None:
    before = PAIRS["numeric"][0]
    assert normal(before) == normal(before.replace("(decrease", " (decrease"))
    for loss in ("(wear) ", " - vehicle", "(not (= ?from ?to))", ":typing "):
        assert loss in before
        assert normal(before) != normal(before.replace(loss, "", 1))


def _folders() -> list[Path]:
    place = SHARED / "ipc"
    return sorted(one for one in place.iterdir() if one.is_dir()) if place.is_dir() else []


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the planning collection beside the project")
@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: folder.name)
def test_a_competition_family_comes_back(folder: Path) -> None:
    found = [trip for one in read_golds(folder) for trip in trips(one.domain, one.problems)]
    assert found
    assert [(one.name, one.failure) for one in found if one.failure] == []
    domains = [one for one in found if one.kind == "domain"]
    assert all(is_perfect(one) and is_strict(one) for one in domains)


def _published() -> list[Path]:
    place = SHARED / "text2world"
    return sorted(place.rglob("*.pddl")) if place.is_dir() else []


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the published domains beside the project")
def test_all_published_domains_but_one_come_back() -> None:
    readable = [path for path in _published() if BROKEN not in path.name]
    found = [trip for path in readable for trip in trips(read_source(path))]
    assert len(found) == 49
    assert [(one.name, one.failure) for one in found if one.failure] == []
    assert all(is_perfect(one) and is_strict(one) for one in found)


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the published domains beside the project")
def test_the_unbalanced_one_gets_one_diagnostic_at_its_end() -> None:
    (path,) = (path for path in _published() if BROKEN in path.name)
    text = path.read_text(encoding="utf-8")
    with pytest.raises(Failure) as failure:
        import_pddl(Source("d.pddl", None, text), ())
    (found,) = failure.value.diagnostics
    assert found.code == "TW0101"
    assert found.span is not None
    assert found.span.start >= len(text.rstrip()) - 1
