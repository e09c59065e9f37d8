"""``tw picture``: draw the layouts of a world with a legend (SVG, PNG), for docs and reports."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

from tokenworld.diagnostics import Diagnostic, Failure, usage
from tokenworld.play.model.inspection import Inspection, Map
from tokenworld.session import Session
from tokenworld.session.moments import Moment
from tokenworld.session.replaying import session_at
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, write_file

__all__ = ["drawing", "picture"]

_CELL: Final = 24
_MARGIN: Final = 12
_LINE: Final = 22
_COLOURS: Final = (
    "#dce9c8", "#a9c4e8", "#cfcfcf", "#f1dfae", "#7f9f6a", "#e8c3a6", "#b8a1c9", "#f3f3f3",
    "#8d8d8d", "#f0a58f", "#9fd0c4", "#d9b36c",
)  # fmt: skip
"""Colours for the kinds of ground, in the order in which the map shows them; then they repeat."""
_ZOOM: Final = 2
_LETTER: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="monospace">'
    '<text x="2" y="16">{}</text></svg>'
)


def picture(
    target: opt.MaybeWorld,
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "FILE.svg or FILE.png (WORLD.svg)."] = None,
    run: Annotated[str | None, "Draw this stored run instead."] = None,
    tick: Annotated[
        int | None, "With `--run`: the record to draw the state after (the last)."
    ] = None,
    seed: opt.Seed = 0,
    store: opt.Store = None,
) -> int:
    """Draw the map of a world at its start, or of a stored run after record ``tick`` (its last).

    Raises `Failure`: what opening the world or the run raises, TW0006 for a world without a layout
    and for options that do not fit together, TW0001 for a file that cannot be written, TW0811
    where a PNG is asked for and resvg, or a font, is not installed.
    """
    if (target is None) == (run is None):
        raise usage("Name a world, or a run with `--run`.", "As in `tw picture cellar.tw`.")
    if run is None and tick is not None:
        raise usage("`--tick` belongs to `--run`.", "Add `--run`, or leave `--tick` out.")
    session = Session.open(target, seed) if target is not None else _stored(run, tick, store)
    name = session.world.world.name
    path = Path(f"{name}.svg") if output is None else output
    if path.suffix not in (".svg", ".png"):
        hint = "Name a file that ends in `.svg` or `.png`."
        raise usage(f"`{path}` names no kind of picture.", hint)
    maps = Inspection(session).maps
    if not maps:
        hint = "Add a `layout` to its `world` block, as domains/island/world.tw does."
        raise Failure(Diagnostic("TW0006", f"The world `{name}` has no layout.", hint=hint))
    svg = drawing(session)
    data = _png(svg) if path.suffix == ".png" else svg
    write_file(path, data, "Name a file in a folder that can be written.")
    out.line(f"{path}: {session.world.world.title}, tick {session.tick}")
    out.json({"schema_version": 1, "ok": True, "file": str(path), "tick": session.tick})
    return EXIT_OK


def _stored(reference: str | None, tick: int | None, store: Path | None) -> Session:
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        session = session_at(opened, run, run.ticks if tick is None else tick)
    start = Moment(session.engine.start(session.seed), "", (), None, 0)
    session.moments.insert(0, start)  # the ground is drawn as the layout has it at the start
    return session


def drawing(session: Session) -> str:
    """The layouts of a session below each other, as SVG; hidden things are not drawn."""
    inspection = Inspection(session)
    parts, y, width = [], _MARGIN, 0
    for one in inspection.maps:
        legend = tuple(_legend(inspection, one))
        parts += list(_cells(one, y))
        y += len(one.rows) * _CELL + _MARGIN
        for number, (sign, words, colour) in enumerate(legend):
            parts.append(_entry(y + number * _LINE, sign, words, colour))
        y += len(legend) * _LINE + _MARGIN
        columns = max(map(len, one.rows), default=0)
        longest = max((len(words) for _, words, _ in legend), default=0)
        width = max(width, 2 * _MARGIN + columns * _CELL, 60 + 8 * longest)
    title = f"{session.world.world.title}, tick {session.tick}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{y}" '
        f'viewBox="0 0 {width} {y}" font-family="monospace" font-size="15" fill="#1a1a1a">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{width}" height="{y}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _png(svg: str) -> bytes:
    """Render a drawing in twice its size as PNG, with the fonts of this machine.

    Raises `Failure` (TW0811) without the extra `png`, and where no font is installed: resvg then
    leaves the words out.
    """
    if find_spec("resvg_py") is None:
        hint = "Run `pip install 'token-world[png]'`, or write SVG: `-o FILE.svg`."
        raise Failure(Diagnostic("TW0811", "PNG needs the library resvg-py.", hint=hint))
    from resvg_py import svg_to_bytes

    blank, letter = (svg_to_bytes(svg_string=_LETTER.format(one)) for one in " A")
    if letter == blank:
        hint = "Install a font, such as DejaVu Sans Mono, or write SVG: `-o FILE.svg`."
        raise Failure(Diagnostic("TW0811", "PNG needs a font on this machine.", hint=hint))
    rendered: bytes = svg_to_bytes(svg_string=svg, zoom=_ZOOM)
    return rendered


def _colours(shown: Map) -> dict[str, str]:
    """The colour of each kind of ground, by its sign."""
    objects = {sign for sign, _ in shown.signs}
    signs = dict.fromkeys(sign for row in shown.rows for sign in row if sign not in objects)
    return {sign: _COLOURS[place % len(_COLOURS)] for place, sign in enumerate(signs)}


def _cells(shown: Map, top: int) -> Iterator[str]:
    colours = _colours(shown)
    for y, row in enumerate(shown.rows):
        for x, sign in enumerate(row):
            left, up = _MARGIN + x * _CELL, top + y * _CELL
            yield (
                f'<rect x="{left}" y="{up}" width="{_CELL}" height="{_CELL}" '
                f'fill="{colours.get(sign, "#ffffff")}" stroke="#888888"/>'
            )
            if sign not in colours:
                yield (
                    f'<text x="{left + _CELL // 2}" y="{up + 17}" text-anchor="middle" '
                    f'font-weight="bold">{escape(sign)}</text>'
                )


def _legend(inspection: Inspection, shown: Map) -> Iterator[tuple[str, str, str]]:
    """Each sign of the map with its words and its colour: objects, then kinds of ground."""
    for sign, names in shown.signs:
        yield sign, names.replace("_", " "), "#ffffff"
    grounds = inspection.grounds(shown.of)
    for sign, colour in _colours(shown).items():
        yield "", grounds.get(sign, shown.of), colour


def _entry(y: int, sign: str, words: str, colour: str) -> str:
    return (
        f'<rect x="{_MARGIN}" y="{y}" width="18" height="18" fill="{colour}" stroke="#888888"/>'
        f'<text x="{_MARGIN + 9}" y="{y + 14}" text-anchor="middle" font-weight="bold">'
        f'{escape(sign)}</text><text x="{_MARGIN + 26}" y="{y + 14}">{escape(words)}</text>'
    )
