"""The data folders are found, and a broken install says so."""

from pathlib import Path

import pytest

from tokenworld import assets


def test_the_checkout_has_its_grammar() -> None:
    assert assets.grammar_path().read_text(encoding="utf-8").startswith("// tw.lark")


def test_a_wheel_is_preferred_to_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tokenworld"
    for place in (package / "_data" / "rules", tmp_path / "rules", tmp_path / "domains"):
        place.mkdir(parents=True)
    monkeypatch.setattr(assets, "_PACKAGE", package)
    assert assets.rules_folder() == package / "_data" / "rules"
    assert assets.domains_folder() == tmp_path / "domains"
    with pytest.raises(assets.MissingAssetsError, match=r"`grammars` is missing.*Reinstall"):
        assets.grammar_path()
