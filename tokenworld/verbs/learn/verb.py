"""``tw learn fit``: the likeliest values of learned params, from recorded transitions."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, counted, usage
from tokenworld.ground import Json
from tokenworld.model import NumberType
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld
from tokenworld.syntax.format import format_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.learn.evidence import Collected, collected, learned_params
from tokenworld.verbs.learn.fitting import Fit, Fitted, fit
from tokenworld.verbs.learn.journal import Journal
from tokenworld.verbs.learn.page import fit_page
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_OK,
    Output,
    columns,
    keep_files,
    replace_bytes,
    write_file,
)
from tokenworld.verbs.records.rows import no_rows
from tokenworld.verbs.records.transitions import transitions

_NOTED = 5
"""Rows that cannot be used, and impossible ones, that are printed."""
_FEW = 10
"""Fewer transitions than this may leave a share uncertain by more than 15 %, as standard error."""
_WRITABLE = "Name a file that can be written."
_REPLACED = "Name another file; `--write` replaces what is there, and the values in the rules."
_REAL_DIGITS = 6
"""Digits with which a real is written."""


def fit_params(
    target: opt.World,
    rows: Annotated[tuple[Path, ...], "Files of `tw runs rows`: .jsonl or .jsonl.gz."],
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "Also write the values as JSON."] = None,
    write: Annotated[bool, "Write the values into the rules; replace files."] = False,
    noise: Annotated[
        float | None, "The probability of rows that the rules cannot bring forth."
    ] = None,
    journal: opt.Journal = None,
    report: opt.Report = None,
) -> int:
    """Fit, tell and write where that is asked for; 1 where nothing was learned."""
    if not rows:
        hint = "Name files that `tw runs rows` has written: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if noise is not None and not 0 < noise < 1:
        raise usage("The noise is a probability.", "Give `--noise` a number between 0 and 1.")
    keep_files((output, report), write, _REPLACED)
    world = open_world(target)
    params = learned_params(world)
    about = {"command": "fit", "world": [world.program.digest, world.world.name]}
    kept = Journal.of(journal, about, rows, out)
    found = collected(world, transitions(world, rows), params, out.each_second(), kept)
    if not found.rows and not found.impossible:
        what = "There are no rows of this world to fit the params by."
        raise no_rows(what, found.bad, "Record play of it with `tw run` and `tw runs rows`.")
    _impossible(found, noise)
    fitted = fit(found, params)
    _print(found, fitted, out)
    uncertain = [one for one in fitted.params if not one.informative]
    few = [one for one in fitted.params if 0 < one.informative < _FEW]
    out.diagnostics([*map(_uninformed, uncertain), *map(_scarce, few)])
    shown = _json(found, fitted)
    if output is not None:
        text = json.dumps(shown, indent=2, ensure_ascii=False)
        write_file(output, f"{text}\n", _WRITABLE)
    if report is not None:
        page = fit_page(world.world.name, _cell_lines(fitted.params), fitted, _said(found, fitted))
        write_file(report, page, _WRITABLE)
    if write:
        _write(world, found, fitted, out)
    kept.finished()
    out.json(shown)
    return EXIT_OK if len(uncertain) < len(fitted.params) else EXIT_NEGATIVE


def _impossible(found: Collected, noise: float | None) -> None:
    """Count observations that the rules cannot produce as noise, or raise `Failure` (TW1205)."""
    if not found.impossible:
        return
    many = len(found.impossible)
    if noise is None:
        first = found.impossible[0].text()
        rows = counted(many, "recorded transition")
        what = f"{rows} {'is' if many == 1 else 'are'} impossible by the rules: {first}."
        hint = "Correct the rules or the rows; or count such rows as noise: `--noise 0.01`."
        raise Failure(Diagnostic("TW1205", what, hint=hint))
    found.fixed += many * log(noise) + found.rows * log(1 - noise)


def _uninformed(one: Fitted) -> Diagnostic:
    what = f"No transition says anything of `{one.learned.name}`: it keeps its value."
    if not one.learned.sites:
        hint = "No `chance` names it; use it in one, or leave out `learned`."
    else:
        hint = f"Record play that comes to {', '.join(one.learned.sites)}."
    return Diagnostic("TW1206", what, one.learned.param.span, "this param", hint=hint)


def _scarce(one: Fitted) -> Diagnostic:
    rows = counted(one.informative, "transition")
    verb = "says" if one.informative == 1 else "say"
    what = (f"Only {rows} {verb} anything of `{one.learned.name}`, too few to trust its value "
            f"{_shown(one, one.value)}.")  # fmt: skip
    places = f" that comes to {', '.join(one.learned.sites)}" if one.learned.sites else ""
    hint = f"Record more play{places}."
    return Diagnostic("TW1206", what, one.learned.param.span, "this param", hint=hint)


# ---- telling ------------------------------------------------------------------------------------


def _print(found: Collected, fitted: Fit, out: Output) -> None:
    for place in found.impossible[:_NOTED]:
        out.note(f"counted as noise: {place.text()}")
    for bad in found.bad[:_NOTED]:
        out.note(f"{bad.place}: {bad.why}")
    if found.bad:
        out.note(f"{counted(len(found.bad), 'row')} skipped")
    out.line(_said(found, fitted))
    for line in columns(_cell_lines(fitted.params), (0, 5)):
        out.line(line)


def _said(found: Collected, fitted: Fit) -> str:
    rows = counted(found.rows, "transition")
    return f"{rows}, log probability {fitted.before:.4f} before, {fitted.after:.4f} after"


def _cell_lines(params: Sequence[Fitted]) -> list[tuple[str, ...]]:
    """The table of params, with its head."""
    return [("param", "value", "±", "was", "rows", "drawn at"), *map(_cells, params)]


def _cells(one: Fitted) -> tuple[str, ...]:
    error = "-" if one.error is None else _shown(one, one.error)
    places = ", ".join(one.learned.sites) or "nowhere"
    was = _shown(one, one.learned.value)
    return one.learned.name, _shown(one, one.value), error, was, str(one.informative), places


def _shown(one: Fitted, value: float) -> str:
    percent = isinstance(one.learned.param.type, NumberType) and one.learned.param.type.unit == "%"
    return f"{value * 100:.2f}%" if percent else f"{value:.4f}"


def _json(found: Collected, fitted: Fit) -> dict[str, Json]:
    params: list[Json] = [
        {
            "name": one.learned.name,
            "value": one.value,
            "error": one.error,
            "was": one.learned.value,
            "informative": one.informative,
            "by": one.by,
            "sites": list(one.learned.sites),
        }
        for one in fitted.params
    ]
    return {
        "schema_version": 1,
        "ok": True,
        "params": params,
        "transitions": found.rows,
        "impossible": [one.place for one in found.impossible],
        "skipped": [{"place": one.place, "why": one.why} for one in found.bad],
        "logp": {"before": _finite(fitted.before), "after": _finite(fitted.after)},
        "factors": len(found.factors),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


# ---- writing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edit:
    """A number to be written in place of another."""

    span: Span
    text: str


def _write(world: OpenWorld, found: Collected, fitted: Fit, out: Output) -> None:
    """Write the numbers into the files of the rules, and print the changes."""
    values = _rounded(found, fitted)
    set_here = {one.name: one.value.span for one in world.world.params}
    edits: dict[str, list[_Edit]] = {}
    for one in fitted.params:
        if one.informative:
            span = set_here.get(one.learned.name, one.learned.param.default.span)
            edits.setdefault(span.file, []).append(
                _Edit(span, _number(one, values[one.learned.name]))
            )
    for source in world.loaded.sources:
        if source.name in edits:
            _edit(source, edits[source.name], out)


def _rounded(found: Collected, fitted: Fit) -> dict[str, float]:
    """The values with as many decimals as the params keep; no probability of theirs leaves its
    range by that."""
    units = {one.learned.name: _unit(one) for one in fitted.params}
    values = {
        one.learned.name: round(min(max(one.value, one.learned.low), one.learned.high)
                                / units[one.learned.name]) * units[one.learned.name]
        for one in fitted.params
    }  # fmt: skip
    for atom in found.atoms.every:
        while atom.at(values) < -units[min(atom.names)] / 2:
            largest = max(sorted(atom.names), key=lambda name: values[name])
            values[largest] -= units[largest]
    return values


def _unit(one: Fitted) -> float:
    """The step between values of a param."""
    kind = one.learned.param.type
    return float(10 ** -(kind.decimals if isinstance(kind, NumberType) else _REAL_DIGITS))


def _number(one: Fitted, value: float) -> str:
    """A value as the file has it."""
    kind = one.learned.param.type
    if not isinstance(kind, NumberType):
        return f"{value:.{_REAL_DIGITS}f}"
    if kind.unit == "%":
        return f"{value * 100:.{max(0, kind.decimals - 2)}f}%"
    return f"{value:.{kind.decimals}f}{kind.unit}"


def _edit(source: Source, edits: list[_Edit], out: Output) -> None:
    if source.path is None:
        hint = "Save the rules as a file of your own, and fit that."
        raise Failure(Diagnostic("TW0001", f"`{source.name}` is no file.", hint=hint))
    text = source.text
    for one in sorted(edits, key=lambda x: x.span.start, reverse=True):
        text = f"{text[: one.span.start]}{one.text}{text[one.span.end :]}"
    if format_source(source)[0] == source.text:  # a formatted file stays formatted
        text = format_source(Source(source.name, source.path, text))[0] or text
    if text == source.text:
        return
    try:
        replace_bytes(source.path, text.encode("utf-8"))
    except OSError as error:
        what = f"`{source.path}` cannot be written: {error.strerror or error}."
        raise Failure(Diagnostic("TW0001", what, hint="Make it writable.")) from None
    before, after = source.text.splitlines(True), text.splitlines(True)
    shown = difflib.unified_diff(before, after, source.name, f"{source.name} (fitted)")
    for line in "".join(shown).splitlines():
        out.line(line)
