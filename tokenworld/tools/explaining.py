"""``tw explain``: what a diagnostic code means, and how a source becomes a running world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tokenworld.assets import error_page
from tokenworld.diagnostics import (
    CODES,
    Diagnostic,
    Failure,
    did_you_mean,
    severity_of,
    title_of,
)
from tokenworld.tools.output import EXIT_OK, Output

if TYPE_CHECKING:
    from tokenworld.session.loading import Loaded

__all__ = ["explain_code", "explain_stages"]


def explain_code(code: str, out: Output) -> int:
    """One diagnostic code: its page, which begins with its title and severity."""
    name = code.upper()
    if name not in CODES:
        hint = did_you_mean(name, CODES) or "Codes look like `TW0403`."
        raise Failure(Diagnostic("TW0005", f"There is no diagnostic `{code}`.", hint=hint))
    page = error_page(name).read_text(encoding="utf-8").rstrip("\n")
    out.line(page)
    out.json(
        {
            "schema_version": 1,
            "code": name,
            "severity": severity_of(name),
            "title": title_of(name),
            "page": page,
        }
    )
    return EXIT_OK


def explain_stages(target: str | None, out: Output) -> int:
    """The passes from a text to a running world; with a file, the Python generated from it; with
    `FILE:rule`, what every stage makes of one action or law."""
    from tokenworld.check import PASSES

    stages = [
        "parse: text to a syntax tree, every item on its own",
        "load: the modules that it uses, each once, used ones first",
    ]
    stages += [f"check, {step.name}: {step.settles}" for step in PASSES]
    stages += [
        "instantiate: objects numbered, params fixed",
        "compile: Python generated from the checked model",
        "tick: intent, requires, effects, phases, invariants, commit, goals, watches",
    ]
    result: dict[str, object] = {"schema_version": 1, "stages": stages}
    rule = _rule_of(target)
    if rule is not None:
        result["rule"] = _one_rule(*rule, out)
        out.json(result)
        return EXIT_OK
    for stage in stages:
        out.line(stage)
    if target is not None:
        result["python"] = _generated(target, out)
    out.json(result)
    return EXIT_OK


def _rule_of(target: str | None) -> tuple[Loaded, str, str] | None:
    """`FILE:rule` taken apart; a world's name behind the colon is no rule."""
    from tokenworld.session.loading import load_program, split_target

    path, name = (Path(), None) if target is None else split_target(target)
    if name is None:
        return None
    loaded = load_program(path)
    return None if name in loaded.program.worlds else (loaded, str(path), name)


def _one_rule(loaded: Loaded, path: str, rule: str, out: Output) -> dict[str, str]:
    from tokenworld.tools.stages import rule_stages

    found = rule_stages(loaded, path, rule)
    for index, stage in enumerate(found):
        out.line(f"{'' if index == 0 else chr(10)}== {stage.name}")
        out.line(stage.text)
    return {stage.name: stage.text for stage in found}


def _generated(target: str, out: Output) -> str:
    from tokenworld.session import open_world

    world = open_world(target)
    out.line("")
    out.line(f"# generated from {Path(target).name}")
    constants = world.engine.code.emitter.constants
    for name, value in constants.items():
        out.line(f"{name} = {json.dumps(value) if isinstance(value, str) else value!r}")
    out.line(world.engine.code.source)
    return world.engine.code.source
