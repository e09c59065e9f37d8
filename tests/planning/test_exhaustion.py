"""Counting all states anew: as many as the search saw, in whatever order, and never a goal."""

from __future__ import annotations

import pytest

from tokenworld.planning.proof.certificate import NoProof, exhaust, key_text
from tokenworld.planning.search.interpreted import Exhausted, Limits, search


def test_it_counts_what_the_search_counts(make_random_world):
    seen = set()
    for number in range(80):
        world = make_random_world(number)
        result = search(world, world.start(), None, Limits(states=1000))
        if isinstance(result, Exhausted):
            space = exhaust(world, world.start(), None, seconds=10)
            assert space.states == result.states
            seen.add(space.digest)
        else:
            with pytest.raises(NoProof, match="is the goal"):
                exhaust(world, world.start(), None, seconds=10)
    assert len(seen) > 5


def test_the_digest_does_not_depend_on_the_order(graph_world):
    one = graph_world({0: {"a": [1], "b": [2]}}, {"rich": frozenset()})
    two = graph_world({0: {"a": [2], "b": [1]}}, {"rich": frozenset()})
    three = graph_world({0: {"a": [3], "b": [1]}}, {"rich": frozenset()})
    digests = [exhaust(world, world.start(), None, seconds=5).digest for world in (one, two, three)]
    assert digests[0] == digests[1] != digests[2]


def test_time_that_is_up_is_a_limit(endless_world):
    with pytest.raises(NoProof) as failed:
        exhaust(endless_world, endless_world.start(), None, seconds=0.05)
    assert failed.value.limited


def test_equal_keys_have_equal_texts():
    assert key_text((frozenset({1, 2}), True)) == key_text((frozenset({2, 1}), 1))
    assert key_text((None, "a")) != key_text(("None", "a"))
