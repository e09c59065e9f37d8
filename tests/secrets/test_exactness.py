"""The list of commands has one exactly when its requires hold for some value of the secrets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from pathlib import Path

import pytest

from tests.secrets.worlds import KINDS, Kind
from tokenworld.engine import Engine, State
from tokenworld.engine.columns import Column, Key
from tokenworld.engine.rows.questions.hidden import MOST
from tokenworld.ground import Command, Raw, domain_of, slots
from tokenworld.session import Session

Open = Callable[[str], Session]
Slots = list[tuple[Column, Key, tuple[Raw, ...]]]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def make(text: str) -> Session:
        path = tmp_path / "lock.tw"
        path.write_text(text, encoding="utf-8")
        return Session.open(str(path), seed=1)

    return make


def secret_slots(engine: Engine) -> Slots:
    """The secret slots, each with the values of its type."""
    instance = engine.instance
    found: Slots = []
    for column in engine.layout.columns:
        if column.fluent.secret:
            values = domain_of(instance, column.fluent.type)
            assert values is not None
            found += [(column, column.key(args), values) for args in slots(instance, column.fluent)]
    return found


def all_values(engine: Engine, state: State) -> Iterator[State]:
    """The state with every assignment of its secret slots, each made by writing them."""
    hidden = secret_slots(engine)
    for values in product(*(one for _, _, one in hidden)):
        after = state.fork()
        for (column, key, _), value in zip(hidden, values, strict=True):
            after.put(column, key, value)
        yield after


def expected(session: Session) -> list[Command]:
    """What is possible for some assignment, by trying them all."""
    engine, state = session.engine, session.state
    states = list(all_values(engine, state))
    commands = [
        Command(name, args)
        for name in session.world.program.actions
        for args in engine.known.bindings(state, name) or ()
    ]
    return [one for one in commands if any(engine.passes(each, one) for each in states)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_is_listed_if_it_is_possible_for_some_values(kind: str, opened: Open) -> None:
    one: Kind = KINDS[kind]
    session = opened(one.source(0))
    assert prod(len(values) for _, _, values in secret_slots(session.engine)) <= 4096
    assert list(session.known.commands(session.state)) == expected(session)
    for text in one.tried:
        session.intend(text)
        assert list(session.known.commands(session.state)) == expected(session), text


SUMS = """
type Safe { secret a: 0 to 9 = 1  secret b: 0 to 9 = 2  secret c: 0 to 9 = 3  open: bool = false }
action dial(s: Safe, n: 0 to 30) as "dial {n}" { require CONDITION  s.open = true }
world w { object safe: Safe  goal opened: safe.open }
"""


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("s.a + s.b == n", range(19)),
        ("n == s.a * 2 + 1", range(1, 20, 2)),
        ("n == s.a and n == s.b and s.a != s.b", ()),
        ("n > 3 and (s.a == n or s.b + 20 == n)", [*range(4, 10), *range(20, 30)]),
        ("n == s.a and s.b + s.c == 18", range(10)),
        ("(if s.a > 4 then s.b else s.c + 20) == n", [*range(10), *range(20, 30)]),
        ("n == count(x for x: 0 to 3 where x < s.a)", range(5)),
        ("n == max(s.a, s.b) and s.a != s.b", range(1, 10)),
    ],
)
def test_what_several_slots_allow_together(
    condition: str, numbers: list[int], opened: Open
) -> None:
    session = opened(SUMS.replace("CONDITION", condition))
    found = [one.args[1] for one in session.known.commands(session.state)]
    assert found == list(numbers)


def test_above_the_cap_a_command_is_listed(opened: Open) -> None:
    text = SUMS.replace("CONDITION", "s.a + s.b + s.c == n and s.a > s.b and s.b > s.a")
    session = opened(text)
    assert session.known.every(session.state, lambda tick: 1) == {1}
    three = 10**3
    assert three >= MOST
    assert len(list(session.known.commands(session.state))) == 31


def test_numbers_without_end_count_as_possible(opened: Open) -> None:
    text = SUMS.replace("secret a: 0 to 9", "secret a: int").replace("CONDITION", "s.a == n")
    session = opened(text)
    assert len(list(session.known.commands(session.state))) == 31


def test_a_world_without_secrets_is_listed_by_the_engine(opened: Open) -> None:
    text = SUMS.replace("secret ", "").replace("CONDITION", "s.a + s.b == n")
    session = opened(text)
    assert session.known.is_whole
    engine = session.engine
    assert session.known.commands(session.state) == engine.legal(session.state)
    outcome = session.intend("dial 5")[-1]
    assert session.known.outcome(outcome) is outcome


def test_a_listing_of_a_hundred_guesses_is_quick(opened: Open) -> None:
    text = SUMS.replace("0 to 30", "0 to 99").replace("CONDITION", "s.a * 10 + s.b == n")
    session = opened(text)
    began = time.process_time()
    assert len(list(session.known.commands(session.state))) == 100
    assert time.process_time() - began < 20
