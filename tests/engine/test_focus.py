"""Focus queries: what can be done with an object, without listing all that can be done."""

from __future__ import annotations

from itertools import islice

import pytest

from tokenworld.diagnostics import Source
from tokenworld.ground import Command
from tokenworld.model import ObjectType
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.session.players import random_player

WORLDS = ("cellar", "cottage", "kitchen", "blocks", "dishwasher", "taxi", "greenhouse")


def opened(text: str) -> Session:
    return Session(open_text((Source("w.tw", None, text),), "w"))


def naming(session: Session, number: int) -> tuple[Command, ...]:
    """The slow way: all legal commands, those that name the object kept."""
    actions = session.engine.instance.program.actions

    def names(command: Command) -> bool:
        pairs = zip(actions[command.action].params, command.args, strict=True)
        return any(isinstance(one.type, ObjectType) and arg == number for one, arg in pairs)

    return tuple(one for one in session.engine.legal(session.state) if names(one))


@pytest.mark.parametrize("name", WORLDS)
def test_a_focus_is_what_the_whole_list_says_of_an_object(name: str) -> None:
    session, told = Session.open(name, 3), 0
    for intent in islice(random_player(session), 25):
        state = session.state
        for number in (one for one in range(len(state.kinds)) if state.alive(one)):
            expected = naming(session, number)
            assert session.engine.focus(state, number).legal == expected
            told += len(expected)
        session.intend(intent)
    assert told > 20


LARGE = """
type Place
type Thing { at: Place?  of: Hero? }
type Key : Thing
type Hero { at: Place?  done: int = 0 }
actor me: Hero
derive here(x: Thing) = x.at == me.at
action tie(x: Thing, y: Thing, k: Key) as "tie {x} to {y} with {k}" {
  require here(x) and here(y) else absent "That is not here."
  let keeper = k.of
  require keeper == me else hold "You do not hold {the k}."
  require x != y else same "To itself?"
  me.done += 1
}
world w {
  object yard, barn: Place
  object hero: Hero { at = yard }
THINGS
  object rope, post: Thing { at = yard }
  object brass: Key { of = hero }
}
"""


def large() -> Session:
    return opened(large_text())


def large_text() -> str:
    things = "\n".join(f"  object t{one}: Thing {{ at = barn }}" for one in range(400))
    keys = "\n".join(f"  object k{one}: Key" for one in range(400))
    return LARGE.replace("THINGS", f"{things}\n{keys}")


def test_other_parameters_are_cut_short_as_soon_as_they_fail() -> None:
    session = large()  # 803 things twice and 401 keys: 258 million commands
    numbers = session.state.numbers
    rope, post, brass = (numbers[one] for one in ("rope", "post", "brass"))
    found = session.engine.focus(session.state, rope)
    assert found.legal == (Command("tie", (rope, post, brass)), Command("tie", (post, rope, brass)))
    assert found.unlisted == ()
    assert found.bindings == (803 * 803 - 802 * 802) * 401
    assert session.engine.focus(session.state, numbers["t7"]).legal == ()


def test_too_many_to_try_are_named_and_not_told_in_part() -> None:
    session = opened(
        large_text().replace("require here(x) and here(y)", "require here(x) or k != x")
    )
    found = session.engine.focus(session.state, session.state.numbers["rope"])
    assert (found.legal, found.unlisted) == ((), ("tie",))
    assert found.impossible(3) == ()


FEW = """
type Thing { at: 0 to 9 = 0  n: 0 to 9 = 9 }
type Hero
actor me: Hero
action press(x: Thing, y: Thing) as "press {x} on {y}" {
  require x != y else same "To itself?"
  require x.at == 0 or 8 div x.at > 1 else far "Too far."
  y.n += x.at
}
world w {
  object hero: Hero
  object a: Thing  object b: Thing { at = 1 n = 9 }  object c: Thing { at = 9  n = 0 }
}
"""


def test_an_object_in_two_places_is_told_once_and_in_order() -> None:
    session = opened(FEW)
    numbers = session.state.numbers
    for name in ("a", "b", "c", "hero"):
        found = session.engine.focus(session.state, numbers[name])
        assert found.legal == naming(session, numbers[name])
    assert session.engine.focus(session.state, numbers["a"]).bindings == 5
    assert session.engine.focus(session.state, numbers["hero"]).bindings == 0


def test_what_is_impossible_is_the_rest() -> None:
    session = opened(FEW)
    found = session.engine.focus(session.state, session.state.numbers["b"])
    rest = found.impossible(100)
    assert len(found.legal) + len(rest) == found.bindings == 5
    assert found.impossible(1) == rest[:1]


def test_nothing_can_be_done_after_the_end() -> None:
    session = Session.open("kitchen")
    verdict = session.plan()
    for step in verdict.plan:
        session.intend(step.command)
    assert session.ended()
    numbers = range(len(session.state.kinds))
    assert not any(session.engine.focus(session.state, one).legal for one in numbers)
