"""`tw picture`: maps with their legends, of worlds and of stored runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ISLAND = Path(__file__).parents[2] / "domains" / "island" / "world.tw"
SVG = "{http://www.w3.org/2000/svg}"
Tw = Any


def texts(path: Path) -> list[str]:
    return [one.text or "" for one in ElementTree.parse(path).iter(f"{SVG}text")]


def test_a_map_has_its_cells_its_objects_and_its_legend(tw: Tw) -> None:
    assert tw("picture", ISLAND, "-o", "island.svg").code == 0
    drawing = ElementTree.parse("island.svg")
    assert drawing.find(f"{SVG}title").text == "The Island, tick 0"  # type: ignore[union-attr]
    cells = [one for one in drawing.iter(f"{SVG}rect") if one.get("width") == "24"]
    assert len(cells) == 15
    assert len({one.get("fill") for one in cells}) == 6
    shown = texts(Path("island.svg"))
    assert shown[:2] == ["@", "G"]
    assert {"hero", "ghoul", "stone rock", "water", "grass", "tree", "table"} <= set(shown)


def test_a_stored_run_is_drawn_after_any_record(tw: Tw) -> None:
    Path("s.txt").write_text("move(east)\nmove(east)\n", encoding="utf-8")
    assert tw("run", ISLAND, "--script", "s.txt", "--store", "r.sqlite").code in (0, 1)
    for tick in (0, 2):
        options = ("--run", "1", "--tick", tick, "--store", "r.sqlite", "-o", f"{tick}.svg")
        assert tw("picture", *options, "--json").json["tick"] == tick
    assert tw("picture", "--run", "1", "--store", "r.sqlite", "-o", "last.svg").code == 0
    assert Path("last.svg").read_bytes() == Path("2.svg").read_bytes()
    assert Path("0.svg").read_bytes() != Path("2.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cellar",), "TW0006"),
        ((), "Name a world, or a run"),
        ((ISLAND, "--tick", "3"), "`--tick` belongs to `--run`"),
        ((ISLAND, "-o", "x.gif"), "names no kind of picture"),
        ((ISLAND, "-o", "none/x.svg"), "TW0001"),
        (("--run", "7", "--store", "none.sqlite"), "TW"),
    ],
)
def test_bad_input_is_one_diagnostic(tw: Tw, arguments: tuple[object, ...], told: str) -> None:
    ran = tw("picture", *arguments)
    assert (ran.code, told in ran.err) == (2, True), ran.err
    assert not list(Path.cwd().glob("*.svg"))


def test_a_png_has_the_colours_and_twice_the_size_of_the_drawing(tw: Tw) -> None:
    pytest.importorskip("resvg_py", reason="the extra `png` is not installed")
    image = pytest.importorskip("PIL.Image", reason="Pillow, which reads PNG, is not installed")
    for name in ("island.svg", "island.png", "again.png"):
        ran = tw("picture", ISLAND, "-o", name)
        if "PNG needs a font" in ran.err:
            pytest.skip("no font is installed")
        assert ran.code == 0
    drawing = ElementTree.parse("island.svg").getroot()
    with image.open("island.png") as png:
        assert png.size == tuple(2 * int(drawing.get(one, "")) for one in ("width", "height"))
        for cell in [one for one in drawing.iter(f"{SVG}rect") if one.get("width") == "24"]:
            corner = [2 * int(cell.get(one, "")) + 6 for one in ("x", "y")]
            assert "#{:02x}{:02x}{:02x}".format(*png.getpixel(corner)[:3]) == cell.get("fill")
    assert Path("island.png").read_bytes() == Path("again.png").read_bytes()


def test_a_png_without_the_library_is_one_diagnostic(
    tw: Tw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.play.picture.find_spec", lambda name: None)
    ran = tw("picture", ISLAND, "-o", "x.png")
    assert (ran.code, "token-world[png]" in ran.err) == (2, True), ran.err
    assert not Path("x.png").exists()


def test_a_png_without_a_font_is_one_diagnostic(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    resvg = pytest.importorskip("resvg_py", reason="the extra `png` is not installed")
    bare = partial(resvg.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr("resvg_py.svg_to_bytes", bare)
    ran = tw("picture", ISLAND, "-o", "x.png")
    assert (ran.code, "needs a font" in ran.err) == (2, True), ran.err
    assert not Path("x.png").exists()
