"""Write a proposal as a program that the checker accepts; report the rules that it rejects."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.session import check_text
from tokenworld.syntax.format import format_source
from tokenworld.verbs.learn.propose.covering import Rules
from tokenworld.verbs.learn.propose.scenes import LABEL, Step, Vocabulary
from tokenworld.verbs.learn.propose.stages import Learned, Proposal
from tokenworld.verbs.learn.propose.text.writing import ROOT, Writer
from tokenworld.verbs.learn.propose.textrows import OVER, SCORE, WON, Shape, TextLayout

_ITEM = re.compile(r"(action|law) (?:`([^`]*)`|(\w+))")
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Emitted:
    """The program, the mapping of its records (empty for rows of worlds), and the rejected
    parts."""

    text: str
    mapping: str
    rejected: tuple[Diagnostic, ...]


class Given(Protocol):
    """Given rules, which a proposal extends."""

    names: Collection[str]

    def extended(self, writer: Writer) -> str:
        """Return the rules with those of a proposal."""
        ...

    def source(self, text: str) -> Source:
        """Return a text in the place of the rules, where it finds their modules."""
        ...


def emitted(
    proposal: Proposal, steps: Sequence[Step], layout: TextLayout | None, title: str,
    given: Given | None = None,
) -> Emitted:  # fmt: skip
    """Write a proposal. Rules that the checker rejects are dropped, the weakest of the rejected
    action or law first. Raises `Failure` where anything else is rejected."""
    rejected: list[Diagnostic] = []
    for _ in range(_TRIES):
        writer = Writer(proposal, steps, layout, title, () if given is None else given.names)
        text = writer.text() if given is None else given.extended(writer)
        source = Source("proposed.tw", None, text) if given is None else given.source(text)
        found = check_text(source)
        errors = [one for one in found.diagnostics if one.is_error]
        if not errors:
            text = format_source(source)[0] or text
            unsaid = [_rejection(one, "the language cannot say it") for one in writer.unwritten]
            mapping = "" if layout is None else mapping_text(layout, proposal.vocabulary)
            return Emitted(text, mapping, (*rejected, *unsaid))
        for error in errors[:1]:
            dropped = _dropped(proposal, writer, text, error)
            if dropped is None:
                raise Failure(*errors)
            rejected.append(_rejection(dropped, f"{error.code}, {error.message.rstrip('.')}"))
    raise Failure(*errors)


def _rejection(what: str, why: str) -> Diagnostic:
    message = f"A rule for {what} was left out: {why}."
    return Diagnostic("TW1207", message, hint="Write the rule by hand, or record more play.")


def _dropped(proposal: Proposal, writer: Writer, text: str, error: Diagnostic) -> str | None:
    """Drop the weakest rule of the item in which an error is."""
    if error.span is None:
        return None
    lines = text.split("\n")[: error.span.line]
    item = next((match for line in reversed(lines) if (match := _ITEM.match(line))), None)
    if item is None:
        return None
    name = item[2] or item[3]
    if item[1] == "law":
        return _without(proposal.ticks, [at for at, one in enumerate(proposal.ticks)
                                         if writer.law_names.get(at) == name], name)  # fmt: skip
    number = next((at for at, one in enumerate(proposal.grammar.schemas) if one.name == name), -1)
    acts = proposal.acts.get(number, [])
    return _without(acts, range(len(acts)), name)


def _without(every: list[Learned], among: Sequence[int], name: str) -> str | None:
    """Drop the rule with the fewest right instances."""
    rules = [(rule.right, at, place) for at in among
             for place, rule in enumerate(every[at].rules.rules)]  # fmt: skip
    if not rules:
        return None
    _, at, place = min(rules)
    one = every[at]
    left = tuple(rule for number, rule in enumerate(one.rules.rules) if number != place)
    lost = one.rules.unexplained + one.rules.rules[place].right
    every[at] = replace(one, rules=Rules(left, lost, one.rules.wrong))
    if not left:
        every.pop(at)
    return f"`{one.name}` in `{name}`"


# ---- the mapping of records ---------------------------------------------------------------------


def mapping_text(layout: TextLayout, vocabulary: Vocabulary) -> str:
    """Return the text of `mapping.toml`."""
    return "\n".join(_lines(layout, vocabulary)) + "\n"


def _lines(layout: TextLayout, vocabulary: Vocabulary) -> Iterator[str]:
    yield f"game = {json.dumps(layout.game)}"
    yield 'name = "recordName"'
    yield f'label = "{LABEL}"'
    if layout.rootless:
        yield f'root = "{ROOT}"'
    yield "\n[score]"
    yield f'over = "{OVER}"\nwon = "{WON}"\nkept = "{SCORE}"'
    renamed = {old: new for old, new in layout.types.items() if old != new}
    if renamed:
        yield "\n[types]"
        yield from (f"{json.dumps(old)} = {json.dumps(new)}" for old, new in renamed.items())
    if layout.parts:
        yield "\n[parts]"
        yield from (f"{json.dumps(old)} = {count}" for old, count in layout.parts.items())
    shapes = [(key, text) for shape in layout.shapes.values()
              for key, text in _property(shape, layout, vocabulary)]  # fmt: skip
    if shapes:
        yield "\n[properties]"
        yield from (f"{json.dumps(key)} = {text}" for key, text in shapes)


def _property(
    shape: Shape, layout: TextLayout, vocabulary: Vocabulary
) -> Iterator[tuple[str, str]]:
    entries: list[str] = []
    if shape.form == "constant":
        for kind in shape.owners:
            yield f"{kind}.{shape.name}", f"{{ constant = {json.dumps(shape.constant)} }}"
        return
    if shape.form == "value":
        if shape.parts == (shape.name,) and not shape.present and not shape.filled:
            return
        entries.append(f"value = {json.dumps(shape.parts[0])}")
    elif shape.form == "items":
        entries.append(f"items = {json.dumps(list(shape.parts))}")
        if shape.nothing is not None:
            entries.append(f"nothing = {json.dumps(shape.nothing)}")
    elif shape.form == "members":
        entries.append(f"members = {json.dumps(shape.parts[0])}")
        entries.append(f"keys = {json.dumps(shape.keys)}")
    else:
        entries.append(f"entries = {json.dumps(list(shape.parts))}")
        entries.append(f"keys = {json.dumps(shape.keys)}, having = {json.dumps(shape.having)}")
    if shape.unset:
        entries.append("unset = true")
    if shape.present:
        entries.append(f"present = {json.dumps(shape.present)}")
    if shape.filled:
        entries.append(f"filled = {json.dumps(shape.filled)}")
    owner = vocabulary.group(frozenset(shape.owners))
    key = f"{owner}.{shape.name}" if owner else shape.name
    yield key, f"{{ {', '.join(entries)} }}"
