"""Shared parts of all reports of ``tw bench``: authors, intervals, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Annotated, Final

from tokenworld.diagnostics import visible
from tokenworld.planning.space.policy import wilson
from tokenworld.verbs.output import Output, write_file
from tokenworld.verbs.pages import Section, sections_markdown, sections_text

ENGINE = "engine, no model"


@dataclass(frozen=True, slots=True)
class Author:
    """The author of the scored files: for a folder of ``predictions`` the model, the date of its
    answers and their cost; without it the engine."""

    predictions: Annotated[
        Path | None, "A folder with a model's answers; they are scored instead."
    ] = None
    model: Annotated[str | None, "The model that wrote the predictions."] = None
    date: Annotated[str | None, "The date of the predictions."] = None
    cost: Annotated[str | None, "What the predictions cost, as the table shows it."] = None

    @property
    def is_engine(self) -> bool:
        return self.predictions is None

    def shown(self, engine: str) -> str:
        """Return the author as tables show it: a figure of a model has its name and its date; the
        engine's is called ``engine``."""
        if self.is_engine:
            return f"{engine} ({ENGINE})"
        named = self.model or "predictions, model not told"
        return f"{named}, {self.date or 'date not told'}"

    @property
    def paid(self) -> str:
        return "no tokens" if self.is_engine else self.cost or "not told"

    def to_json(self) -> str | dict[str, str | None]:
        if self.is_engine:
            return ENGINE
        return {"model": self.model, "date": self.date, "cost": self.cost}


def share(right: int, of: int) -> str:
    """Return a share of a count with its 95 % interval (Wilson)."""
    if not of:
        return "–"
    low, high = wilson(right, of)
    return f"{right} of {of} ({low:.1%} to {high:.1%})"


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of values and half the width of its 95 % interval, from their standard error."""

    value: float
    width: float
    of: int

    def shown(self, digits: int = 1) -> str:
        return f"{self.value:.{digits}f} ± {self.width:.{digits}f}"

    def to_json(self) -> dict[str, float | int]:
        return {"mean": round(self.value, 6), "width_95": round(self.width, 6), "of": self.of}


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of at least one value."""
    middle = sum(values) / len(values)
    if len(values) < 2:
        return Mean(middle, 0.0, len(values))
    spread = sum((one - middle) ** 2 for one in values) / (len(values) - 1)
    return Mean(middle, 1.959963984540054 * sqrt(spread / len(values)), len(values))


def publish(
    title: str,
    sections: Sequence[Section],
    told: Mapping[str, object],
    out: Output,
    output: Path | None,
) -> None:
    """Print the tables, or write them as Markdown to ``output``; then the JSON object."""
    if output is None:
        out.line(visible(sections_text(sections)))
    else:
        hint = "Name a file in a folder that can be written to, with `-o FILE`."
        write_file(output, sections_markdown(title, sections), hint)
        out.line(f"wrote {output}")
    tables = [
        {"title": one.title, "heads": list(one.heads), "rows": [list(row) for row in one.rows]}
        for one in sections
    ]
    out.json({"schema_version": 1, **told, "tables": tables})


# ---- Published figures --------------------------------------------------------------------------
# Figures that papers report, for the tables; quoted, not measured here.

PAPER: Final = "Agent2World (arXiv 2512.22336), published"

TEXT2WORLD: Final = {"executable": 0.931, "f1": 0.754}
"""Share of executable domains, and F1 (the mean of the four scores)."""
CWMB_DISCRETE: Final = {"accuracy": 0.9174, "return": 0.8333}
"""Accuracy of predicted transitions and normalised return, over the discrete environments."""
BYTESIZED32: Final = {"runnable": 0.8958, "alignment": 0.4768, "winnable": 0.1458}
"""Shares of generated text games."""
