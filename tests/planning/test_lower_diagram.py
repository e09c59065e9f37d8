"""Decision diagrams against plain enumeration of all assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest

from tokenworld.planning.lower.algebra import Diagram, Diagrams, Explosion, Mark, Value

SIZES = (3, 2, 4, 2)


def fresh() -> Diagrams:
    diagrams = Diagrams()
    for size in SIZES:
        diagrams.declare(range(size))
    return diagrams


def assignments() -> Iterator[tuple[int, ...]]:
    return product(*(range(size) for size in SIZES))


def table(diagrams: Diagrams, diagram: Diagram) -> list[Value]:
    return [diagrams.evaluate(diagram, one.__getitem__) for one in assignments()]


def any_number(diagrams: Diagrams, random: Random) -> Diagram:
    """A random sum of products of variables and tests."""
    total = diagrams.leaf(random.randrange(3))
    for _ in range(random.randint(1, 4)):
        left = diagrams.variable(random.randrange(len(SIZES)))
        right = diagrams.variable(random.randrange(len(SIZES)))
        term = diagrams.lift("times", lambda a, b: a * b, left, right)
        total = diagrams.lift("plus", lambda a, b: a + b, total, term)
    return total


def any_truth(diagrams: Diagrams, random: Random) -> Diagram:
    number, bound = any_number(diagrams, random), random.randrange(8)
    return diagrams.lift(("above", bound), lambda value: value > bound, number)


@pytest.mark.parametrize("seed", range(30))
def test_operations_agree_with_enumeration(seed: int) -> None:
    random, diagrams = Random(seed), fresh()
    number, other = any_number(diagrams, random), any_number(diagrams, random)
    left, right = any_truth(diagrams, random), any_truth(diagrams, random)
    numbers, others = table(diagrams, number), table(diagrams, other)
    lefts, rights = table(diagrams, left), table(diagrams, right)
    rows = list(zip(lefts, rights, numbers, others, strict=True))
    assert table(diagrams, diagrams.both(left, right)) == [a and b for a, b, _, _ in rows]
    assert table(diagrams, diagrams.either(left, right)) == [a or b for a, b, _, _ in rows]
    assert table(diagrams, diagrams.negate(left)) == [not a for a in lefts]
    chosen = diagrams.choose(left, number, other)
    assert table(diagrams, chosen) == [n if a else o for a, _, n, o in rows]
    assert diagrams.leaves(number) == list(dict.fromkeys(diagrams.leaves(number)))
    assert set(diagrams.leaves(number)) == set(numbers)


@pytest.mark.parametrize("seed", range(20))
def test_paths_are_disjoint_and_cover_everything(seed: int) -> None:
    diagrams = fresh()
    number = any_number(diagrams, Random(seed))
    paths = list(diagrams.paths(number))
    assert diagrams.count_paths(number) == len(paths)
    for one, value in zip(assignments(), table(diagrams, number), strict=True):
        met = [leaf for path, leaf in paths if all(one[v] in places for v, places in path)]
        assert met == [value]


@pytest.mark.parametrize("seed", range(20))
def test_binding_and_composing_substitute_values(seed: int) -> None:
    random, diagrams = Random(seed), fresh()
    number, other = any_number(diagrams, random), any_number(diagrams, random)
    bound = diagrams.bind(number, lambda value: other if value == 2 else diagrams.leaf(value))
    pairs = zip(table(diagrams, number), table(diagrams, other), strict=True)
    assert table(diagrams, bound) == [o if n == 2 else n for n, o in pairs]
    halved = diagrams.lift("half", lambda value: value // 2, diagrams.variable(2))
    composed = diagrams.compose(number, {2: halved})
    expected = [
        diagrams.evaluate(number, (a, b, c // 2, d).__getitem__) for a, b, c, d in assignments()
    ]
    assert table(diagrams, composed) == expected


@pytest.mark.parametrize("seed", range(20))
def test_restricting_agrees_inside_and_never_grows(seed: int) -> None:
    random, diagrams = Random(seed), fresh()
    number = any_number(diagrams, random)
    allowed = {
        variable: frozenset(random.sample(range(SIZES[variable]), random.randint(1, 2)))
        for variable in random.sample(range(len(SIZES)), 2)
    }
    smaller = diagrams.restrict(number, allowed)
    assert diagrams.support(smaller) <= diagrams.support(number)
    for one in assignments():
        if all(one[variable] in places for variable, places in allowed.items()):
            assert diagrams.evaluate(smaller, one.__getitem__) == diagrams.evaluate(
                number, one.__getitem__
            )


def test_equal_functions_are_one_diagram() -> None:
    diagrams = fresh()
    one, two = diagrams.variable(0), diagrams.variable(2)
    plus: Callable[[int, int], int] = lambda a, b: a + b  # noqa: E731
    swapped = diagrams.lift("plus", plus, two, one)
    assert diagrams.lift("plus", plus, one, two) == swapped
    assert diagrams.node(0, (swapped, swapped, swapped)) == swapped


def test_truths_and_numbers_are_different_constants() -> None:
    diagrams = fresh()
    assert diagrams.leaf(True) != diagrams.leaf(1)
    assert diagrams.leaf(0) != diagrams.leaf(False)
    assert diagrams.leaf(1) != diagrams.leaf(1.0)


def test_what_is_undefined_counts_only_where_it_is_looked_at() -> None:
    diagrams = fresh()
    broken = diagrams.leaf(Mark.BROKEN)
    assert diagrams.both(diagrams.false, broken) == diagrams.false
    assert diagrams.both(broken, diagrams.false) == broken
    assert diagrams.either(diagrams.true, broken) == diagrams.true
    assert diagrams.choose(broken, diagrams.true, diagrams.true) == broken
    test = diagrams.lift("is one", lambda value: value == 1, diagrams.variable(1))
    assert table(diagrams, diagrams.both(test, broken)).count(Mark.BROKEN) == 24


def test_a_diagram_that_outgrows_its_limit_says_so() -> None:
    diagrams = Diagrams(limit=200)
    total = diagrams.leaf(0)

    def sum_of_bits(total: Diagram) -> None:
        for power in range(12):
            bit = diagrams.variable(diagrams.declare((0, 1 << power)))
            total = diagrams.lift("plus", lambda a, b: a + b, total, bit)

    with pytest.raises(Explosion):
        sum_of_bits(total)
