"""Run `tw judge` in this process, and judge texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tokenworld.cli import _main
from tokenworld.diagnostics import Source
from tokenworld.verbs.judge.contract import Budget, Contract
from tokenworld.verbs.judge.findings import Judgement
from tokenworld.verbs.judge.judging import judge

CORPUS = Path(__file__).parent / "corpus"
QUICK = Budget(mutants=0, ticks=200)


Tw = Callable[..., Ran]


@pytest.fixture
def tw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tw:
    """``tw(file, "--json")`` judges in a fresh folder; no output may contain a traceback."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Ran:
        code = _main(["judge", *map(str, arguments)])
        found = capsys.readouterr()
        assert "Traceback" not in found.err + found.out
        assert code != 4, found.err
        return Ran(code, found.out, found.err)

    return call


def judged(
    text: str, contract: Contract | None = None, budget: Budget = QUICK, **more: Any
) -> Judgement:
    return judge(Source("w.tw", None, text), contract, budget, **more)


def codes(found: Judgement) -> set[str]:
    return {one.code for one in found.findings}
