"""Every declaration of a world can be renamed, or a scenario that passed stands against it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tokenworld.diagnostics.diagnostic import edited
from tokenworld.protocols.editors.book import Book, Snapshot
from tokenworld.protocols.editors.rename import Refused, renamable, rename
from tokenworld.session import check_text

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("usecases/doorway", "usecases/terrain_crossing")


def opened(folder: Path) -> tuple[Book, Snapshot]:
    book, path = Book(folders=(folder,)), folder / "world.tw"
    book.put(path.as_uri(), path, path.read_text(encoding="utf-8"), 1)
    found = book.check(path.as_uri())
    assert found is not None
    assert found.checked.ok
    return book, found


@pytest.mark.parametrize("name", FOLDERS)
def test_every_declaration_is_renamed_or_a_scenario_names_it(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "world"
    shutil.copytree(ROOT / "domains" / name, folder)
    book, found = opened(folder.resolve())
    own = [one for one in found.names.symbols if one.span.file == found.source.name]
    done, against = 0, list[str]()
    for symbol in dict.fromkeys(own):
        use = found.at(symbol.span.start)
        assert use is not None
        assert use.symbol == symbol
        try:
            files = rename(book, found, renamable(use), f"{symbol.name}Zq")
        except Refused as refused:
            against.append(str(refused))
            continue
        here = next(one for one in files if one.source.name == found.source.name)
        text = edited(found.source.text, here.edits)
        assert text.count(f"{symbol.name}Zq") == len(here.edits) >= 1
        done += 1
    assert all("it types or expects the name" in one for one in against)
    assert done > 0.7 * len(set(own))


def test_a_parameter_is_renamed_in_the_slots_of_texts(tmp_path: Path) -> None:
    text = (
        'type Lamp { lit: bool }\naction light(l: Lamp) as "light \\"{l}\\"" {\n'
        '  require not l.lit else lit "{The l} is lit, \\u{1F526} {a l}."\n  l.lit = true\n}\n'
        "world w { object a: Lamp }\n"
    ).replace("\\u{1F526}", "🔦")
    path = tmp_path / "world.tw"
    path.write_text(text, encoding="utf-8")
    book, found = opened(tmp_path)
    use = found.at(text.index("l: Lamp"))
    (here,) = rename(book, found, renamable(use), "lantern")
    after = edited(text, here.edits)
    assert len(here.edits) == 6
    assert '"{The lantern} is lit, 🔦 {a lantern}."' in after
    assert check_text(after).ok
