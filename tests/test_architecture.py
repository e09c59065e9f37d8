"""The staircase holds: who may import whom, and how long a module or a function may be."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import house

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tokenworld"

STAIRS = (
    ("diagnostics",),
    ("syntax",),
    ("model",),
    ("check",),
    ("core",),
    ("ground",),
    ("engine", "planning", "prose", "store"),
    ("session",),
    ("verbs",),
    ("play", "gym", "protocols"),
    ("cli",),
)
STEP = {package: step for step, packages in enumerate(STAIRS) for package in packages}
GROUND_FLOOR = ("assets", "limits")
"""Modules beside the packages that anybody may import: they import nothing of the project."""

HOME = {
    "lark": "syntax",
    "sqlite3": "store",
    "textual": "play",
    "textual_serve": "play/web",
    "aiohttp": "play/web",
    "unified_planning": ("planning", "protocols/unified.py"),
    "pydantic": ("model/schema.py", "model/types.py", "protocols/agents"),
    "mcp": "protocols/agents",
    "anyio": "protocols/agents",
    "cyclopts": "cli",
    "gymnasium": "gym",
    "pettingzoo": "gym",
    "crafter": "gym/crafter.py",
    "httpx": "verbs/author/providers.py",
    "pydantic_ai": "verbs/author/providers.py",
    "pygls": "protocols/editors/server.py",
    "lsprotocol": ("protocols/editors/server.py", "protocols/editors/convert.py"),
    "pygments": "protocols/editors/lexer.py",
    "resvg_py": "play/picture.py",
    "joblib": "verbs/sweep/workers.py",
    "dask": "verbs/sweep/workers.py",
    "distributed": "verbs/sweep/workers.py",
}
"""The only place that may import a library."""

MODULE_LINES = 800
FUNCTION_LINES = 80


@dataclass(frozen=True, slots=True)
class Import:
    """One import: where it stands, what it names, whether a module pays for it when it loads."""

    file: str
    line: int
    name: str
    at_load: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name}"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package by its path within it."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def imports_of(file: str, tree: ast.Module) -> Iterator[Import]:
    """All imports of a module; those for the type checker alone are not paid for."""

    def walk(node: ast.AST, at_load: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(file, child.lineno, n.name, at_load) for n in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{file}:{child.lineno}: imports are written in full"
                yield Import(file, child.lineno, child.module or "", at_load)
                yield from submodules(child, at_load)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                for part in child.body:
                    yield from walk(ast.Module([part], []), False)
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, at_load and not inside)

    def submodules(node: ast.ImportFrom, at_load: bool) -> Iterator[Import]:
        if node.module == "tokenworld":
            for name in node.names:
                yield Import(file, node.lineno, f"tokenworld.{name.name}", at_load)

    return walk(tree, True)


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(one for file, tree in modules().items() for one in imports_of(file, tree))


def test_every_package_has_its_step() -> None:
    packages = {file.partition("/")[0] for file in modules() if "/" in file}
    assert packages == set(STEP)


def test_imports_go_up_the_staircase_only() -> None:
    """Also for the type checker and inside functions: a hidden import is still a dependency."""
    breaches = []
    for one in all_imports():
        root, _, rest = one.name.partition(".")
        here, there = one.file.partition("/")[0], rest.partition(".")[0]
        if root != "tokenworld" or there not in STEP or here not in STEP:
            continue
        if here != there and STEP[there] >= STEP[here]:
            breaches.append(str(one))
    assert not breaches


SERVES_VERBS = ("coverage", "options", "output", "pages", "recheck", "records", "refusals")
"""Modules of `verbs` that several verbs share; they are no verbs and import none."""


JOINS_VERBS = ("author", "bench", "card", "judge", "sweep")
"""The verbs that join what the others find: they import them, and no other verb imports these."""


def test_no_verb_imports_another() -> None:
    breaches = []
    for one in all_imports():
        package, _, rest = one.file.removesuffix(".py").partition("/")
        name = one.name.split(".")
        if rest.partition("/")[0] in JOINS_VERBS:
            continue
        if package != "verbs" or name[:2] != ["tokenworld", "verbs"] or len(name) < 3:
            continue
        if name[2] not in (rest.partition("/")[0], *SERVES_VERBS):
            breaches.append(str(one))
    assert not breaches


@pytest.mark.parametrize("package", ["session", "verbs", "play", "gym", "protocols", "cli"])
def test_a_package_has_no_import_circle(package: str) -> None:
    inside = f"tokenworld.{package}"
    assert any(module.startswith(f"{inside}.") for module in house.sources())
    assert not [ring for ring in house.circles() if ring[0].startswith(f"{inside}.")]


def test_what_stands_beside_the_packages_depends_on_none() -> None:
    for name in GROUND_FLOOR:
        used = [one for one in all_imports() if one.file == f"{name}.py"]
        assert not [str(one) for one in used if one.name.startswith("tokenworld")]


def test_nothing_below_imports_the_command_line() -> None:
    used = [one for one in all_imports() if one.name.startswith("tokenworld.cli")]
    assert not [str(one) for one in used if not one.file.startswith("cli/")]


@pytest.mark.parametrize(("library", "home"), HOME.items())
def test_a_library_is_imported_in_its_home_only(library: str, home: str | tuple[str, ...]) -> None:
    homes = (home,) if isinstance(home, str) else home
    strays = [
        str(one)
        for one in all_imports()
        if one.name.partition(".")[0] == library
        and not any(one.file == place or one.file.startswith(f"{place}/") for place in homes)
    ]
    assert not strays


@pytest.mark.parametrize("library", ["unified_planning", "up_fast_downward", "pydantic"])
def test_slow_libraries_are_imported_inside_functions(library: str) -> None:
    """But in `tokenworld.protocols`, whose modules only its verbs load."""
    paid = [one for one in all_imports() if one.at_load and not one.file.startswith("protocols/")]
    assert not [str(one) for one in paid if one.name.partition(".")[0] == library]


def test_the_public_surface_and_the_verbs_load_nothing_early() -> None:
    """`tokenworld` and `tokenworld.cli` import their packages only when they are used."""
    early = [
        str(one)
        for one in all_imports()
        if (one.file in ("__init__.py", "session/__init__.py") or one.file.startswith("cli/"))
        and one.at_load
        and one.name.startswith("tokenworld.")
        and one.name != "tokenworld.__version__"
        and not one.name.startswith("tokenworld.cli")
    ]
    assert not early


def test_every_dependency_is_imported() -> None:
    """What `pip install token-world` brings is needed: nothing is installed on suspicion."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    wanted = set(re.findall(r'"([A-Za-z0-9_-]+)', listed[1]))
    used = {one.name.partition(".")[0] for one in all_imports()}
    assert wanted
    assert wanted <= used


