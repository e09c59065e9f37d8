"""The block rule (language.md §5): changes are worked out on one state and applied together."""

from __future__ import annotations

import pytest
from tiny import Game, play

RULES = """
type Room { tint: 0 to 9 = 0 }
type T { a: 0 to 9 = 1  b: 0 to 9 = 2  c: 0 to 9 clamped = 5  at: Room?  pal: T?  on: bool }
actor me: T
relation friend(x: T, y: T) symmetric
relation likes(x: T, y: T)
function seen(x: T, y: T): 0 to 9 = 4
event ping(x: T, n: 0 to 9)
%s
world w {
  object hall, cellar: Room
  object h: T { at = hall }
  object k: T { a = 7  at = cellar }
  object m: T { a = 3 }
}
"""


def run(body: str, *after: str, action: str = "x()") -> Game:
    game = play(RULES % f"action {action} {{ {body} }}")
    record = game.do(f"{action.partition('(')[0]}({', '.join(after)})")
    assert record.status == "executed", record
    return game


def test_values_swap_in_both_spellings() -> None:
    for body in ("swap me.a, me.b", "let old = me.a  me.a = me.b  me.b = old"):
        game = run(body)
        assert (game.get("h.a"), game.get("h.b")) == (2, 1)


def test_increments_accumulate() -> None:
    game = run("me.a += 2 me.a += 3 me.a -= 1")
    assert game.get("h.a") == 5
    game = run("for t: T { me.b += t.a - 3 }", action="y()")
    assert game.get("h.b") == 2 + (1 + 7 + 3) - 9


def test_increments_may_leave_the_range_on_the_way() -> None:
    game = run("me.a += 9 me.a -= 9")
    assert game.get("h.a") == 1


def test_clamping_applies_once_to_the_total() -> None:
    game = run("me.c += 9 me.c -= 8")
    assert game.get("h.c") == 6
    game = run("me.c += 9")
    assert game.get("h.c") == 9
    game = run("me.c -= 9")
    assert game.get("h.c") == 0


def test_add_beats_remove_in_any_order() -> None:
    for body in (
        "add likes(me, me) remove likes(me, me)",
        "remove likes(me, me) add likes(me, me)",
    ):
        game = run(body)
        assert game.get("likes(h, h)") is True


def test_symmetric_facts_are_stored_once() -> None:
    game = play(RULES % "action x(p: T, q: T) { add friend(p, q) }\n"
                "action y(p: T, q: T) { remove friend(p, q) }\n"
                "derive both(p: T, q: T) = friend(p, q) and friend(q, p)")  # fmt: skip
    game.all("x(k, h)")
    assert game.ask("both", "h", "k") is True
    assert game.ask("both", "k", "h") is True
    assert len(game.session.state_json()["relations"]["friend"]) == 1  # type: ignore[index,call-overload,arg-type]
    one = game.hash
    game.all("y(h, k)")
    assert game.ask("both", "h", "k") is False
    game.all("x(h, k)")
    assert game.session.same_facts(game.session.moments[1].state)
    assert game.hash != one  # the tick differs


def test_equal_sets_agree_and_different_ones_conflict() -> None:
    game = play(RULES % "action x(t: T, n: 0 to 9) { me.a = 3  t.a = n }")
    assert game.do("x(h, 3)").status == "executed"
    assert game.do("x(k, 5)").status == "executed"
    record = game.do("x(h, 4)")
    assert record.status == "error"
    assert record.breach["code"] == "TW1003"  # type: ignore[index]


def test_a_set_and_an_increment_of_one_slot_conflict() -> None:
    game = play(RULES % "action x(t: T) { me.a = 3  t.a += 1 }")
    assert game.do("x(k)").status == "executed"
    assert game.do("x(h)").status == "error"


def test_a_loop_reads_one_state() -> None:
    game = run("for t: T { swap t.a, t.b }")
    assert [game.get(f"{name}.a") for name in "hkm"] == [2, 2, 2]
    assert [game.get(f"{name}.b") for name in "hkm"] == [1, 7, 3]
    game = run("for t: T where t != me { t.b = me.b + t.a }")
    assert [game.get(f"{name}.b") for name in "hkm"] == [2, 9, 5]


def test_loops_with_conditions_intervals_and_collections() -> None:
    game = run("for t: T, n: 1 to 3 where t != me and n != 2 { seen(t, me) += n - 2 }")
    assert (game.get("seen(k, h)"), game.get("seen(m, h)")) == (None, None)
    game = run("for t: T where t.a > 2 { add likes(me, t) }")
    assert [game.get(f"likes(h, {name})") for name in "hkm"] == [False, True, True]


def test_conditions_choose_branches_on_the_old_state() -> None:
    body = "if me.a > 3 { me.b = 1 } else if me.a == 1 { me.b = 3 me.a = 9 } else { me.b = 5 }"
    game = run(body)
    assert (game.get("h.a"), game.get("h.b")) == (9, 3)


def test_functions_with_several_arguments() -> None:
    game = run("seen(me, me) += 1 seen(me, me.pal) = 0")
    assert game.get("seen(h, h)") == 5
    assert game.get("seen(k, k)") is None  # the default is not listed
    assert game.do("x()").status == "executed"


def test_a_slot_of_none_is_left_alone() -> None:
    game = run("me.pal.a = 9 me.at.tint = 3 me.pal.at.tint = 4")
    assert [game.get(f"{name}.a") for name in "hkm"] == [1, 7, 3]
    assert (game.get("hall.tint"), game.get("cellar.tint")) == (3, 0)


