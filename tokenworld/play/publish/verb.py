"""``tw publish``: write a world as one HTML file that plays in any browser, without a server."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Annotated

from tokenworld.diagnostics import usage
from tokenworld.ground import Json
from tokenworld.play.publish.runtime import VERSION, runtime_files, zipped
from tokenworld.prose.rulebook import rulebook
from tokenworld.session import OpenWorld, open_world
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, write_file

__all__ = ["page_of", "publish"]

_PAGE = Path(__file__).with_name("page")


def publish(
    target: opt.World,
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "The page (WORLD.html)."] = None,
    runtime: Annotated[Path | None, "The archive of Pyodide; else it is fetched once."] = None,
    seed: opt.Seed = 0,
) -> int:
    """Write the page of a world that can start; ``runtime`` is the archive of Pyodide, if at hand.

    Raises `Failure`: what opening and starting the world raises, TW0001 for a file that cannot be
    read or written, TW0811 where Pyodide cannot be had.
    """
    world = open_world(target)
    world.engine.start(seed)
    path = Path(f"{world.world.name}.html") if output is None else output
    if path.suffix not in (".html", ".htm"):
        raise usage(f"`{path}` is no page.", "Name a file that ends in `.html`.")
    page = page_of(world, seed, parts_of(runtime_files(runtime, out)))
    write_file(path, page, "Name a file in a folder that can be written.")
    size = path.stat().st_size
    out.line(f"{path}: {world.world.title}, {size / 1e6:.1f} MB; open it in a browser.")
    out.json({"schema_version": 1, "ok": True, "file": str(path), "bytes": size})
    return EXIT_OK


def parts_of(files: Mapping[str, bytes]) -> str:
    """The binary parts of a page: the runtime and our modules, compressed, as elements."""
    held = {**files, "tokenworld.zip": zipped()}
    return "\n".join(_element(name, data, "part") for name, data in sorted(held.items()))


def page_of(world: OpenWorld, seed: int, parts: str) -> str:
    """The page of a world. The same world and parts give the same bytes."""
    bundle = json.dumps(bundle_of(world, seed))
    return Template(_read("index.html")).substitute(
        title=escape(world.world.title),
        style=_read("page.css"),
        script=_read("page.js"),
        worker=_element("worker.js", _read("worker.js").encode()),
        bundle=_element("bundle", bundle.encode()),
        rules="\n".join(_rules(world)),
        parts=parts,
        runtime=VERSION,
    )


def bundle_of(world: OpenWorld, seed: int) -> dict[str, Json]:
    """The argument of `browser.Published`: sources, the name of the world, the seed."""
    sources: list[Json] = [{"name": one.name, "text": one.text} for one in world.loaded.sources]
    return {"sources": sources, "world": world.world.name, "seed": seed}


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _element(name: str, data: bytes, kind: str = "") -> str:
    """Bytes as text that no browser runs: gzip, then base64."""
    text = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="text/plain" class="{kind}" id="{name}">{text}</script>'


def _rules(world: OpenWorld) -> Iterator[str]:
    """The rulebook as HTML."""
    for section in rulebook(world.program).sections:
        yield f"<h3>{escape(section.title)}</h3>"
        for entry in section.entries:
            yield f"<h4>{escape(entry.name)}</h4>"
            if entry.doc:
                yield f"<p>{escape(entry.doc)}</p>"
            items = (f'<li class="d{depth}">{escape(text)}</li>' for depth, text in entry.lines)
            yield f"<ul>{''.join(items)}</ul>" if entry.lines else ""
