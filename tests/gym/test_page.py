"""The examples of `docs/gym.md` run as they stand there, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")
pytest.importorskip("pettingzoo", reason="the extra `gym` is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "gym.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world,) = blocks("tw")
    (tmp_path / "rowers.tw").write_text(world, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    learner, rowers = blocks("python")
    exec(compile(learner, "learner", "exec"), {})
    total, tick, endings = capsys.readouterr().out.split(" ", 2)
    assert int(tick) <= 200
    assert float(total) < 0  # every step of the taxi costs
    assert endings.startswith("[")
    exec(compile(rowers, "rowers", "exec"), {})
    assert capsys.readouterr().out == "{'ann': True, 'bob': True}\n"
