"""Which words break character, and where a world says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.verbs.quality.dimensions import Markers, Settings, quality_settings, settings_file


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look about", ()),
        ("Ask the OPERATOR.", ("operator",)),
        ("operators yield yields yielded", ("yield",)),
        ("ignore the System  Prompt!", ("system prompt",)),
        ("the system. prompt", ()),
        ("framework-scenario", ("framework", "scenario")),
        ("mechanic, mechanic", ("mechanic",)),
        ("e-mechanics", ()),
        ("straße Scenario", ("scenario",)),
    ],
)
def test_whole_words_whatever_their_case(text: str, found: tuple[str, ...]) -> None:
    assert Markers().found(text) == found


def test_an_allowed_phrase_is_no_break() -> None:
    markers = Markers(allowed=("telephone operator", "Scenario"))
    assert not markers.found("ring the Telephone Operator for a scenario")
    assert markers.found("ring the operator") == ("operator",)
    assert markers.found("a telephone operators operator") == ("operator",)


def test_no_markers_find_nothing() -> None:
    assert not Markers(words=()).found("the system prompt")


FILE = """
[character]
allow = ["operator"]
[worlds.garage.character]
allow = ["mechanic"]
markers = ["mechanic", "dungeon  master"]
"""


def test_a_world_has_its_own_words(tmp_path: Path) -> None:
    path = tmp_path / "quality.toml"
    path.write_text(FILE, encoding="utf-8")
    assert quality_settings(path, "cellar").markers == Markers(allowed=("operator",))
    assert quality_settings(path, "garage").markers == Markers(
        ("mechanic", "dungeon master"), ("mechanic",)
    )
    assert quality_settings(None, "cellar") == Settings()


def test_a_world_is_open_or_closed(tmp_path: Path) -> None:
    path = tmp_path / "quality.toml"
    text = '[actions]\nworld = "open"\n[worlds.garage.actions]\nworld = "closed"\n'
    path.write_text(text, encoding="utf-8")
    assert not quality_settings(path, "cellar").closed
    assert quality_settings(path, "garage").closed
    assert quality_settings(None, "cellar").closed


def test_the_file_stands_beside_the_world(tmp_path: Path) -> None:
    (tmp_path / "domains" / "x").mkdir(parents=True)
    path = tmp_path / "domains" / "x" / "quality.toml"
    assert settings_file((), tmp_path) is None
    assert settings_file(("domains/x/world.tw",), tmp_path) is None
    path.write_text("", encoding="utf-8")
    assert settings_file(("domains/x/world.tw",), tmp_path) == path


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("[character", "1:11", "no TOML"),
        ("\n\n[character]\nallow: []", "4:6", "no TOML"),
        ("[marks]", "1:2", "`marks` is no key that is known"),
        ("[character]\nforbid = []", "2:1", "`character.forbid` is no key that is known"),
        ("[character]\nallow = 'operator'", "2:1", "`character.allow` is no list"),
        ("[character]\nmarkers = ['']", "", "a phrase is empty"),
        ("# 3\ncharacter = 3", "2:1", "`character` is no table"),
        ("[worlds]\nv = {}\nw = 1", "3:1", "`worlds.w` is no table"),
        ("[worlds.w.actions]\nworld = 'ajar'", "2:1", "`worlds.w.actions.world`"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, text: str, place: str, why: str) -> None:
    path = tmp_path / "quality.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Failure) as raised:
        quality_settings(path, "w")
    (found,) = raised.value.diagnostics
    assert found.code == "TW0006"
    assert why in found.message
    assert str(found.span or "").removeprefix(f"{path}:") == place


def test_a_misspelt_key_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "quality.toml"
    path.write_text("[character]\nmarker = []", encoding="utf-8")
    with pytest.raises(Failure) as raised:
        quality_settings(path, "w")
    assert raised.value.diagnostics[0].hint == "Did you mean `markers`?"


def test_a_file_nested_too_deeply_is_no_file_of_markers(tmp_path: Path) -> None:
    path = tmp_path / "quality.toml"
    path.write_text("a = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(Failure, match="TOML"):
        quality_settings(path, "house")