def test_a_truth_set_to_an_absent_value_is_false() -> None:
    game = play(RULES % "action x() { me.on = me.pal.on } action y() { me.on = not me.pal.on }")
    game.all("y()")
    assert game.get("h.on") is True
    game.all("x()")
    assert game.get("h.on") is False


def test_transfer_reads_its_amount_once() -> None:
    game = run("transfer me.a of me.b to me.a")
    assert (game.get("h.a"), game.get("h.b")) == (2, 1)
    game = play(RULES % "action x(t: T) { transfer t.a - 1 of t.a to me.b }")
    game.all("x(k)")
    assert (game.get("k.a"), game.get("h.b")) == (1, 8)


# ---- destruction ----------------------------------------------------------------------


def test_destroyed_objects_leave_everything() -> None:
    game = play(
        RULES
        % """
        action bind() { for t: T { add friend(me, t)  add likes(t, me)  t.pal = t
                                   seen(me, t) = 1 } }
        action aim(t: T, u: T) { t.pal = u }
        action kill(t: T) { destroy t  say "{The t} is gone; {t.a}." }
        derive population() = count(t for t: T)
        """
    )
    game.all("bind()", "aim(h, k)")
    record = game.do("kill(k)")
    assert record.status == "executed"
    assert record.said == ("The k is gone; 7.",)
    assert game.ask("population") == 2
    assert game.get("h.pal") is None
    state = game.session.state_json()
    assert "'k'" not in str(state)
    assert [one["name"] for one in state["objects"]] == ["hall", "cellar", "h", "m"]  # type: ignore[union-attr,index,call-overload]
    assert game.do("kill(k)").status == "no_match"


def test_contents_of_a_destroyed_object_move_to_where_it_was() -> None:
    game = play(
        """
        type Box { at: Box? nested ordered inverse contents closure inside }
        actor me: Box
        action burn(b: Box) { destroy b }
        world w {
          object cellar: Box
          object chest: Box { at = cellar }
          object jug: Box { at = cellar }
          object coin: Box { at = chest }
          object ring: Box { at = chest }
        }
        """
    )
    game.all("burn(chest)")
    assert game.contents("cellar") == ["jug", "coin", "ring"]
    game.all("burn(cellar)")
    assert [game.get(f"{name}.at") for name in ("jug", "coin", "ring")] == [None] * 3


def test_conservation_counts_what_a_destroyed_object_held() -> None:
    game = play(
        """
        type Purse { coins: 0 to 9 = 2 }
        type Hero : Purse
        actor me: Hero
        conserve coin: sum(p.coins for p: Purse) except melt
        conserve heads: count(h for h: Hero)
        action burn(p: Purse) { destroy p }
        action melt(p: Purse) { destroy p }
        world w { object h, twin: Hero  object a, b: Purse  object c: Purse { coins = 0 } }
        """
    )
    assert game.do("burn(a)").breach["rule"] == "coin"  # type: ignore[index]
    assert game.do("burn(c)").status == "executed"
    assert game.do("melt(b)").status == "executed"
    assert game.do("melt(twin)").breach["rule"] == "heads"  # type: ignore[index]


def test_conservation_sees_through_the_exception_of_another_rule() -> None:
    game = play(
        """
        type P { n: 0 to 9 = 2 }
        actor me: P
        conserve coin: sum(p.n for p: P) except mint
        phase works
        law mint() during works { me.n += 1 }
        law steal(p: P) during works when p != me and p.n == 2 { p.n -= me.n div 2 }
        action a() { }
        world w { object h: P  object b: P { n = 1 } }
        """
    )
    assert game.do("a()").status == "executed"
    assert game.get("h.n") == 3
    game = play(
        """
        type P { n: 0 to 9 = 2 }
        actor me: P
        conserve coin: sum(p.n for p: P) except mint
        phase works
        law mint() during works { me.n += 1 }
        law steal(p: P) during works when p != me { p.n -= me.n div 2 }
        action a() { }
        world w { object h: P  object b: P }
        """
    )
    assert game.do("a()").breach["rule"] == "coin"  # type: ignore[index]


# ---- output -----------------------------------------------------------------------------


def test_prose_is_rendered_on_the_state_after_and_refusals_on_the_one_before() -> None:
    game = play(
        RULES
        % 'action x() { require me.a < 3 else big "It is {me.a}." say "Before {me.a}." me.a += 2 }'
    )
    assert game.do("x()").said == ("Before 3.",)
    assert game.do("x()").refusal.text == "It is 3."  # type: ignore[union-attr]


def test_lets_keep_the_value_of_the_state_before() -> None:
    game = run('let old = me.a me.a += 2 say "From {old} to {me.a}."')
    assert game.session.moments[-1].outcomes[0].said == ("From 1 to 3.",)


def test_events_carry_their_arguments() -> None:
    game = run("for t: T where t != me { emit ping(t, t.a) }")
    assert game.session.moments[-1].outcomes[0].events == (("ping", ("k", 7)), ("ping", ("m", 3)))


def test_changes_of_one_slot_are_merged_and_those_that_cancel_out_left_out() -> None:
    game = run("me.a += 2 me.a -= 2 me.b += 1 me.b += 1")
    (change,) = game.session.moments[-1].outcomes[0].changes
    assert (change.fluent, change.old, change.new) == ("T.b", 2, 4)


@pytest.mark.parametrize(
    "body", ["if false { }", "for t: T where false { t.a = 1 }", "remove likes(me, me)"]
)
def test_empty_work_is_a_noop(body: str) -> None:
    game = run(body)
    assert game.session.moments[-1].outcomes[0].noop
