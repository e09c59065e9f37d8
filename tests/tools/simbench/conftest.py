"""Sets of questions for the tests, and the command that makes and asks them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
Tw = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tw(capsys: pytest.CaptureFixture[str]) -> Tw:
    """``tw("simbench", …)``: exit code, stdout, stderr; no traceback in either."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = _main([str(one) for one in arguments])
        found = capsys.readouterr()
        assert "Traceback" not in found.out + found.err
        assert code != 4, found.err
        return code, found.out, found.err

    return call


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small set of the cellar, which nobody changes."""
    folder = tmp_path_factory.mktemp("sets") / "cellar"
    assert _main(["simbench", "make", "cellar", "--rows", "10", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Puts a predictor into a file; the command that starts it."""

    def put(text: str, name: str = "predictor.py") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return f"{sys.executable} {tmp_path / name}"

    return put


COPIES = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"modified": [], "removed": [], "score": asked.get("score", {})}), flush=True)
"""


def scores(tw: Tw, folder: Path, *answers: Path) -> Any:
    code, out, _ = tw("simbench", "score", folder, *answers, "--json")
    assert code == 0
    return json.loads(out)
