"""Phases and laws (language.md §7): order, snapshots, `was`, reactions."""

from __future__ import annotations

from tiny import play


def test_all_laws_of_a_phase_read_its_start() -> None:
    game = play(
        """
        type T { a: 0 to 9 = 1  b: 0 to 9 = 2 }
        actor me: T
        phase turn
        law one(t: T) during turn { t.a = t.b }
        law two(t: T) during turn { t.b = t.a }
        action x() { }
        world w { object h: T }
        """
    )
    game.do("x()")
    assert (game.get("h.a"), game.get("h.b")) == (2, 1)
    game.do("x()")
    assert (game.get("h.a"), game.get("h.b")) == (1, 2)


def test_laws_of_one_phase_accumulate_and_clamp_once() -> None:
    game = play(
        """
        type T { a: 0 to 9 clamped = 8 }
        actor me: T
        law up(t: T, n: 1 to 3) { t.a += n }
        law down(t: T) { t.a -= 5 }
        action x() { }
        world w { object h: T }
        """
    )
    game.do("x()")
    assert game.get("h.a") == 9


def test_phases_run_in_the_order_of_their_lines_and_unnamed_laws_last() -> None:
    game = play(
        """
        type T { a: 0 to 99 = 0 }
        actor me: T
        phase second_in_name
        phase first_in_name
        law last_one(t: T) { t.a = t.a + 1 }
        law b(t: T) during first_in_name { t.a = t.a * 2 }
        law a(t: T) during second_in_name { t.a = t.a + 3 }
        action x() { me.a += 1 }
        world w { object h: T }
        """
    )
    record = game.do("x()")
    assert game.get("h.a") == (1 + 3) * 2 + 1
    assert record.fired == ("law a(h)", "law b(h)", "law last_one(h)")
    assert [one.rule for one in record.changes] == ["action x"]
    assert [one.rule for one in record.law_changes] == ["law a", "law b", "law last_one"]


def test_add_beats_remove_across_laws() -> None:
    game = play(
        """
        type T
        actor me: T
        relation r(x: T)
        law off(t: T) { remove r(t) }
        law on(t: T) { add r(t) }
        action x() { }
        world w { object h: T }
        """
    )
    for _ in range(2):
        assert game.do("x()").status == "executed"
        assert game.get("r(h)") is True


def test_was_reads_the_start_of_the_tick_in_every_phase() -> None:
    game = play(
        """
        type T { a: 0 to 99 = 0  seen: 0 to 99 = 0  grew: 0 to 99 = 0 }
        actor me: T
        phase one  phase two
        law bump(t: T) during one { t.a += 1 }
        law look(t: T) during two when t.a != was t.a { t.seen = was t.a  t.grew = t.a - was t.a }
        action x(n: 0 to 5) { me.a += n }
        world w { object h: T }
        """
    )
    game.do("x(5)")
    assert (game.get("h.seen"), game.get("h.grew")) == (0, 6)
    game.do("x(0)")
    assert (game.get("h.seen"), game.get("h.grew")) == (6, 1)


def test_a_chain_takes_one_tick_per_link() -> None:
    game = play(
        """
        type T { lit: bool }
        actor me: T
        relation beside(a: T, b: T) symmetric
        law burn(a: T, b: T) when a.lit and beside(a, b) and not b.lit { b.lit = true }
        action x() { me.lit = true }
        action wait() { }
        world w {
          object a, b, c, d: T
          setup { add beside(a, b)  add beside(b, c)  add beside(c, d) }
        }
        """
    )
    game.do("x()")
    lit = []
    for _ in range(3):
        lit.append([game.get(f"{name}.lit") for name in "abcd"])
        game.do("wait()")
    assert lit == [
        [True, True, False, False], [True, True, True, False], [True, True, True, True],
    ]  # fmt: skip


def test_laws_see_the_changes_of_the_action() -> None:
    game = play(
        """
        type T { a: 0 to 9 = 0  b: 0 to 9 = 0 }
        actor me: T
        law copy(t: T) { t.b = t.a }
        action x() { me.a = 4 }
        world w { object h: T }
        """
    )
    game.do("x()")
    assert game.get("h.b") == 4


def test_laws_over_numbers_enums_and_conditions_bind_in_order() -> None:
    game = play(
        """
        enum E { x, y }
        type T { a: 0 to 9 = 3 }
        actor me: T
        law speak(e: E, n: 2 to 4, t: T) when n != 3 or e == y { say "{e} {n} {t}" }
        action x() { }
        world w { object h, k: T }
        """
    )
    said = game.do("x()").said
    assert said == (
        "x 2 h", "x 2 k", "x 4 h", "x 4 k", "y 2 h", "y 2 k", "y 3 h", "y 3 k", "y 4 h", "y 4 k",
    )  # fmt: skip


def test_destroyed_objects_obey_no_law_any_more() -> None:
    game = play(
        """
        type T { a: 0 to 9 = 0 }
        actor me: T
        phase one  phase two
        law end(t: T) during one when t.a == 1 { destroy t }
        law grow(t: T) during two { t.a += 1 }
        action x() { }
        world w { object h: T { a = 2 }  object k: T }
        """
    )
    assert game.do("x()").fired == ("law grow(h)", "law grow(k)")
    assert game.do("x()").fired == ("law end(k)", "law grow(h)")


def test_a_world_without_laws_keeps_still() -> None:
    game = play("type T\nactor me: T\naction x() { }\nworld w { object h: T }")
    facts = game.state
    game.do("x()")
    assert game.session.same_facts(facts)
    assert game.session.tick == 1


def test_tick_counts_the_ticks_committed_before() -> None:
    game = play(
        """
        type T { seen: 0 to 99 = 50 }
        actor me: T
        law note(t: T) { t.seen = tick() }
        derive now() = tick()
        action x() { }
        action free() takes 0 { say "{tick()}" }
        world w { object h: T  setup { h.seen = tick() + 40 } }
        """
    )
    assert game.get("h.seen") == 40
    for expected in range(3):
        assert game.ask("now") == expected
        assert game.do("x()").tick == expected
        assert game.get("h.seen") == expected
    assert game.do("free()").said == ("3",)


def test_id_counts_top_level_objects_first() -> None:
    game = play(
        """
        type T
        actor me: T
        derive number(t: T) = id(t)
        world other { object z: T }
        world w { object h: T  object k: T }
        object top: T
        """
    )
    assert [game.ask("number", name) for name in ("top", "h", "k")] == [0, 1, 2]
