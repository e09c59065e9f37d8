"""The report of `tw learn` as one HTML page: laws with their evidence, the predictions by slot, the
learning curve, and the worst transitions with both states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from tokenworld.model import World
from tokenworld.verbs.learn.fitting import Fit, Fitted
from tokenworld.verbs.learn.propose.given.played import differences_of
from tokenworld.verbs.learn.propose.outside import Weighed, aspect_of, maps_of
from tokenworld.verbs.pages import (
    PAGE_END,
    Bar,
    bar_chart,
    page_head,
    stacked_chart,
    table_html,
    text_html,
)

WORST: Final = 5
"""Transitions that are shown."""
NAMES: Final = ("right", "other value", "missed", "invented")
"""The prediction of a change: the observed value, another value, no change; or a change of a slot
that did not change."""
_STYLE: Final = "pre { overflow-x: auto; } .maps { display: flex; gap: 2rem; flex-wrap: wrap; }"


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a learning curve: the number of rows learned from, and the right ones of the
    changing rows that were held out."""

    rows: int
    right: int
    of: int


def confusion(rows: Iterable[Weighed]) -> dict[str, tuple[int, ...]]:
    """Count the predictions of the changes of each fluent, in the order of `NAMES`."""
    found: dict[str, list[int]] = {}
    for one in rows:
        changed = {slot: old for slot, old, _ in differences_of(one.before, one.after)}
        left = {slot: mine for slot, mine, _ in one.left}
        for slot in dict.fromkeys((*changed, *left)):
            counts = found.setdefault(aspect_of(slot), [0] * len(NAMES))
            if slot not in changed:
                counts[3] += 1
            elif slot not in left:
                counts[0] += 1
            else:
                counts[2 if left[slot] == changed[slot] else 1] += 1
    return {name: tuple(counts) for name, counts in sorted(found.items())}


# ---- propose ------------------------------------------------------------------------------------


def propose_page(
    title: str, rules: Sequence[Sequence[str]], scores: Sequence[str], text: str,
    held: Sequence[Weighed], world: World | None, curve: Sequence[Point], remarks: Sequence[str],
) -> str:  # fmt: skip
    """Return the page of a proposal. ``rules`` is a table with its head, ``scores`` are lines;
    ``held`` are the rows to judge by, of which those of text games tell nothing by slot."""
    parts = [*page_head(f"Rules learned from rows: {title}", _STYLE)]
    parts += ["<h2>Rules and their evidence</h2>", *table_html(rules[0], rules[1:])]
    parts += ["<h2>Rows not learned from</h2>", f"<pre>{escape(chr(10).join(scores))}</pre>"]
    parts += _curve(curve)
    if held:
        counts = confusion(held)
        parts += ["<h2>Changes by slot</h2>", stacked_chart("changes", NAMES, counts)]
        heads = ("slot", *NAMES)
        parts += table_html(heads, ((name, *map(str, one)) for name, one in counts.items()))
        parts += _worst(held, world)
    if remarks:
        parts += ["<h2>Remarks</h2>", *(f"<p>{text_html(one)}</p>" for one in remarks)]
    parts += ["<h2>The rules</h2>", f"<pre>{escape(text)}</pre>", PAGE_END]
    return "\n".join(parts) + "\n"


def _curve(curve: Sequence[Point]) -> Iterator[str]:
    if curve:
        yield "<h2>Learning curve</h2>"
        shares = [(str(one.rows), one.right / max(1, one.of)) for one in curve]
        bars = [Bar(name, share, share, share) for name, share in shares]
        yield bar_chart("changing rows strictly right, by rows learned from", bars)


def _worst(held: Sequence[Weighed], world: World | None) -> Iterator[str]:
    wrong = sorted((one for one in held if one.left), key=lambda one: -len(one.left))
    if wrong:
        yield f"<h2>The worst of {len(wrong)} wrong transitions</h2>"
    for one in wrong[:WORST]:
        yield f"<h3>{escape(one.row.place)}: {escape(one.command)}</h3>"
        yield from _both(one, world)


def _both(one: Weighed, world: World | None) -> Iterator[str]:
    """Yield both states: as maps where the world has layouts, and the slots that come out wrong."""
    if world is not None and world.layouts:
        yield '<div class="maps">'
        for name, shape in (("before", one.before), ("after", one.after)):
            drawn = "\n\n".join("\n".join(rows) for rows in maps_of(world, shape).values())
            yield f"<figure><pre>{escape(drawn)}</pre><figcaption>{name}</figcaption></figure>"
        yield "</div>"
    old = {slot: was for slot, was, _ in differences_of(one.before, one.after)}
    heads = ("slot", "before", "by the rules", "observed")
    yield from table_html(heads, (_slot(slot, mine, seen, old) for slot, mine, seen in one.left))


def _slot(slot: str, mine: Any, seen: Any, old: Mapping[str, Any]) -> tuple[str, ...]:
    return slot, *(str(one) for one in (old.get(slot, seen), mine, seen))


# ---- fit ----------------------------------------------------------------------------------------


def fit_page(title: str, lines: Sequence[Sequence[str]], fitted: Fit, said: str) -> str:
    """Return the page of fitted numbers. ``lines`` is their table with its head."""
    bars = [_bar(one) for one in fitted.params if one.informative]
    parts = [*page_head(f"Numbers fitted to rows: {title}", _STYLE), f"<p>{escape(said)}</p>"]
    parts += [bar_chart("value and its 95 % interval, in shares of the range", bars)]
    parts += [*table_html(lines[0], lines[1:]), PAGE_END]
    return "\n".join(parts) + "\n"


def _bar(one: Fitted) -> Bar:
    low, size = one.learned.low, one.learned.high - one.learned.low or 1.0
    spread = 2 * (one.error or 0.0)
    ends = (one.value, max(low, one.value - spread), min(low + size, one.value + spread))
    return Bar(one.learned.name, *((end - low) / size for end in ends))
