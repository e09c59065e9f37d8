"""Hostile names and texts end to end: they are formatted, checked, run, explained and exported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tokenworld.cli import _main

NAMES = (
    "a'b", 'a"b', "a\\b", "\\n", "{x}", "{0}", "%s", "%(x)s", "a b", "-", "1", "None", "def",
    "__import__('os').abort()", "a\u2028b", "a\x85b", "#", ";", ")", "(define", "?x", "x'''y",
    "ünï", "🔥", "count", "A", "a\tb", "S",
)  # fmt: skip
TEXTS = (
    "it's", r"say \"hi\"", r"\{x\}", r"\\", r"\\n", "%s %d %(x)s", "'''", r"\" + 1 + \"",
    "line\u2028separator", "next\x85line", "para\u2029graph", "# no comment", "(and (or", "; semi",
    "\u202eabc", "é🔥", "a\tb", "}", r"\{0\}", "$(x) `y` <z>&amp;",
)  # fmt: skip

PROGRAM = """\
type `{kind}` {{ `{attr}`: 0 to 9 = 0  note: text = "{text}" }}
actor me: `{kind}`
relation `{rel}`(a: `{kind}`, b: `{kind}`)
action `{act}`(`{par}`: `{kind}`) as "do {{`{par}`}}" {{
  require `{par}`.`{attr}` < 2 else `{label}` "{text}"
  `{par}`.`{attr}` += 1
  add `{rel}`(`{par}`, `{par}`)
  say "{text} {{`{par}`.note}}"
}}
world `{world}` "{text}" {{
  endless
  object `{obj}`: `{kind}`
  goal `{goal}`: `{obj}`.`{attr}` > 1 "{text}"
}}
scenario "{text}" in `{world}` {{
  when `{act}`(`{obj}`) times 2 then won, `{rel}`(`{obj}`, `{obj}`)
  when `{act}`(`{obj}`)         then refused because `{label}`
}}
"""
KINDS = ("kind", "attr", "rel", "act", "par", "label", "world", "obj", "goal")


def program(shift: int, text: str) -> tuple[str, dict[str, str]]:
    """The program with every name a hostile one; no two kinds share one."""
    names = {kind: NAMES[(shift + i) % len(NAMES)] for i, kind in enumerate(KINDS)}
    return PROGRAM.format(**names, text=text), names


def tw(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """One call that must succeed; what it printed."""
    code = _main(list(arguments))
    found = capsys.readouterr()
    assert code == 0, found.out + found.err
    assert "Traceback" not in found.err
    return found.out


def everything(path: Path, names: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """All verbs over one hostile program."""
    file = str(path)
    tw(capsys, "fmt", file)
    tw(capsys, "fmt", "--check", file)
    tw(capsys, "check", file)
    assert json.loads(tw(capsys, "test", file, "--json"))["passed"] == 1
    ran = tw(capsys, "run", file, "--player", "random", "--ticks", "3", "--json")
    assert json.loads(ran)["records"] == 3
    assert json.loads(tw(capsys, "plan", file, "--json"))["answer"] == "winnable"
    told = tw(capsys, "explain", "--stages", file)
    assert names["obj"] not in re.findall(r'"([^"]*)"', told.split("def ")[-1])
    json.loads(tw(capsys, "model", file))
    tw(capsys, "runs", "replay", "--verify")
    exported = json.loads(tw(capsys, "export", "--pddl", file, "--json"))
    for text in (exported["domain.pddl"], exported["problem.pddl"]):
        _balanced(text)


def _balanced(pddl: str) -> None:
    """Parentheses balance outside of comments, and nothing but plain characters is left."""
    bare = "\n".join(line.partition(";")[0] for line in pddl.split("\n"))
    assert bare.count("(") == bare.count(")")
    assert re.fullmatch(r"[\s()?:a-zA-Z0-9_\-=<>+*/.]*", bare), bare


@pytest.mark.parametrize("shift", range(0, len(NAMES), 3))
def test_names(
    shift: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text, names = program(shift, "plain")
    path = tmp_path / "hostile.tw"
    path.write_text(text, encoding="utf-8", newline="")
    everything(path, names, capsys)


@pytest.mark.parametrize("text", TEXTS)
def test_texts(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {kind: f"{kind}_x" for kind in KINDS}
    path = tmp_path / "hostile.tw"
    path.write_text(PROGRAM.format(**names, text=text), encoding="utf-8", newline="")
    everything(path, names, capsys)
