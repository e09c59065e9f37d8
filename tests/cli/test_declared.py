"""A command passes to its function what the command line gives, under the names of the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from cyclopts import App

from tokenworld.cli import commands
from tokenworld.cli.commands import COMMANDS, command, function_of
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import Output

WORKING = [name for name, (work, _) in COMMANDS.items() if work]


def alternatives(kind: object) -> set[object]:
    """The types of a union, and the values of its literals."""
    if get_origin(kind) is Annotated:
        return alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType, Literal):
        return {part for one in get_args(kind) for part in alternatives(one)}
    return {get_origin(kind) or kind}


def fits(default: object, kind: object) -> bool:
    found = alternatives(kind)
    return default in found or (default is None and type(None) in found) or type(default) in found


@pytest.mark.parametrize("name", WORKING)
def test_every_parameter_of_a_function_can_be_given(name: str) -> None:
    function = function_of(name)
    hints = get_type_hints(function, include_extras=True)
    for one, parameter in inspect.signature(function).parameters.items():
        told = is_dataclass(hints[one]) or get_origin(hints[one]) is Annotated
        assert told or one == "out" or parameter.default is not inspect.Parameter.empty, one
        if is_dataclass(hints[one]):
            inner = get_type_hints(hints[one], include_extras=True)
            assert all(get_origin(inner[field.name]) is Annotated for field in fields(hints[one]))


@pytest.mark.parametrize("name", WORKING)
def test_the_defaults_have_the_types_of_the_parameters(name: str) -> None:
    for one in inspect.signature(command(name)).parameters.values():
        if one.default not in (inspect.Parameter.empty, Path()):
            assert fits(one.default, one.annotation), one.name


def test_a_type_that_has_another_default_does_not_fit() -> None:
    assert not fits("x", Annotated[int | None, "help"])
    assert not fits("c", Literal["a", "b"])
    assert fits(("a",), Annotated[tuple[str, ...], "help"])


@dataclass(frozen=True, slots=True)
class More:
    deep: Annotated[bool, "Whether it goes deep."] = False
    names: Annotated[tuple[str, ...], opt.Option("--name", many=True), "Some names."] = ()


def work(
    target: opt.World,
    rest: Annotated[tuple[str, ...], "The rest."],
    out: Output,
    *,
    more: More,
    seed: Annotated[opt.Seed, "Another help."] = 4,
    hidden: int = 7,
) -> int:
    given.append((target, rest, out.as_json, more, seed, hidden))
    return 0


given: list[tuple[object, ...]] = []


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> App:
    """An application with the one command of `work`."""

    def found(name: str) -> Callable[..., int]:
        return work

    monkeypatch.setattr(commands, "function_of", found)
    given.clear()
    app = App(result_action="return_value")
    app.default(command("plan"))
    return app


def test_what_is_given_arrives_under_the_names_of_the_function(made: App) -> None:
    made(["a", "b", "c", "--name", "x", "y", "--deep", "--json"], exit_on_error=False)
    made(["a"], exit_on_error=False)
    assert given == [
        ("a", ("b", "c"), True, More(True, ("x", "y")), 4, 7),
        ("a", (), False, More(), 4, 7),
    ]


@pytest.mark.parametrize("words", [[], ["a", "--hidden", "1"], ["a", "--no-deep"]])
def test_what_is_missing_or_not_declared_is_refused(made: App, words: list[str]) -> None:
    from cyclopts import CycloptsError

    with pytest.raises(CycloptsError):
        made(words, exit_on_error=False, print_error=False)


def test_the_last_help_counts_and_the_name_of_a_type_is_shown(
    made: App, capsys: pytest.CaptureFixture[str]
) -> None:
    made(["--help"])
    shown = capsys.readouterr().out
    assert "Another help." in shown
    assert "The seed of all draws." not in shown
    assert "WORLD" in shown
    assert "TARGET" not in shown


def test_only_what_is_marked_as_needed_cannot_be_left_out() -> None:
    assert (
        inspect.signature(command("check")).parameters["files"].default is inspect.Parameter.empty
    )
    assert inspect.signature(command("fmt")).parameters["paths"].default == ()
    assert inspect.signature(command("explain")).parameters["what"].default is None
