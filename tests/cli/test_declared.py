"""Each command that is declared passes to its verb exactly the parameters that the verb has."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest

from tokenworld.cli import frame

frame.add_all()
LIMITS = {"json", "time_limit", "memory_limit"}
"""The options that `frame.does` reads itself."""


def options(declared: Callable[..., object]) -> dict[str, object]:
    """The parameters of a function that are given by name, with their types."""
    hints = get_type_hints(declared)
    listed = signature(declared).parameters.values()
    return {one.name: hints[one.name] for one in listed if one.kind is Parameter.KEYWORD_ONLY}


def positional(declared: Callable[..., object]) -> int:
    kinds = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
    return sum(one.kind in kinds for one in signature(declared).parameters.values())


def alternatives(kind: object) -> set[object]:
    """The types of a union, and the values of its literals."""
    if get_origin(kind) in (Union, UnionType, Literal):
        return {part for one in get_args(kind) for part in alternatives(one)}
    return {kind}


@pytest.mark.parametrize(("work", "declared"), frame.DECLARED, ids=list(dict(frame.DECLARED)))
def test_a_command_fits_its_verb(work: str, declared: Callable[..., None]) -> None:
    function = frame._function(work)
    taken, given = signature(function).parameters, options(declared)
    more = [one for one in taken.values() if one.kind is Parameter.VAR_KEYWORD]
    hints = get_type_hints(function)
    for name, kind in given.items():
        if name in taken:
            assert alternatives(kind) <= alternatives(hints[name]), name
        else:
            assert name in LIMITS or more, name
    missing = {
        name
        for name, one in list(taken.items())[positional(declared) :]
        if one.default is Parameter.empty and one not in more
    }
    assert missing <= {"out", *given}


def test_the_options_of_a_choice_are_its_fields() -> None:
    from tokenworld.verbs.plan.verb import Extras, plan_asked
    from tokenworld.verbs.runs.run import Choice, run

    declared = dict(frame.DECLARED)
    for work, function, fields in (
        ("plan.verb.plan_asked", plan_asked, Extras),
        ("runs.run.run", run, Choice),
    ):
        rest = options(declared[work]).keys() - options(function).keys() - {"json", "memory_limit"}
        assert rest == set(fields.__dataclass_fields__)
