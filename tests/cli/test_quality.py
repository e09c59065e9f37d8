"""`tw quality`: table, JSON, window, exit codes, the gate and references."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.store.exchange import import_file, write_export
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run

LINES = ["add 1", *["go to attic", "go to hall"] * 11, "go to attic"]


@pytest.fixture
def played(tw, world) -> Path:
    """24 ticks of the little world, with all verbs that there are."""
    Path("script.txt").write_text("\n".join(LINES), encoding="utf-8")
    assert tw("run", world, "--script", "script.txt", "--store", "s.sqlite").code == 0
    return Path("s.sqlite")


@pytest.fixture
def failed(tw, world) -> Path:
    """Twelve refusals."""
    Path("refused.txt").write_text("go to hall\n" * 12, encoding="utf-8")
    assert tw("run", world, "--script", "refused.txt", "--store", "s.sqlite").code == 0
    return Path("s.sqlite")


def test_the_table(tw, played) -> None:
    ran = tw("quality", "small", "--store", played)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "A small world · records 1 to 24, ticks 0 to 23\n"
        "\n"
        "  [OK]    Faithful records       1.00    24 of 24 records\n"
        "          Do the rules make of each intent what was recorded, and is what was told true?\n"
        "  [OK]    Story voice            1.00    24 of 24 texts\n"
        "          Do the players' texts speak of the world, and not of the program?\n"
        "  [OK]    Commands that work     24 in a row, 0.0 refusals per 10\n"
        "          Do most commands go through, many in a row?\n"
        "  [OK]    Refusals in a row      0 at most\n"
        "          Does a player who is refused soon do something else?\n"
        "  [OK]    Variety                all 2 used\n"
        "          Are new actions used as play goes on, or all that are of use?\n"
        "  [OK]    Invariants kept        0.00    0 of 24 records taken back\n"
        "          Do few actions break an invariant, and are taken back?\n"
        "  [OK]    Links between objects  steady\n"
        "          Do relations and references between objects grow, or stay?\n"
        "\n"
        "  Goal: still in reach.\n"
        "  Verdict: HEALTHY.\n"
    )


@pytest.mark.parametrize("form", [["--json"], ["--format", "json"]])
@pytest.mark.parametrize("last", [["--window", "12"], ["--last", "12"]])
def test_json_and_the_window(tw, played, form: list[str], last: list[str]) -> None:
    ran = tw("quality", "small-1", *form, *last, "--store", played)
    found = json.loads(ran.out)
    assert found["schema"] == "tw-quality/2"
    assert found["window"] == {
        "requested": 12, "n": 12, "first": 13, "last": 24, "ticks": [12, 23],
    }  # fmt: skip
    assert found["goal"] == {"fate": "in reach", "tick": None, "by": None, "sure": True}
    assert (found["run"], found["verdict"], found["gate"]) == ("small-1", "HEALTHY", None)
    assert [one["id"] for one in found["dimensions"]][:2] == ["groundedness", "character"]
    with RunStore.open(played, writable=False) as store:
        assert found["digest"] == find_run(store).header.digest


@pytest.mark.parametrize(
    ("options", "code"),
    [([], 0), (["--gate"], 1), (["--gate", "plain"], 1), (["--gate", "strict"], 1),
     (["--gate", "--window", "9"], 3), (["--gate", "strict", "--last", "9"], 3)],
)  # fmt: skip
def test_a_failed_run_and_the_gate(tw, failed, options: list[str], code: int) -> None:
    ran = tw("quality", *options, "small", "--store", failed)
    assert ran.code == code
    assert "Verdict: " in ran.out


def test_a_degraded_run_passes_the_gate_and_not_the_strict_one(tw, world) -> None:
    lines = ["add 1", *["go to attic", "go to hall"] * 11, *["go to hall"] * 3, "go to attic"]
    Path("s.txt").write_text("\n".join(lines), encoding="utf-8")
    tw("run", world, "--script", "s.txt")
    assert "Verdict: DEGRADED — refusals in a row in warn." in tw("quality").out
    assert tw("quality", "--gate").code == 0
    assert tw("quality", "--gate", "strict").code == 1
    kept = tw("quality", "--gate", "strict", "--reference")
    assert (kept.code, "not kept as a reference" in kept.err) == (1, True)
    with RunStore.open(writable=False) as store:
        assert find_run(store).reference is None


def test_what_cannot_be_scored_is_2(tw, played) -> None:
    for gate in ([], ["--gate"], ["--gate", "strict"]):
        ran = tw("quality", "nowhere", *gate, "--store", played)
        assert (ran.code, "TW1104" in ran.err) == (2, True)
        ran = tw("quality", *gate, "--store", "no.sqlite", "--json")
        assert (ran.code, ran.json["ok"]) == (2, False)
        ran = tw("quality", *gate, "--window", "0", "--store", played)
        assert (ran.code, "TW0006" in ran.err) == (2, True)
    played.write_bytes(b"x" * 5000)
    assert tw("quality", "--gate", "--store", played).code == 2


def test_a_run_whose_sources_are_no_program_any_more_is_2(tw, played) -> None:
    from dataclasses import replace

    from tokenworld.store.records import SourceText

    with RunStore.open(played) as store:
        header = find_run(store).header
        store.begin(replace(header, world="old", sources=(SourceText("o.tw", "worldly"),)))
    assert tw("quality", "old", "--gate", "--store", played).code == 2


def test_a_release_run_becomes_a_reference_through_the_gate_alone(tw, played, tmp_path) -> None:
    ran = tw("quality", "small", "--gate", "strict", "--reference", "--store", played)
    assert (ran.code, "small-1 is kept as a reference." in ran.out) == (0, True)
    assert tw("quality", "small", "--reference", "--store", played).code == 0  # again: no change
    with RunStore.open(played) as store:
        found = find_run(store)
        assert found.reference is not None
        assert (found.reference.verdict, found.reference.window) == ("HEALTHY", 50)
        write_export(store, [found], "run.jsonl")
        (again,) = import_file(store, "run.jsonl").runs
        assert again.reference == found.reference
    assert "reference" in tw("runs", "--store", played).out
    listed = tw("runs", "--json", "--store", played).json["runs"]
    assert [one["reference"] for one in listed] == ["HEALTHY", "HEALTHY"]
    other = tw("quality", "small-1", "--reference", "--window", "20", "--store", played)
    assert (other.code, "is a reference already" in other.err) == (2, True)


def test_a_failed_run_is_no_reference(tw, failed) -> None:
    ran = tw("quality", "--reference", "--store", failed)
    assert ran.code == 1
    with RunStore.open(failed, writable=False) as store:
        assert find_run(store).reference is None


def test_the_markers_of_a_world_are_beside_it(tw, world) -> None:
    lines = ["add 1", *["go to the framework"] * 12]
    Path("s.txt").write_text("\n".join(lines), encoding="utf-8")
    tw("run", world, "--script", "s.txt")
    assert "[FAIL]  Story voice            0.07    1 of 13 texts" in tw("quality").out
    Path("quality.toml").write_text('[character]\nallow = ["framework"]\n', encoding="utf-8")
    assert "[OK]    Story voice            1.00    13 of 13 texts" in tw("quality").out
    Path("quality.toml").write_text("[character]\nallow = 1\n", encoding="utf-8")
    ran = tw("quality")
    assert (ran.code, "TW0006" in ran.err) == (2, True)
