"""``tw explain``: what a diagnostic code means, and how a source becomes a running world."""

from __future__ import annotations

import json
from pathlib import Path

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
    """The passes from a text to a running world; with a file, what each makes of it."""
    from tokenworld.check import PASSES

    stages = ["parse: text to a syntax tree, every item on its own"]
    stages += [f"check, {step.name}: {step.settles}" for step in PASSES]
    stages += [
        "instantiate: objects numbered, params fixed",
        "compile: Python generated from the checked model",
        "tick: intent, requires, effects, phases, invariants, commit, goals, watches",
    ]
    for stage in stages:
        out.line(stage)
    result: dict[str, object] = {"schema_version": 1, "stages": stages}
    if target is not None:
        result["python"] = _generated(target, out)
    out.json(result)
    return EXIT_OK


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
