"""Every name of the bundled files is found; those that are hard to find mean the right thing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.protocols.editors import names as lookup
from tokenworld.protocols.editors.book import Book, Snapshot
from tokenworld.syntax import nodes as syn

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted([*(ROOT / "domains").rglob("*.tw"), *(ROOT / "rules").rglob("*.tw")])
BUILT_IN = frozenset(
    {
        *("abs", "clamp", "toward", "sign", "floor", "round", "sqrt", "sin", "cos", "exp", "log"),
        *("pow", "pi", "next", "prev", "tick", "id", "born", "busy", "did", "score", "here"),
        *("number", "unknown", "me"),
    }
)
"""Functions, labels and names that no text declares."""


def snapshot(path: Path, text: str | None = None) -> Snapshot:
    book = Book()
    said = path.read_text(encoding="utf-8") if text is None else text
    book.put(path.as_uri(), path, said, 1)
    found = book.check(path.as_uri())
    assert found is not None
    return found


def written(node: syn.Node) -> Iterator[tuple[tuple[type, str], syn.Name]]:
    """All names of a tree, each with the field that holds it."""
    for one in fields(node):
        value = getattr(node, one.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, syn.Name):
                yield (type(node), one.name), part
            elif isinstance(part, syn.Node):
                yield from written(part)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_name_of_a_bundled_file_has_a_declaration(path: Path) -> None:
    found = snapshot(path)
    known = {use.span for use in found.names.uses.get(found.source.name, ())}
    without = {key for key, kinds in lookup._MEANS.items() if not kinds}
    without.add((syn.Refused, "label"))  # labels of several modules, and those of the engine
    missing = {
        name.value
        for key, name in written(found.names.trees[found.source.name])
        if key not in without and name.span not in known
    }
    cells = {name for name in missing if name.split("_")[-1].isdigit()}  # made by layouts
    assert not missing - cells - BUILT_IN


def meant(text: str, word: str, shift: int = 0, path: str = "/w.tw") -> tuple[str, str]:
    """The kind of what a word means, and the text of its declaration."""
    found = snapshot(Path(path), text)
    use = found.at(text.index(word) + shift)
    assert use is not None
    source: Source = found.source_named(use.symbol.item.file)
    return use.symbol.kind, source.text[use.symbol.item.start : use.symbol.item.end]


TWO = """type Door { open: bool }
type Chest { open: bool  inside: Door? inverse holders }
actor me: Chest
effect close(c: Chest) { c.open = false }
effect lone(d: Door) { d.open = false }
action shut(c: Chest) { require c.open else shut_already  close(c) }
world w { object me_too: Chest  object d: Door  goal end: me_too.open }
scenario "s" in w { when shut(me_too) then refused because shut_already, d.open  when pass
then won end }
"""


@pytest.mark.parametrize(
    ("word", "shift", "kind", "declared"),
    [
        ("require c.open", 10, "attribute", "open: bool"),
        ("require c.open", 8, "local", "c: Chest"),
        ("because shut_already", 9, "label", "require c.open else shut_already"),
        ("won end", 4, "ending", "goal end: me_too.open"),
        ("close(c) }", 0, "effect", "effect close(c: Chest) { c.open = false }"),
        ("when shut", 5, "action", "action shut(c: Chest)"),
        ("in w", 3, "world", "world w {"),
        ("shut(me_too)", 6, "object", "object me_too: Chest"),
    ],
)
def test_names_mean_their_declarations(word: str, shift: int, kind: str, declared: str) -> None:
    found = meant(TWO, word, shift)
    assert found[0] == kind
    assert found[1].startswith(declared)


@pytest.mark.parametrize("broken", [False, True])
def test_two_attributes_of_one_name_are_told_apart(broken: bool) -> None:
    """In a file with errors too, and in an effect that nobody calls."""
    text = TWO + "action b(c: Chest) { for d in c.inside.holders { let e = d.inside  e.open = 1 } }"
    text = text if broken else TWO
    found = snapshot(Path("/w.tw"), text)
    assert (found.checked.program is None) == broken

    def owner(word: str) -> str:
        use = found.at(text.index(word) + word.index(".") + 1)
        assert use is not None
        return use.symbol.owner

    assert owner("d.open  when") == "Door"
    assert owner("d.open = f") == "Door"
    assert owner("c.open else") == "Chest"
    assert owner("me_too.open") == "Chest"
    if broken:
        assert owner("e.open = 1") == "Door"


def test_names_behind_an_alias_lead_to_the_module(tmp_path: Path) -> None:
    (tmp_path / "lamps.tw").write_text(
        "type Lamp { lit: bool }\nderive bright(l: Lamp) = l.lit\n", encoding="utf-8"
    )
    text = (
        "use lamps as lamps\ntype Room\n"
        "derive dark(l: `lamps.Lamp`) = not lamps.bright(l)\nworld w { }\n"
    )
    path = str(tmp_path / "w.tw")
    assert meant(text, "bright(l)", 0, path) == ("derive", "derive bright(l: Lamp) = l.lit")
    assert meant(text, "`lamps.Lamp`", 3, path) == ("type", "type Lamp { lit: bool }")


def test_a_file_with_errors_still_has_names() -> None:
    text = TWO.replace("d.open }", "d.opne }")
    assert meant(text, "close(c) }") == ("effect", "effect close(c: Chest) { c.open = false }")
