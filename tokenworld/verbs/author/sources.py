"""Texts that models wrote: the files that they may read, their scenarios, and their signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, assert_never

from tokenworld.check import Checked
from tokenworld.diagnostics import Diagnostic, Source, render
from tokenworld.diagnostics.frozen import frozen
from tokenworld.session.loading import check_text
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source
from tokenworld.verbs.author.answers import MOST_SOURCE

NAME: Final = "world.tw"
_MODULE: Final = re.compile(r"[a-z][A-Za-z0-9_]*")
_HEAD: Final = "# Scenarios of the tester."


@frozen
class Test:
    """A scenario or a world of the tester's, as text, with its title or name."""

    title: str
    text: str


@frozen
class Dispute:
    """A contested scenario, and the reason; it stays unchanged, and is reported."""

    title: str
    why: str
    text: str = ""


def source_of(text: str) -> Source:
    """Return a source without a file: `use` finds modules of the project and the package only."""
    return Source(NAME, None, text)


@lru_cache(maxsize=8)
def checked(text: str) -> Checked:
    """Return the checked text, cached: tools, tester and judge ask for the same text in turn."""
    return check_text(source_of(text))


def is_sound(text: str) -> bool:
    """Return whether `tw check` finds no error."""
    return checked(text).program is not None


def joined(text: str, tests: Sequence[Test]) -> str:
    """Return the world with the tester's scenarios after it."""
    if not tests:
        return text.rstrip("\n") + "\n" if text.strip() else ""
    return "\n\n".join((text.rstrip("\n"), _HEAD, *(one.text for one in tests))) + "\n"


def items_of(text: str) -> tuple[tuple[syn.Item, ...], bool]:
    """Return the items of a text, and whether all of it could be read."""
    tree, problems = parse_source(source_of(text))
    return tree.items, not any(one.is_error for one in problems)


# ---- trust --------------------------------------------------------------------------------------


def untrusted(text: str) -> str | None:
    """Return why a text may not be used: it is too long, or it reads files that it may not read.

    Checking and running `.tw` touches nothing else.
    """
    size = len(text.encode("utf-8", "backslashreplace"))
    if size > MOST_SOURCE:
        return f"The world has {size:,} bytes; at most {MOST_SOURCE:,} are allowed."
    return next((why for item in items_of(text)[0] for why in _outside(item)), None)


def _outside(item: syn.Item) -> Iterator[str]:
    item = item.item if isinstance(item, syn.QuirkDecl) else item
    if isinstance(item, syn.UseDecl):
        path = [name.value for name in item.path]
        if not all(_MODULE.fullmatch(one) for one in path):
            yield f"`use {'.'.join(path)}` leads out of the project: use its modules or `std`."
    elif isinstance(item, syn.WorldDecl):
        if any(isinstance(one, syn.StartFile) for one in item.items):
            yield f"The world `{item.name.value}` reads a file (`start`): write its setup instead."
    elif isinstance(item, syn.ScenarioDecl) and any(
        isinstance(one, syn.Replay) for one in item.steps
    ):
        yield f"The scenario `{item.title.value}` reads a file (`replay`): write its steps instead."


# ---- scenarios ----------------------------------------------------------------------------------


def titles(text: str) -> tuple[str, ...]:
    """Return the titles of the scenarios in a text."""
    return tuple(one.title.value for one in items_of(text)[0] if isinstance(one, syn.ScenarioDecl))


def without_scenarios(text: str) -> str:
    """Return the text without its scenarios: those belong to the tester."""
    spans = [one.span for one in items_of(text)[0] if isinstance(one, syn.ScenarioDecl)]
    for span in reversed(spans):
        text = text[: span.start].rstrip() + "\n" + text[span.end :]
    return text


def tests_of(text: str) -> tuple[list[Test], list[Dispute]]:
    """Return the tests in a text of the tester, and the items that cannot be tests."""
    items, sound = items_of(text)
    found: list[Test] = []
    disputes: list[Dispute] = []
    for item in items:
        part = text[item.span.start : item.span.end].strip()
        if not isinstance(item, syn.ScenarioDecl | syn.WorldDecl):
            disputes.append(Dispute("", "A tester writes scenarios, and worlds for them.", part))
            continue
        title = item.title.value if isinstance(item, syn.ScenarioDecl) else item.name.value
        why = next(_outside(item), None)
        if why is None:
            found.append(Test(title, part))
        else:
            disputes.append(Dispute(title, why, part))
    if not sound:
        disputes.append(Dispute("", f"It cannot be read:\n{errors_text(text)}", text.strip()))
    return found, disputes


