"""Short runs of damaged inputs, in a child process with little memory; `run.py` does long ones."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from calls import call  # noqa: E402
from damage import json_damaged, pddl_damaged  # noqa: E402
from mutations import corpus, mutant  # noqa: E402
from probe import Slow, budget, faults  # noqa: E402
from verbs import CASES  # noqa: E402

from tokenworld.cli.commands import VERBS  # noqa: E402


def run(count: int, *options: str) -> None:
    """Try so many inputs; none may show a fault."""
    command = [sys.executable, str(HERE / "run.py"), "--n", str(count), "--seed", "7", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert done.stdout.endswith(f"{count} inputs, 0 with faults\n")


@pytest.mark.parametrize("count", [25, pytest.param(400, marks=pytest.mark.slow)])
def test_mutants(count: int) -> None:
    run(count, "--only", "texts")


@pytest.mark.parametrize(
    "count", [20, pytest.param(200, marks=pytest.mark.slow),
              pytest.param(20_000, marks=pytest.mark.slow)]
)  # fmt: skip
def test_inputs_of_all_verbs(count: int) -> None:
    run(count)


def test_every_verb_is_called_that_takes_files() -> None:
    """Those that take none are named here, so that a new verb is thought of."""
    without = {"card", "doctor", "fuzz", "lsp", "mcp", "schema"}
    assert {name.split()[0] for name in CASES} == set(VERBS) - without


def test_a_damaged_input_is_always_the_same(tmp_path: Path) -> None:
    def hit() -> bytes:
        return json_damaged(random.Random(5), b'{"a": [1, 2], "b": {"c": "x"}}\n{"d": 1}')

    assert hit() == hit()
    sound = b"(define (domain d) (:predicates (p)))"
    many = {pddl_damaged(random.Random(number), sound) for number in range(40)}
    assert len(many) > 20


def test_a_call_sees_faults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "a.tw"
    file.write_text("type A\n", encoding="utf-8")
    assert call(["check", str(file), "--json"], seconds=5).fault is None
    monkeypatch.setattr("tokenworld.verbs.check.check", lambda *_, **__: 1 / 0)
    fault = call(["check", str(file)], seconds=5).fault
    assert fault is not None
    assert "ZeroDivisionError" in fault
    monkeypatch.setattr("tokenworld.verbs.check.check", lambda *_, **__: 0)
    fault = call(["check", str(file), "--json"], seconds=5).fault
    assert fault is not None
    assert "no single JSON object" in fault


def test_a_mutant_is_always_the_same() -> None:
    texts = corpus()
    assert [mutant(texts, 3, n) for n in range(20)] == [mutant(texts, 3, n) for n in range(20)]
    assert len({mutant(texts, 3, n) for n in range(20)}) > 15


def test_a_stage_that_hangs_is_stopped() -> None:
    def hang() -> None:
        while True:
            pass

    with pytest.raises(Slow), budget(0.05):
        hang()


def test_the_probe_sees_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr("probe.format_source", broken)
    (fault,) = faults(b"type A")
    assert "RecursionError" in fault


DEEP = 4_000
HOSTILE = {
    "parentheses": "derive d() = " + "(" * DEEP + "1" + ")" * DEEP,
    "open_parentheses": "derive d() = " + "(" * DEEP,
    "braces": "law l() " + "{ if a " * DEEP + "}" * DEEP,
    "open_braces": "law l() " + "{" * DEEP,
    "closing_braces": "type A " + "}" * DEEP,
    "lists": "derive d() = " + "[" * DEEP + "]" * DEEP,
    "nots": "derive d() = " + "not " * DEEP + "a",
    "sums": "derive d() = " + "1 + " * DEEP + "1",
    "ands": "derive d() = " + "a and " * DEEP + "a",
    "implications": "derive d() = " + "a implies " * DEEP + "a",
    "attributes": "derive d() = a" + ".b" * DEEP,
    "quirks": 'quirk "a" ' * DEEP + "type A",
    "else_ifs": "law l() { if a { } " + "else if a { } " * DEEP + "}",
    "choices": "derive d() = " + "if a then b else " * DEEP + "c",
    "folds": "derive d() = " + "any(" * DEEP + ")" * DEEP,
    "slots": 'law l() { say "' + "{a}" * DEEP + '" }',
    "deep_slot": 'law l() { say "{' + "(" * DEEP + "a" + ")" * DEEP + '}" }',
    "long_name": "type " + "A" * 1_000_000,
    "long_raw_name": "type `" + "a" * 1_000_000 + "`",
    "long_text": 'law l() { say "' + "a" * 1_000_000 + '" }',
    "long_comment": "#" * 1_000_000 + "\ntype A",
    "long_number": "param p: 0 to 9 = " + "9" * 100_000,
    "many_decimals": "param p: 0.0 to 9.9 = 0." + "0" * 900 + "1",
    "wide_range": "type A { x: 0 to " + "9" * 900 + " = 0 }\nworld w { object a: A }",
    "many_items": "type A\n" * DEEP,
    "many_names": "enum E { " + ", ".join(f"a{n}" for n in range(DEEP)) + " }",
    "many_mistakes": "law l( { }\n" * DEEP,
    "many_quotes": 'say "\n' * DEEP,
    "many_comments": "# a\n" * DEEP + "type A",
    "blank": " \t\r\n" * DEEP,
    "signs": "@$^~" * DEEP,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_extremes(name: str) -> None:
    assert faults(HOSTILE[name].encode()) == []


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0", b"type A\0", b"\xff\xfetype A", b"\xef\xbb\xbf", b"\xef\xbb\xbftype A",
        b"\xed\xa0\x80", b"type A \xed\xbf\xbf", b"type `\x85`", b"type A\x1a", b"\r", b"type A\r",
        "type `\u2028`".encode(), "type `\u202e`".encode(), b"#\xf0\x9f\x98\x80", b"\x0c\x0b",
    ],
)  # fmt: skip
def test_odd_bytes(data: bytes) -> None:
    assert faults(data) == []
