"""Read the pages of `docs`, and follow them: write their files, give their commands, compare.

A fenced block may stand after a comment that says its part:

    <!-- sample: attic.tw -->     the block is this file
    <!-- add to: attic.tw -->     it is the end of this file
    <!-- change: attic.tw -->     it is a diff, whose lines with `-` give way to those with `+`
    <!-- part of: attic.tw -->    its paragraphs stand in this file
    <!-- output: … -->            a reader's note on a block of commands
    <!-- screen: attic.tw take key; open chest -->    the picture below shows the screen then

A `console` block has commands after `$ ` and what they print; `…` alone stands for lines left out,
and within a line for the rest of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tokenworld.cli import _main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^(?:<!-- (?P<part>[^:\n]+): (?P<of>[^\n]+?) -->\n)?"
    r"(?:```(?P<language>\w*)\n(?P<text>.*?)^```$|!\[[^\n]*?\]\((?P<picture>[^\n]*?)\)$)",
    re.MULTILINE | re.DOTALL,
)
Draw = Callable[[Path, list[str]], str]
"""A file of a world and commands to the picture (SVG) of the screen after them."""
Keep = Callable[[Path, str], None]
"""Compares a picture with the one in `docs`."""


@dataclass(frozen=True)
class Block:
    """A fenced block or a picture, and its part in the page."""

    part: str
    of: str
    language: str
    text: str
    picture: str


def blocks(path: Path) -> list[Block]:
    """The fenced blocks and pictures of a page."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(**{k: v or "" for k, v in one.groupdict().items()}) for one in BLOCK.finditer(text)
    ]


def texts(path: Path, language: str) -> list[str]:
    """The fenced blocks of one language that are whole by themselves."""
    parts = ("add to", "change")
    return [one.text for one in blocks(path) if one.language == language and one.part not in parts]


def marked(path: Path, mark: str) -> str:
    """The block after one comment."""
    (found,) = [one for one in blocks(path) if f"{one.part}: {one.of}" == mark]
    return found.text


def sessions(text: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a console block as words, and what each is said to print."""
    for one in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = one.partition("\n")
        yield shlex.split(line), shown


def tw(words: list[str]) -> str:
    """The program's output and errors in their order, without its progress; in this process."""
    assert words[0] == "tw"
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = _main(words[1:])
    assert code in (0, 1, 3), printed.getvalue()
    lines = printed.getvalue().splitlines(keepends=True)
    return "".join(one for one in lines if not one.startswith("· "))


def agree(shown: str, printed: str) -> bool:
    """Whether a program printed what a page shows, with anything for each `…`."""
    lines = shown.splitlines(keepends=True)
    pattern = "".join(
        r"(?:.*\n)*?" if one == "…\n" else re.escape(one).replace("…", ".*") for one in lines
    )
    return re.fullmatch(pattern, printed) is not None


def follow(path: Path, folder: Path, draw: Draw | None = None, keep: Keep | None = None) -> int:
    """Do what a page says in a folder, which is the current one; the number of its commands."""
    given = 0
    for block in blocks(path):
        file = folder / block.of.partition(" ")[0]
        match block.part:
            case "sample":
                file.write_text(block.text, encoding="utf-8")
            case "add to":
                file.write_text(f"{file.read_text('utf-8')}\n{block.text}", encoding="utf-8")
            case "change":
                file.write_text(changed(file.read_text("utf-8"), block.text), encoding="utf-8")
            case "part of":
                whole = file.read_text("utf-8")
                assert all(one.strip() in whole for one in block.text.split("\n\n")), block.text
            case "screen" if draw is not None and keep is not None:
                commands = [one.strip() for one in block.of.partition(" ")[2].split(";")]
                keep(path.parent / block.picture, draw(file, [one for one in commands if one]))
        if block.language == "console":
            for words, shown in sessions(block.text):
                printed = tw(words)
                assert agree(shown, printed), f"$ {shlex.join(words)}\n{printed}"
                given += 1
    return given


def changed(text: str, diff: str) -> str:
    """A text after a diff without line numbers, whose hunks are apart by `@@`."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        old = "".join(one[1:] for one in lines if one[0] in " -")
        assert text.count(old) == 1, f"there is not exactly one place like this:\n{old}"
        text = text.replace(old, "".join(one[1:] for one in lines if one[0] in " +"))
    return text