def merged(old: Sequence[Test], new: Iterable[Test]) -> list[Test]:
    """Return the tests with new ones; a new test replaces the old one of the same title."""
    by_title = {one.title: one for one in old}
    by_title.update({one.title: one for one in new})
    return sorted(by_title.values(), key=lambda one: one.text.startswith("scenario"))


def fitting(text: str, tests: Sequence[Test]) -> tuple[list[Test], list[Dispute]]:
    """Return the tests that `tw check` accepts after the world, and those that it does not."""
    good, disputes = list(tests), list[Dispute]()
    while good:
        whole = joined(text, good)
        errors = [one for one in checked(whole).diagnostics if one.is_error]
        places = [whole.rfind(one.text) for one in good]
        wrong = [
            number
            for number, (test, start) in enumerate(zip(good, places, strict=True))
            if any(one.span and start <= one.span.start < start + len(test.text) for one in errors)
        ]
        if not wrong:
            break
        for number in reversed(wrong):
            test, start = good.pop(number), places[number]
            own = [e for e in errors if e.span and start <= e.span.start < start + len(test.text)]
            told = render(own[:2], {NAME: source_of(whole)})
            disputes.append(Dispute(test.title, f"It does not fit the world:\n{told}", test.text))
    return good, disputes


def errors_text(text: str) -> str:
    """Return the findings of `tw check` on a text: at most five, errors before remarks."""
    result = checked(text)
    found: list[Diagnostic] = sorted(result.diagnostics, key=lambda one: not one.is_error)
    if not found:
        return "No errors."
    told = render(found[:5], {one.name: one for one in result.sources})
    return told if len(found) <= 5 else f"{told}\n… and {len(found) - 5} more"


# ---- signatures ---------------------------------------------------------------------------------


def signatures(text: str) -> str:
    """Return the signatures of a sound world: types, facts, headers of rules, objects.

    Effects, conditions and values are left out.
    """
    lines: list[str] = []
    sources = checked(text).sources
    for source in sorted(sources, key=lambda one: one.name == NAME):
        if source.name != NAME:
            lines.append(f"# from {source.name}")
        for item in parse_source(source)[0].items:
            lines += _signature(item, source)
    return "\n".join(lines)


def _signature(item: syn.Item, source: Source) -> Iterator[str]:
    match item:
        case syn.QuirkDecl():
            yield from _signature(item.item, source)
        case (
            syn.UnitDecl() | syn.EnumDecl() | syn.TypeDecl() | syn.ObjectDecl() | syn.ActorDecl()
            | syn.RelationDecl() | syn.FunctionDecl() | syn.EventDecl()
            | syn.PhaseDecl()
        ):  # fmt: skip
            yield _text(source, item)
        case syn.TableDecl() | syn.DeriveDecl() | syn.ParamDecl():
            yield re.split(r"[={]", _text(source, item), maxsplit=1)[0].rstrip()
        case syn.ActionDecl():
            yield _action(item, source)
        case syn.WorldDecl():
            yield from _world(item, source)
        case (
            syn.EditionDecl() | syn.UseDecl() | syn.ModelDecl() | syn.PddlDecl() | syn.EffectDecl()
            | syn.LawDecl() | syn.BelieveDecl() | syn.BirthDecl() | syn.WatchDecl()
            | syn.InvariantDecl() | syn.ConserveDecl() | syn.CalledDecl() | syn.ScopeDecl()
            | syn.DescribeDecl() | syn.ScenarioDecl()
        ):  # fmt: skip
            return
        case _:
            assert_never(item)


def _text(source: Source, node: syn.Node) -> str:
    return " ".join(source.text[node.span.start : node.span.end].split())


def _action(item: syn.ActionDecl, source: Source) -> str:
    start = item.span.start
    end = item.steps[0].span.start if item.steps else item.span.end
    header = source.text[start:end].rpartition("{")[0]
    labels = [one.label.value for one in item.steps if isinstance(one, syn.Require) and one.label]
    refusals = f"  # refused because: {', '.join(labels)}" if labels else ""
    return f"{' '.join(header.split())}{refusals}"


def _world(item: syn.WorldDecl, source: Source) -> Iterator[str]:
    yield f"world {item.name.value} has"
    for one in item.items:
        if isinstance(one, syn.ObjectDecl | syn.Layout):
            yield f"  {_text(source, one)}"
        elif isinstance(one, syn.Ending):
            yield f"  {one.kind} {one.name.value}"
