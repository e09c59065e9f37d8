"""``tw learn fit``: the likeliest values of learned params."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import broken_after_each_part
from tokenworld.engine import Engine
from tokenworld.engine.outcomes.distribution import Evidence
from tokenworld.ground import PASS
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import open_world
from tokenworld.verbs.learn import fitting
from tokenworld.verbs.learn.evidence import collected, learned_params
from tokenworld.verbs.learn.learnt import Atoms, Learnt, Weight
from tokenworld.verbs.records.transitions import transitions

Tw = Any

COIN = """
param heads: 0% to 100% = 50% learned
param spare: 0% to 100% = 40% learned
type Coin { up: bool  ever: 0 to 9 clamped = 0 }
actor me: Coin
action wait() as "wait" { }
action pocket() as "pocket" { chance spare { me.ever += 1 } }
law flip(c: Coin) { let h = chance heads  c.up = h }
world w { object coin: Coin }
"""

HENS = """
param stray: 0.00% to 100.00% = 50.00% learned
param a: 0.000 to 1.000 = 0.300 learned
param b: 0.000 to 1.000 = 0.300 learned
type Place
type Hen { at: Place  tired: bool }
type Hero
actor me: Hero
object yard, nest, barn: Place
action wait() as "wait" { }
derive rate(h: Hen) = if h.tired then stray * 0.5 else stray
law roam(h: Hen) { chance rate(h) { pick p: Place { h.at = p } } }
phase turns sequentially
law rest(h: Hen) during turns {
  h.tired = h.at == yard
  chance a { h.at = yard } or b { h.at = barn }
}
world w {
  object hero: Hero
  object ida, eva: Hen { at = nest }
}
"""


def recorded(world: Path, rows: Path, ticks: int, truth: dict[str, int], seed: int = 5) -> None:
    """Play with other values of the params, and write what happened as rows."""
    opened = open_world(str(world))
    given = replace(opened.instance, params={**opened.instance.params, **truth})
    player, engine = Engine(given, EnglishProse()), opened.engine
    state, lines = engine.start(seed), []
    for _ in range(ticks):
        after, _records = player.play(state, PASS)
        intent = {"format": "tw-intent/1", "pass": True}
        row = {"format": "tw-row/1", "state": engine.json(state), "intent": intent}
        lines.append(json.dumps({**row, "tick": engine.json(after)}))
        state = after
    rows.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def coin(tmp_path: Path) -> Path:
    path = tmp_path / "coin.tw"
    path.write_text(COIN, encoding="utf-8")
    recorded(path, tmp_path / "rows.jsonl", 60, {"heads": 30})
    return path


@pytest.fixture
def hens(tmp_path: Path) -> Path:
    path = tmp_path / "hens.tw"
    path.write_text(HENS, encoding="utf-8")
    return path


def by_name(found: Any) -> dict[str, Any]:
    return {one["name"]: one for one in found["params"]}


# ---- values ---------------------------------------------------------------------------------


def test_a_single_chance_is_a_count_without_scipy(
    tw: Tw, coin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "find_spec", lambda name: None)
    ran = tw("learn", "fit", coin, "rows.jsonl", "--json")
    rows = [json.loads(x) for x in coin.with_name("rows.jsonl").read_text().splitlines()]
    ups = sum(row["tick"]["objects"][0]["attrs"]["up"] for row in rows)
    heads = by_name(ran.json)["heads"]
    assert (ran.code, heads["by"], heads["informative"]) == (0, "count", 60)
    assert heads["value"] == pytest.approx(ups / 60)
    assert heads["error"] == pytest.approx(sqrt(ups / 60 * (1 - ups / 60) / 60))


def test_scipy_missing_is_told_where_it_is_needed(
    tw: Tw, hens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(hens, hens.with_name("rows.jsonl"), 5, {})
    monkeypatch.setattr(fitting, "find_spec", lambda name: None)
    ran = tw("learn", "fit", hens, "rows.jsonl")
    assert ran.code != 0
    assert "TW0811" in ran.err
    assert 'pip install "token-world[learn]"' in ran.err


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hidden_draws_are_recovered_within_three_standard_errors(
    tw: Tw, hens: Path, seed: int
) -> None:
    pytest.importorskip("scipy", reason="scipy is an extra")
    truth = {"stray": 3500, "a": 450, "b": 150}
    recorded(hens, hens.with_name("rows.jsonl"), 250, truth, seed)
    found = by_name(tw("learn", "fit", hens, "rows.jsonl", "--json").json)
    for name, scale in (("stray", 10_000), ("a", 1000), ("b", 1000)):
        one = found[name]
        assert one["by"] == "fit"
        assert one["sites"], "also where a derive stands between the param and the draw"
        assert abs(one["value"] - truth[name] / scale) < 3 * one["error"], one


def test_the_likelihood_is_that_of_the_rows_and_its_slope_is_right(hens: Path) -> None:
    np = pytest.importorskip("numpy", reason="numpy is an extra")
    rows = hens.with_name("rows.jsonl")
    recorded(hens, rows, 40, {"a": 450})
    world = open_world(str(hens))
    params = learned_params(world)
    found = collected(world, transitions(world, [rows]), params, lambda said: None)
    every = [one for one in transitions(world, [rows]) if not hasattr(one, "why")]
    scores = [world.engine.logp(x.state, x.intent, x.seen).logp for x in every]  # type: ignore[union-attr]
    values = {name: one.value for name, one in params.items()}
    assert fitting.likelihood(found, values) == pytest.approx(sum(scores), abs=1e-8)
    assert len(found.factors) < 40
    problem = fitting._Problem(found, list(params), found.factors, params)
    at = np.array([-0.3, 0.2, -0.8])
    _, slope = problem.in_logits(at)
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        more, less = problem.in_logits(at + step)[0], problem.in_logits(at - step)[0]
        assert slope[place] == pytest.approx((more - less) / 2e-6, rel=1e-4)


# ---- what is said and written ---------------------------------------------------------------


def test_a_param_without_information_keeps_its_value(tw: Tw, coin: Path) -> None:
    ran = tw("learn", "fit", coin, "rows.jsonl", "--write")
    assert ran.code == 0
    assert "TW1206" in ran.err
    assert "coin.tw:7:31" in ran.err
    assert "param spare: 0% to 100% = 40% learned" in coin.read_text(encoding="utf-8")


def test_a_value_that_few_rows_tell_is_written_with_a_warning(tw: Tw, coin: Path) -> None:
    """One row has one flip, so the likeliest share is 0 % or 100 %."""
    rows = coin.with_name("rows.jsonl")
    lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    for count, said in ((1, "Only 1 transition says anything of `heads`"), (9, "Only 9"), (10, "")):
        rows.write_text("".join(lines[:count]), encoding="utf-8")
        ran = tw("learn", "fit", coin, "rows.jsonl", "--write")
        assert ran.code == 0
        assert ("anything of `heads`" in ran.err) == bool(said)
        assert said in ran.err
        assert "No transition says anything of `spare`" in ran.err


def test_values_are_written_with_a_diff_and_only_when_asked_for(tw: Tw, coin: Path) -> None:
    before = coin.read_text(encoding="utf-8")
    tw("learn", "fit", coin, "rows.jsonl", "-o", "fit.json")
    assert coin.read_text(encoding="utf-8") == before
    value = by_name(json.loads(Path("fit.json").read_text(encoding="utf-8")))["heads"]["value"]
    ran = tw("learn", "fit", coin, "rows.jsonl", "--write")
    line = f"param heads: 0% to 100% = {value * 100:.0f}% learned"
    assert f"+{line}" in ran.out.splitlines()
    assert coin.read_text(encoding="utf-8") == before.replace(
        "param heads: 0% to 100% = 50% learned", line
    )


def test_a_value_that_the_world_sets_is_written_there(tw: Tw, coin: Path) -> None:
    text = COIN.replace("object coin", "param heads = 10%  object coin")
    coin.write_text(text, encoding="utf-8")
    assert tw("learn", "fit", coin, "rows.jsonl", "--write").code == 0
    written = coin.read_text(encoding="utf-8")
    assert "param heads: 0% to 100% = 50% learned" in written
    assert "param heads = 10%" not in written
    assert tw("check", coin).code == 0


def test_written_alternatives_leave_no_less_than_nothing(tw: Tw, coin: Path) -> None:
    """1 of 3 and 2 of 3 are 33 % and 67 %; 1 of 6, 1 of 6 and 4 of 6 would be 101 %."""
    pytest.importorskip("scipy", reason="scipy is an extra")
    second = "param second: 0% to 100% = 30% learned\nparam spare"
    three = "chance heads { c.ever = 1 } or second { c.ever = 2 } or spare { c.ever = 3 }"
    text = COIN.replace("param spare", second).replace("chance spare { me.ever += 1 }", "")
    text = text.replace("let h = chance heads  c.up = h", three)
    coin.write_text(text.replace("= 40%", "= 20%").replace("= 50%", "= 20%"), encoding="utf-8")
    recorded(coin, coin.with_name("rows.jsonl"), 1, {"heads": 100, "second": 0, "spare": 0})
    row = json.loads(coin.with_name("rows.jsonl").read_text(encoding="utf-8"))
    lines = []
    for ever in (1, 2, 3, 3, 3, 3):
        row["tick"]["objects"][0]["attrs"]["ever"] = ever
        lines.append(json.dumps(row))
    coin.with_name("rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert tw("learn", "fit", coin, "rows.jsonl", "--write").code == 0
    assert tw("check", coin).code == 0
    world = open_world(str(coin))
    assert sum(world.instance.params.values()) == 100  # type: ignore[arg-type]


# ---- bad input ------------------------------------------------------------------------------


def impossible(coin: Path) -> str:
    """A row more, that no outcome leads to."""
    rows = coin.with_name("rows.jsonl")
    row = json.loads(rows.read_text(encoding="utf-8").splitlines()[0])
    row["tick"]["objects"][0]["attrs"]["ever"] = 7
    with rows.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(row)}\n")
    return "rows.jsonl:61"


def test_an_impossible_row_is_named_with_its_slot_and_rule(tw: Tw, coin: Path) -> None:
    place, before = impossible(coin), coin.read_text(encoding="utf-8")
    ran = tw("learn", "fit", coin, "rows.jsonl", "--write")
    assert ran.code == 1
    assert "TW1205" in ran.err
    assert f"{place}: Coin.ever(coin): 7 was observed, the rules give 0" in ran.err
    assert "action pocket" in ran.err
    assert "rows.jsonl:1 begins alike and ends otherwise" in ran.err
    assert coin.read_text(encoding="utf-8") == before


def test_impossible_rows_may_count_as_noise(tw: Tw, coin: Path) -> None:
    impossible(coin)
    ran = tw("learn", "fit", coin, "rows.jsonl", "--noise", "0.01")
    assert ran.code == 0
    assert "counted as noise: rows.jsonl:61" in ran.err
    assert tw("learn", "fit", coin, "rows.jsonl", "--noise", "2").code == 2


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (" learned", "", "TW1203"),
        ("0% to 100% = 50%", "int = 0", "TW1203"),
        ("c.up = h", "c.up = h and heads > 10%", "TW1204"),
        ("me.ever += 1", "me.ever += 1", "TW1206"),
    ],
)
def test_params_that_cannot_be_fitted_are_told(
    tw: Tw, coin: Path, old: str, new: str, code: str
) -> None:
    text = COIN.replace(old, new)
    if new.startswith("int"):
        text = text.replace("chance heads", "chance (if heads > 3 then 20% else 50%)")
    coin.write_text(text, encoding="utf-8")
    ran = tw("learn", "fit", coin, "rows.jsonl")
    assert code in ran.err, ran.err


def test_rows_that_cannot_be_used_are_skipped_and_told(tw: Tw, coin: Path) -> None:
    shutil.copy("rows.jsonl", "more.jsonl")
    with Path("more.jsonl").open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    ran = tw("learn", "fit", coin, "more.jsonl")
    assert ran.code == 0
    assert "more.jsonl:61: the line is not JSON" in ran.err
    assert tw("learn", "fit", coin).code == 2
    assert tw("learn", "fit", coin, "nowhere.jsonl").code == 2
    Path("empty.jsonl").write_text("", encoding="utf-8")
    ran = tw("learn", "fit", coin, "empty.jsonl")
    assert (ran.code, ran.out, ran.err.count("TW1209")) == (1, "", 1)
    Path("other.jsonl").write_text(
        Path("rows.jsonl").read_text("utf-8").replace('"world": "w"', '"world": "v"'), "utf-8"
    )
    ran = tw("learn", "fit", coin, "other.jsonl")
    assert (ran.code, ran.err.count("error["), ran.err.count("warning[")) == (1, 1, 0)
    assert "of the world `v`, not of `w`" in ran.err


# ---- beliefs --------------------------------------------------------------------------------

POND = """
model pond
type Spot
type Frog { at: Spot  wet: bool }
type Hero
actor me: Hero
object reed, bank, moss: Spot
action wait() as "wait" { }
believe stays(f: Frog) weight 1.0 learned { f.at ~ { f.at: 80%, else: 20% } }
believe mossy(f: Frog) when f.wet weight 3 learned { f.at ~ { moss: 60%, else: 40% } }
law dives(f: Frog) { chance 40% { f.wet = not f.wet } }
world w { object hero: Hero  object kermit, piggy: Frog { at = reed } }
"""


def test_weights_of_beliefs_are_recovered(tw: Tw, tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="a weight is no count: it is fitted by scipy")
    world = tmp_path / "pond.tw"
    world.write_text(POND, encoding="utf-8")
    truth = {"stays weight": 500, "mossy weight": 1500}
    recorded(world, tmp_path / "rows.jsonl", 90, truth)
    ran = tw("learn", "fit", world, tmp_path / "rows.jsonl", "--json")
    assert ran.code == 0, ran.err
    found = by_name(ran.json)
    for name, value in (("stays weight", 0.5), ("mossy weight", 1.5)):
        assert found[name]["informative"] > 30
        assert abs(found[name]["value"] - value) <= 3 * found[name]["error"]
    assert ran.json["logp"]["after"] > ran.json["logp"]["before"]
    assert all(one["sites"] for one in found.values())


# ---- breaks and reports ---------------------------------------------------------------------


def test_a_broken_fit_goes_on_and_comes_to_the_same_values(
    tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row may be the last one that is kept; one of them is impossible."""
    pytest.importorskip("scipy", reason="scipy is an extra")
    (tmp_path / "hens.tw").write_text(HENS, encoding="utf-8")
    recorded(tmp_path / "hens.tw", tmp_path / "rows.jsonl", 8, {"stray": 3500, "a": 450, "b": 150})
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    lines[5] = lines[5].replace('"name": "ida"', '"name": "ada"', 1)
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    asked = ("learn", "fit", "hens.tw", "rows.jsonl", "--noise", "0.01", "--json")
    whole = tw(*asked)
    ran, breaks = broken_after_each_part(tw, monkeypatch, *asked, "--journal", "fit.journal")
    assert breaks == 9  # what it is about, and the rows
    assert (ran.code, ran.out) == (whole.code, whole.out)
    assert not (tmp_path / "fit.journal").exists()


