"""The first difference between a record and its replay, with the rule that made it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tokenworld.ground import Change, LuckyDraw, Outcome
from tokenworld.store.check import Divergence, first_divergence, world_differs
from tokenworld.store.log import RunHandle
from tokenworld.store.read import ticks_of
from tokenworld.store.records import Tick, canonical

Outcomes = Callable[..., Outcome]


def stored(outcome: Outcome) -> Any:
    """As it comes back from the log."""
    return json.loads(canonical(outcome.to_json()))


def test_an_equal_replay_has_no_divergence(
    run: RunHandle, make_outcome: Outcomes, play: Callable[[RunHandle, int], list[Tick]]
) -> None:
    play(run, 3)
    recorded = [tick.outcome for tick in ticks_of(run.store, run.id)]
    replayed = [make_outcome(number).to_json() for number in (1, 2, 3)]
    assert first_divergence(recorded, replayed) is None
    assert first_divergence([], []) is None


@pytest.mark.parametrize(
    ("different", "part", "rule"),
    [
        ({"hash_before": "x"}, "hash_before", ""),
        ({"status": "waiting", "progress": (1, 2)}, "status", "action take"),
        (
            {"changes": (Change("at", ("lamp",), "a", "b", "action take"),)},
            "changes",
            "action take",
        ),
        ({"changes": ()}, "changes", "action take"),
        ({"law_changes": (Change("heat", ("pot",), 1, 9, "law cool"),)}, "law_changes", "law warm"),
        ({"law_changes": ()}, "law_changes", "law warm"),
        ({"draws": (LuckyDraw("law warm", ("pot",), 0, 1, 2),)}, "draws", "law warm"),
        ({"fired": ("law warm", "law cool")}, "fired", "law cool"),
        ({"hash_after": "x"}, "hash_after", ""),
        ({"said": ("Hello.",)}, "said", ""),
        ({"score": 1}, "score", ""),
    ],
)
def test_a_difference_names_its_tick_part_and_rule(
    run: RunHandle, make_outcome: Outcomes, different: dict[str, Any], part: str, rule: str
) -> None:
    recorded = [stored(make_outcome(1)), stored(make_outcome(2)), stored(make_outcome(3))]
    replayed = [make_outcome(1).to_json(), make_outcome(2, **different).to_json(), {}]
    found = first_divergence(recorded, replayed)
    assert found is not None
    assert (found.seq, found.part, found.rule) == (2, part, rule)
    diagnostic = found.diagnostic(run.run())
    assert diagnostic.code == "TW1105"
    assert "Tick 2 of run `cellar-1`" in diagnostic.message
    assert rule in diagnostic.message


def test_a_difference_in_changes_outweighs_the_hash(make_outcome: Outcomes) -> None:
    """The hash tells that something differs; the change tells what."""
    other = make_outcome(1, law_changes=(), hash_after="x")
    found = first_divergence([stored(make_outcome(1))], [other.to_json()])
    assert found is not None
    assert found.part == "law_changes"
    assert found.recorded == make_outcome(1).law_changes[0].to_json()
    assert found.replayed is None
    assert found.to_json()["rule"] == "law warm"


def test_equal_numbers_of_another_kind_differ(make_outcome: Outcomes) -> None:
    found = first_divergence(
        [stored(make_outcome(1, reward=1))], [make_outcome(1, reward=1.0).to_json()]
    )
    assert found is not None
    assert found.part == "reward"


def test_a_replay_that_is_too_short_or_too_long(run: RunHandle, make_outcome: Outcomes) -> None:
    one, two = stored(make_outcome(1)), stored(make_outcome(2))
    short, long = first_divergence([one, two], [one]), first_divergence([one], [one, two])
    assert isinstance(short, Divergence)
    assert isinstance(long, Divergence)
    assert (short.seq, short.part, long.seq, long.part) == (2, "missing", 2, "extra")
    assert "not reached" in short.diagnostic(run.run()).message
    assert "by the replay only" in long.diagnostic(run.run()).message


def test_the_first_number_can_be_another(make_outcome: Outcomes) -> None:
    found = first_divergence([stored(make_outcome(1))], [], first=41)
    assert found is not None
    assert found.seq == 41


def test_another_program_is_one_diagnostic(run: RunHandle) -> None:
    assert world_differs(run.run(), "d1") is None
    diagnostic = world_differs(run.run(), "d2")
    assert diagnostic is not None
    assert diagnostic.code == "TW1105"
