"""One store per project: beside its `domains`, from wherever in it the program is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.store.database import DEFAULT_PATH, default_path
from tokenworld.store.log import RunStore


def test_beside_the_domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "domains" / "cellar"
    deep.mkdir(parents=True)
    for folder in (deep, tmp_path / "domains"):
        monkeypatch.chdir(folder)
        assert default_path() == tmp_path / ".tw" / "runs.sqlite"
    monkeypatch.chdir(tmp_path)
    assert default_path() == DEFAULT_PATH


def test_without_domains_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RunStore.open():
        pass
    assert (tmp_path / ".tw" / "runs.sqlite").is_file()


def test_an_earlier_store_stays_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    earlier = tmp_path / ".tokenworld" / "runs.sqlite"
    with RunStore.open(earlier):
        pass
    assert default_path().absolute() == earlier
    with RunStore.open(tmp_path / ".tw" / "runs.sqlite"):
        pass
    assert default_path() == DEFAULT_PATH
