"""``tw new``: a folder with a first world, made from one of the templates in `domains/templates`.

A template is a whole world with scenarios that `tw judge` accepts, so that a
designer can play, plan and test it at once. Only its name and its title are replaced.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from tokenworld.assets import domains_folder
from tokenworld.diagnostics import Source, has_errors, usage
from tokenworld.syntax import parse_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, write_file

Template = Literal["adventure", "grid", "economy", "puzzle", "pddl"]
FILE: Final = "world.tw"
_WORLD: Final = re.compile(r'^world (\w+) "[^"]*"', re.MULTILINE)
_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]{,59}")


def new(
    name: Annotated[str, "The name of the world."],
    out: Output,
    *,
    template: Annotated[Template, "The world to begin with."] = "adventure",
    folder: Annotated[Path | None, opt.OUTPUT, "The folder; by default NAME."] = None,
) -> int:
    """Write ``world.tw`` in a new folder, by default one that has the name of the world.

    Raises `Failure` (TW0006) for a name that is none or a file that exists already, and TW0001
    where nothing can be written.
    """
    text = _renamed(_source(template), name)
    place = folder if folder is not None else Path(name)
    path = place / FILE
    if path.exists():
        raise usage(f"There is a file `{path}` already.", "Choose another name, or `--output DIR`.")
    write_file(path, text, "Choose another folder with `--output DIR`.", folder=place)
    out.line(f"{path}: a world from the template `{template}`")
    commands = [f"tw {verb} {path}" for verb in ("play", "test", "plan", "judge")]
    for command in commands:
        out.line(f"  {command}")
    out.json({"schema_version": 1, "file": str(path), "template": template, "next": commands})
    return EXIT_OK


def _source(template: Template) -> str:
    return (domains_folder() / "templates" / f"{template}.tw").read_text(encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    """The template with another name and title of its world."""
    if not _NAME.fullmatch(name):
        hint = "A small letter, then at most 59 letters, digits and `_`: `old_mill`."
        raise usage(f"`{name}` is no name for a world.", hint)
    old = _WORLD.search(text)
    assert old is not None
    title = name.replace("_", " ").title()
    text = text.replace(old[0], f'world {name} "{title}"')
    text = text.replace(f" in {old[1]} {{", f" in {name} {{")
    if has_errors(parse_source(Source(FILE, None, text))[1]):
        raise usage(f"`{name}` is a reserved word.", "Choose another name for the world.")
    return text