def test_a_believed_weight_is_kept_too() -> None:
    atoms = Atoms({"a": 0.5})
    one = Learnt({("a",): Fraction(1, 3), (): Fraction(1, 7)})
    atoms.guess([one, None, Learnt.of(1)])
    atoms.take(Atoms({"a": 0.5}).shown(0))
    other = Atoms({"a": 0.5})
    other.take(json.loads(json.dumps(atoms.shown(0))))
    assert [x.key() for x in other.every] == [x.key() for x in atoms.every]
    assert [x.at({"a": 0.3}) for x in other.every] == [x.at({"a": 0.3}) for x in atoms.every]
    weight = Weight({(0, 1): Fraction(2, 9), (): Fraction(1)})
    assert Weight.of(json.loads(json.dumps(weight.shown()))) == weight


def test_the_report_of_a_fit_shows_its_params(tw: Tw, coin: Path) -> None:
    ran = tw("learn", "fit", coin, "rows.jsonl", "--report", "fit.html")
    assert ran.code == 0
    page = coin.with_name("fit.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    for text in ("heads", "spare", "60 transitions", "coin.tw:"):
        assert text in page


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_a_file_that_is_there_is_kept_until_writing_is_asked_for(
    tw: Tw, coin: Path, option: str
) -> None:
    kept = coin.with_name("kept")
    kept.write_text("mine", encoding="utf-8")
    ran = tw("learn", "fit", coin, "rows.jsonl", option, "kept")
    assert (ran.code, ran.out, ran.err.count("TW0001")) == (2, "", 1)
    assert "--write" in ran.err
    assert kept.read_text(encoding="utf-8") == "mine"
    assert coin.read_text(encoding="utf-8") == COIN
    assert tw("learn", "fit", coin, "rows.jsonl", option, "kept", "--write").code == 0
    assert kept.read_text(encoding="utf-8") != "mine"


def test_equal_transitions_are_worked_out_once(coin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, asked = coin.with_name("rows.jsonl"), list[object]()
    world, whole = open_world(str(coin)), Evidence.of
    params = learned_params(world)
    monkeypatch.setattr(Evidence, "of", lambda *given: asked.append(given) or whole(*given))
    once = collected(world, transitions(world, [rows]), params, lambda said: None)
    assert len(asked) == once.rows == 60
    twice = collected(world, transitions(world, [rows, rows]), params, lambda said: None)
    assert len(asked) == 120
    assert twice.rows == 120
    assert twice.factors == {factor: 2 * count for factor, count in once.factors.items()}
    assert twice.informative["heads"] == 120


@pytest.mark.parametrize("world", ["cellar", "kitchen", "skirmish", "greenhouse"])
def test_states_that_are_read_by_their_differences_are_those_of_the_rows(
    tw: Tw, tmp_path: Path, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, revised, whole = tmp_path / "rows.jsonl", list[object](), Engine.revised
    assert tw("learn", "explore", world, "-o", path, "--ticks", "40", "--episode", "20").code == 0
    monkeypatch.setattr(Engine, "revised", lambda *given: revised.append(0) or whole(*given))
    opened, rows = open_world(world), [json.loads(x) for x in path.read_text().splitlines()]
    found = list(transitions(opened, [path]))
    for row, one in zip(rows, found, strict=True):
        for state, shown in ((one.state, row["state"]), (one.seen, row["tick"])):  # type: ignore[union-attr]
            fresh = opened.engine.restored({**row["state"], **shown})
            assert opened.engine.json(state) == opened.engine.json(fresh)
            assert opened.engine.hash(state) == opened.engine.hash(fresh)
            assert [*state.kids] == [*fresh.kids]
    assert revised
