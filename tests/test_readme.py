"""What the README and the pages of `docs` say can be typed, checked and found."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App, CycloptsError

from tests.docs import pages
from tests.docs.pages import follow, texts
from tokenworld.cli import app
from tokenworld.diagnostics import Source, render
from tokenworld.session import check_text, load_program, run_scenario

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ALL_PAGES = [*PAGES, *sorted((ROOT / "docs" / "adr").glob("*.md"))]
ERRORS = sorted((ROOT / "docs" / "errors").glob("*.md"))
FOLLOWED = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "tutorial-pddl.md"]
"""Their programs grow from block to block: tests/docs/test_tutorials.py follows them."""

HOLDING = ("language", "rules")
"""Pages whose scenarios hold; others show scenarios that fail."""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def marked(mark: str) -> str:
    """The block of the README after an HTML comment."""
    return pages.marked(README, mark)


# ---- the two commands -------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["play", "test"])
def test_a_command_is_one_line_that_needs_only_python(mark: str) -> None:
    text = marked(f"ci: {mark}")
    assert text.count("\n") == 1
    assert text.startswith("python3 -m venv .venv && .venv/bin/python -m pip install ")
    syntax = subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False)
    assert syntax.returncode == 0
    assert str(ROOT) not in text


def test_the_first_command_plans_and_plays_and_the_second_tests() -> None:
    assert "tw play --plan domains/willowbrook/world.tw" in marked("ci: play")
    assert ".venv/bin/python -m pytest" in marked("ci: test")


def test_the_extras_of_the_commands_exist() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for mark in ("play", "test"):
        found = re.search(r"'\.\[([a-z,]+)\]'", marked(f"ci: {mark}"))
        assert found is not None
        for extra in found[1].split(","):
            assert re.search(rf"^{extra} = \[", project, re.MULTILINE)


def test_ci_finds_the_same_lines() -> None:
    script = str(ROOT / ".ci" / "run")
    for mark in ("play", "test"):
        shown = subprocess.run(
            ["bash", script, "--show", mark], capture_output=True, text=True, check=True
        )
        assert shown.stdout == marked(f"ci: {mark}")


# ---- commands in the text ---------------------------------------------------------------------


def commands(path: Path) -> Iterator[list[str]]:
    """Every `tw …` line of the shell and console blocks, as words."""
    for line in "".join(texts(path, "sh")).splitlines():
        for part in line.split("&&"):
            words = shlex.split(part, comments=True)
            if words and Path(words[0]).name == "tw":
                yield words[1:]
    for line in "".join(texts(path, "console")).splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:])
            assert words[0] == "tw"
            yield words[1:]


@pytest.mark.parametrize("path", [*PAGES, *ERRORS], ids=named)
def test_commands_parse(path: Path) -> None:
    for words in commands(path):
        try:
            app.parse_args(words, exit_on_error=False, print_error=False)
        except CycloptsError as error:
            pytest.fail(f"{named(path)}: tw {shlex.join(words)}: {error}")


def test_there_are_commands_to_parse() -> None:
    assert sum(len(list(commands(path))) for path in PAGES) > 20


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_files_of_commands_exist(path: Path) -> None:
    for words in commands(path):
        for word in words:
            if word.startswith("domains/"):
                file = word.partition(":")[0]
                assert list(ROOT.glob(file)), f"{named(path)}: {word}"


# ---- the page of all commands -----------------------------------------------------------------


def verbs(of: App, before: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every verb with its options."""
    for name in of:
        if name.startswith("-"):
            continue
        sub = of[name]
        options: set[str] = set()
        if sub.default_command is not None:
            for argument in sub.assemble_argument_collection():
                options |= {one for one in argument.names if one.startswith("-")}
        yield f"{before}{name}", options
        yield from verbs(sub, f"{before}{name} ")


def test_the_page_of_commands_is_complete_and_true() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    known = {"--help"}
    for verb, options in verbs(app):
        assert f"`tw {verb}" in page
        section = page.split(f"\n## {verb.split()[0]}\n")
        if verb not in ("model", "schema"):
            assert len(section) == 2, verb
            text = section[1].partition("\n## ")[0]
            for option in options:
                assert option in text, f"{verb} {option}"
        known |= options
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) <= known | {"--stages"}


# ---- programs in the text ---------------------------------------------------------------------


@pytest.mark.parametrize("path", [one for one in PAGES if one not in FOLLOWED], ids=named)
def test_programs_are_sound(path: Path) -> None:
    for number, text in enumerate(texts(path, "tw"), 1):
        source = Source(f"{named(path)}, program {number}", None, text)
        checked = check_text(source)
        assert not checked.diagnostics, render(checked.diagnostics, {source.name: source})


@pytest.mark.parametrize("path", [one for one in PAGES if one.stem in HOLDING], ids=named)
def test_scenarios_hold(path: Path, tmp_path: Path) -> None:
    for text in texts(path, "tw"):
        if re.search(r"^scenario ", text, re.MULTILINE):
            (tmp_path / "program.tw").write_text(text, encoding="utf-8")
            loaded = load_program(tmp_path / "program.tw")
            for scenario in loaded.program.scenarios:
                assert run_scenario(loaded, scenario).ok, scenario.span


def test_the_readme_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    lines = ("take iron key", "open chest with iron key")
    assert all(f"`{line}`" in text for line in lines)
    (tmp_path / "script.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert follow(README, tmp_path) == 2


# ---- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*ALL_PAGES, *ERRORS], ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), f"{named(path)}: {target}"


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 100