def test_modules_are_short() -> None:
    lengths = {
        file: len((PACKAGE / file).read_text(encoding="utf-8").splitlines()) for file in modules()
    }
    long = {file for file, length in lengths.items() if length > MODULE_LINES}
    assert not long, "cut it where its subject ends"


def test_functions_are_short() -> None:
    long = [
        f"{file}:{node.lineno} {node.name}"
        for file, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES
    ]
    assert not long


def test_every_module_says_what_it_is() -> None:
    silent = [file for file, tree in modules().items() if not ast.get_docstring(tree)]
    assert not silent


def test_a_status_has_one_producer() -> None:
    """Records are made in ticks alone, and outcomes from records in one place."""
    engine = {"engine/rows/stepper.py", "engine/searching/ticks.py", "engine/outcomes/forks.py"}
    assert makers_of("Record") == {*engine, "engine/reference/tick.py"}
    assert makers_of("Outcome") == {"engine/rows/record.py"}


def makers_of(name: str) -> set[str]:
    """Modules that call a class by this name which they did not define themselves."""
    return {
        file
        for file, tree in modules().items()
        if not any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


DOOR = "play/widgets/shown.py"
"""The one module that makes what the screen shows of texts."""


def test_text_reaches_the_screen_by_one_door() -> None:
    """Texts of a world, a typist or a log are never markup: nobody else makes what is shown."""
    play = {file: tree for file, tree in modules().items() if file.startswith("play/")}
    strays = [
        f"{file}:{node.lineno} {ast.unparse(node)[:60]}"
        for file, tree in play.items()
        if file != DOOR
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.stmt) and _passes_the_door_by(node)
    ]
    assert not strays
    assert any(_passes_the_door_by(node) for node in ast.walk(play[DOOR]))


def _passes_the_door_by(node: ast.AST) -> bool:
    """Imports of what reads markup, markup itself, and titles; a widget's text but a literal."""
    match node:
        case ast.Import(names=names):
            return any(one.name.partition(".")[0] == "rich" for one in names)
        case ast.ImportFrom(module="textual.widgets", names=names):
            return not {one.name for one in names} <= SAFE_WIDGETS
        case ast.ImportFrom(module=module):
            return (module or "").partition(".")[0] == "rich" or module in UNSAFE
        case ast.Attribute(attr="from_markup" | "from_text" | "render_str" | "highlight"):
            return True
        case ast.Attribute(
            attr="border_title" | "border_subtitle" | "tooltip" | "sub_title", ctx=ast.Store()
        ):
            return True
        case ast.Call(func=ast.Name(id="Content" | "Option")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="Content"))):
            return True
        case ast.Call(func=ast.Name(id="TabPane" | "DiscoveryHit"), args=[first, *_]):
            return not isinstance(first, ast.Constant | ast.Name)
        case ast.keyword(arg="markup", value=ast.Constant(value=True)):
            return True
    return False


SAFE_WIDGETS = {"Footer", "Input", "Markdown", "OptionList", "TabPane", "TabbedContent"}
"""They show what is typed, keys, files of this package, and what comes through the door."""
UNSAFE = {"textual.content", "textual.markup", "textual.widgets.option_list"}


def test_the_vocabulary_map_names_what_exists() -> None:
    named = set(
        re.findall(r"`([A-Z][A-Za-z]+)`", ast.get_docstring(modules()["__init__.py"]) or "")
    )
    defined = {name for tree in modules().values() for node in tree.body for name in _defined(node)}
    assert len(named) > 30
    assert named <= defined


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        return (node.name,)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return tuple(target.id for target in targets if isinstance(target, ast.Name))


def test_public_names_are_there_and_load_nothing_before() -> None:
    import tokenworld

    for name in tokenworld.__all__:
        assert getattr(tokenworld, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        tokenworld.nothing_such  # noqa: B018
