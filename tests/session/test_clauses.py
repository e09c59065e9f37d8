"""Requires taken apart: each clause with its truth and the values that decide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.refusals.explained import Branch, explained_record, require_trees

RULES = """
type Place
type Thing { at: Place? nested ordered inverse contents  hot: bool = false  size: 0 to 9 = 3 }
type Child : Place, Thing { energy: 0 to 9 = 5 }
actor me: Child
derive near(t: Thing) = t.at == me.at or t.at == me
derive deep(t: Thing) = near(t) and not t.hot
action lift(t: Thing, u: Thing) as "lift {t} onto {u}" {
  let both = t.size + u.size
  require near(t) and not t.hot           else hot "Hot."
  require t.hot implies me.energy > 7     else tired "Tired."
  require all(x.size <= 4 for x: Thing where x != me)  else big "Big."
  require any(x.size == 8 for x: Thing)   else none_ "None."
  require both < 5 or u.at == me           else heavy "Heavy."
  require deep(u)                         else deep "Deep."
  require count(x for x: Thing where x.hot) == 0 else any_hot "One is hot."
  t.at = me
}
world w "W" {
  object hall: Place
  object child: Child { at = hall }
  object pan: Thing { at = hall  hot = true }
  object lid: Thing { at = hall  size = 7 }
  object cup: Thing { size = 2 }
}
"""


@pytest.fixture
def session(tiny: Callable[[str], OpenWorld]) -> Session:
    return Session(tiny(RULES))


def drawn(one: Branch, depth: int = 0) -> list[str]:
    """A tree in lines: ``- not: not t.hot``."""
    sign = {True: "+", False: "-", None: "?"}[one.holds]
    values = " ".join(f"[{name} = {value}]" for name, value in one.values)
    head = f"{'  ' * depth}{sign} {one.kind}: {one.case or one.text} {values}".rstrip()
    more = [f"{'  ' * (depth + 1)}{one.left_out} more"] if one.left_out else []
    return [head, *(line for part in one.parts for line in drawn(part, depth + 1)), *more]


def trees(session: Session, asked: str) -> dict[int, list[str]]:
    command = session.why_not(asked).command
    assert command is not None
    return {
        index: drawn(tree) for index, tree in require_trees(session, command, session.state).items()
    }


def test_each_clause_has_its_truth_and_values(session: Session) -> None:
    found = trees(session, "lift(pan, cup)")
    assert found[0] == [
        "- and: near(t) and not t.hot",
        "  + derive: near(t)",
        "    + or: t.at == me.at or t.at == me",
        "      + leaf: t.at == me.at [t.at = hall] [me.at = hall]",
        "      - leaf: t.at == me [t.at = hall]",
        "  - not: not t.hot",
        "    + leaf: t.hot",
    ]
    assert found[1] == [
        "- implies: t.hot implies me.energy > 7",
        "  + leaf: t.hot",
        "  - leaf: me.energy > 7 [me.energy = 5]",
    ]


def test_the_cases_that_decide_come_first(session: Session) -> None:
    found = trees(session, "lift(pan, cup)")
    assert found[2][0].startswith("- all: all(x.size <= 4 for x: Thing")
    assert found[2][1:3] == ["  - case: x = lid", "    - leaf: x.size <= 4 [x.size = 7]"]
    assert [one for one in found[2] if "case" in one] == [
        "  - case: x = lid", "  + case: x = pan", "  + case: x = cup"
    ]  # fmt: skip
    assert found[3][:3] == [
        "- any: any(x.size == 8 for x: Thing)",
        "  - case: x = child",
        "    - leaf: x.size == 8 [x.size = 3]",
    ]


def test_lets_derives_and_counts_have_values(session: Session) -> None:
    found = trees(session, "lift(pan, cup)")
    assert found[4] == [
        "- or: both < 5 or u.at == me",
        "  - leaf: both < 5 [both = 5]",
        "  - leaf: u.at == me [u.at = None]",
    ]
    assert found[5][:3] == ["- derive: deep(u)", "  - and: near(t) and not t.hot",
                            "    - derive: near(t)"]  # fmt: skip
    assert found[6] == [
        "- leaf: count(x for x: Thing where x.hot) == 0 [count(x for x: Thing where x.hot) = 1]"
    ]


def test_many_cases_are_cut(tiny: Callable[[str], OpenWorld]) -> None:
    objects = "".join(f"  object s{n}: Thing\n" for n in range(20))
    session = Session(
        tiny(RULES.replace("  object hall: Place\n", f"  object hall: Place\n{objects}"))
    )
    found = trees(session, "lift(pan, cup)")
    assert len([one for one in found[3] if "case" in one]) == 5
    assert found[3][-1] == "  19 more"


def test_the_roots_agree_with_the_requires(session: Session) -> None:
    for asked in ("lift(pan, cup)", "lift(cup, lid)", "lift(lid, lid)"):
        command = session.why_not(asked).command
        assert command is not None
        reports = session.engine.why(session.state, command)
        own = require_trees(session, command, session.state)
        for one in reports:
            if not one.generated and one.holds is not None:
                assert own[one.index].holds == one.holds


def test_a_record_is_told_in_the_state_it_was_refused_in(session: Session) -> None:
    outcome = session.intend("lift(pan, cup)")[-1]
    assert outcome.status == "refused"
    found = explained_record(session, outcome)
    assert found is not None
    from tokenworld.play.model.timeline import edit_slot

    edit_slot(session, "pan.hot", "false")
    later = explained_record(session, outcome)
    assert later is not None
    assert later.trees == found.trees
    assert found.trees[0].holds is False
    assert explained_record(session, session.intend("pass")[-1]) is None


def test_every_require_of_the_worlds_can_be_taken_apart() -> None:
    from pathlib import Path

    folder = Path(__file__).parents[2] / "domains"
    for name in ("cellar", "kitchen", "willowbrook", "taxi", "blocks"):
        path = folder / name / "world.tw"
        if not path.exists():
            continue
        session = Session(open_world(str(path)))
        for action in session.world.program.actions:
            bindings = session.engine.bindings(session.state, action) or ()
            for args in list(bindings)[:3]:
                from tokenworld.ground import Command

                command = Command(action, tuple(args))
                own = require_trees(session, command, session.state)
                for one in session.engine.why(session.state, command):
                    if not one.generated and one.holds is not None:
                        assert own[one.index].holds == one.holds, (name, action, args)
