"""The mapping file of a proposed world: how the records of its game differ from its attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tokenworld.verbs.learn.propose.scenes import LABEL, Vocabulary
from tokenworld.verbs.learn.propose.textrows import OVER, SCORE, WON, Shape, TextLayout
from tokenworld.verbs.learn.propose.writing import ROOT


def mapping_text(layout: TextLayout, vocabulary: Vocabulary) -> str:
    """The text of `mapping.toml`."""
    return "\n".join(_lines(layout, vocabulary)) + "\n"


def _lines(layout: TextLayout, vocabulary: Vocabulary) -> Iterator[str]:
    yield f"game = {json.dumps(layout.game)}"
    yield 'name = "recordName"'
    yield f'label = "{LABEL}"'
    if layout.rootless:
        yield f'root = "{ROOT}"'
    yield "\n[score]"
    yield f'over = "{OVER}"\nwon = "{WON}"\nkept = "{SCORE}"'
    renamed = {old: new for old, new in layout.types.items() if old != new}
    if renamed:
        yield "\n[types]"
        yield from (f"{json.dumps(old)} = {json.dumps(new)}" for old, new in renamed.items())
    if layout.parts:
        yield "\n[parts]"
        yield from (f"{json.dumps(old)} = {count}" for old, count in layout.parts.items())
    shapes = [(key, text) for shape in layout.shapes.values()
              for key, text in _property(shape, layout, vocabulary)]  # fmt: skip
    if shapes:
        yield "\n[properties]"
        yield from (f"{json.dumps(key)} = {text}" for key, text in shapes)


def _property(
    shape: Shape, layout: TextLayout, vocabulary: Vocabulary
) -> Iterator[tuple[str, str]]:
    entries: list[str] = []
    if shape.form == "constant":
        for kind in shape.owners:
            yield f"{kind}.{shape.name}", f"{{ constant = {json.dumps(shape.constant)} }}"
        return
    if shape.form == "value":
        if shape.parts == (shape.name,) and not shape.present and not shape.filled:
            return
        entries.append(f"value = {json.dumps(shape.parts[0])}")
    elif shape.form == "items":
        entries.append(f"items = {json.dumps(list(shape.parts))}")
        if shape.nothing is not None:
            entries.append(f"nothing = {json.dumps(shape.nothing)}")
    else:
        entries.append(f"entries = {json.dumps(list(shape.parts))}")
        entries.append(f"keys = {json.dumps(shape.keys)}, having = {json.dumps(shape.having)}")
    if shape.present:
        entries.append(f"present = {json.dumps(shape.present)}")
    if shape.filled:
        entries.append(f"filled = {json.dumps(shape.filled)}")
    owner = vocabulary.group(frozenset(shape.owners))
    key = f"{owner}.{shape.name}" if owner else shape.name
    yield key, f"{{ {', '.join(entries)} }}"
