"""The rulebook: a checked program told in English, section by section.

It is made from the checked model, so it cannot say anything else than what is played: kinds of
things, what can be done and under which conditions, what happens by itself and in which order, what
always holds, and how each world is won, lost and scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokenworld.model import (
    Action,
    Binder,
    Ending,
    Law,
    Let,
    NumberType,
    Phase,
    Program,
    TextPart,
    World,
    show_type,
)
from tokenworld.prose.articles import capitalised
from tokenworld.prose.deeds import Line, told
from tokenworld.prose.english import English
from tokenworld.prose.english_words import a, plural, spoken_name
from tokenworld.prose.rulebook_vocabulary import Entry, facts, kinds
from tokenworld.prose.wording import kind_word

__all__ = ["BY_ITSELF", "Entry", "Rulebook", "Section", "rule_entry", "rulebook"]

BY_ITSELF = "What happens by itself"
"""The title of the section that tells of laws."""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Rulebook:
    title: str
    sections: tuple[Section, ...]

    def to_markdown(self) -> str:
        """The book as Markdown: a heading a section, an entry a rule."""
        lines = [f"# {self.title}"]
        for section in self.sections:
            lines += ["", f"## {section.title}"]
            for entry in section.entries:
                lines += ["", f"### {entry.name}", ""]
                lines += [entry.doc, ""] if entry.doc else []
                lines += [f"{'  ' * depth}- {text}" for depth, text in entry.lines]
        return "\n".join(lines)


def rulebook(program: Program) -> Rulebook:
    """The rulebook of a program and all its worlds."""
    worlds = tuple(program.worlds.values())
    title = worlds[0].title if len(worlds) == 1 else "The rules"
    sections = [
        Section("Kinds of things", tuple(kinds(program))),
        Section("Facts and values", tuple(facts(program))),
        Section("What can be done", tuple(_actions(program))),
        Section(BY_ITSELF, tuple(_phases(program))),
        Section("What always holds", tuple(_guards(program))),
        Section("What is noticed", tuple(_watches(program))),
        *(Section(f"The world “{world.title}”", tuple(_world(program, world))) for world in worlds),
    ]
    return Rulebook(title, tuple(section for section in sections if section.entries))


def rule_entry(program: Program, rule: Action | Law) -> Entry:
    """One rule told alone."""
    if isinstance(rule, Action):
        return _action(_top(program).with_binders(rule.params), rule)
    return Entry(rule.name, "", tuple(_law(program, rule)), str(rule.span))


def _top(program: Program) -> English:
    return English(program, {})


# ---- rules ------------------------------------------------------------------------------


def _actions(program: Program) -> Iterator[Entry]:
    for action in program.actions.values():
        yield _action(_top(program).with_binders(action.params), action)


def _action(english: English, action: Action) -> Entry:
    acting = English(english.program, {**english.names, "me": "you"})
    lines: list[Line] = []
    phrases = [f"“{_phrase(acting, index, action)}”" for index in range(len(action.phrases))]
    if phrases:
        lines.append((0, f"Said as {' or '.join(phrases)}."))
    if action.params:
        lines.append((0, f"With {_parameters(acting, action.params)}."))
    lines += _effort(acting, action)
    body: list[Line] = []
    for guard in action.guards:
        if isinstance(guard, Let):
            body += told((guard,), acting, 1)
            acting = acting.with_name(guard.name)
        else:
            text = "" if guard.text is None else f" Else: “{acting.template(guard.text)}”"
            body.append((1, f"{capitalised(acting.condition(guard.condition))}.{text}"))
    if body:
        lines += [(0, "Only if:"), *body]
    deeds = list(told(action.body, acting, 1))
    lines += [(0, "Then, all at once:"), *deeds] if deeds else [(0, "It changes nothing.")]
    if action.cancelled:
        lines += [(0, "If it is broken off:"), *told(action.cancelled, acting, 1)]
    return Entry(action.name, _doc(action), tuple(lines), str(action.span))


def _doc(rule: Action | Law) -> str:
    quirk = f"(A deliberate oddity: {rule.quirk}.)" if rule.quirk else ""
    return " ".join(part for part in ((rule.doc or "").strip(), quirk) if part)


def _phrase(english: English, index: int, action: Action) -> str:
    parts = action.phrases[index].parts
    return "".join(
        part.text if isinstance(part, TextPart) else f"[{english.value(part.term)}]"
        for part in parts
    )


def _parameters(english: English, params: tuple[Binder, ...]) -> str:
    told_ = []
    for one in params:
        noun = english.names[one.name].removeprefix("the ")
        number = isinstance(one.type, NumberType)
        told_.append(f"{noun}, {show_type(one.type)}" if number else f"{a(noun)}")
    return " and ".join(told_)


def _effort(english: English, action: Action) -> Iterator[Line]:
    if action.takes is not None:
        ticks = english.value(action.takes)
        until = f", or until {english.condition(action.until)}" if action.until is not None else ""
        free = "It takes no time." if ticks == "0" else f"It takes {ticks} ticks{until}."
        yield 0, free
    if action.cost is not None:
        yield 0, f"It costs {english.value(action.cost)}."


_ORDERS = {
    "simultaneous": "All at once, each reading the state before it.",
    "sequential": "One after the other, each reading what came before, in order of declaration.",
    "by_nesting": "One after the other, from the outermost container inwards.",
}


def _phases(program: Program) -> Iterator[Entry]:
    phases: list[Phase | None] = [*program.phases.values(), None]
    for phase in phases:
        name = "" if phase is None else phase.name
        laws = [law for law in program.laws.values() if law.phase == name]
        if not laws:
            continue
        order = "simultaneous" if phase is None else phase.order
        lines: list[Line] = [(0, _ORDERS[order])]
        for law in laws:
            lines += _law(program, law)
        title = f"Phase “{spoken_name(name)}”" if name else "Every tick, at the end"
        yield Entry(title, "", tuple(lines), str(laws[0].span if phase is None else phase.span))
    for birth in program.births:
        inner = _top(program).with_binders((birth.param,))
        noun = inner.names[birth.param.name].removeprefix("the ")
        lines = [
            (0, f"When {a(noun)} comes into being:"),
            *told(birth.body, inner, 1),
        ]
        yield Entry(f"Birth of {plural(noun)}", "", tuple(lines), str(birth.span))


def _law(program: Program, law: Law) -> Iterator[Line]:
    inner = _top(program).with_binders(law.params)
    head = f"For {inner.every(law.params)}" if law.params else "Always"
    when = f" when {inner.condition(law.when)}" if law.when is not None else ""
    doc = f" {_doc(law)}" if _doc(law) else ""
    yield 0, f"**{spoken_name(law.name)}**: {head[0].lower() + head[1:]}{when}:{doc}"
    yield from told(law.body, inner, 1)


def _guards(program: Program) -> Iterator[Entry]:
    english = _top(program)
    for rule in program.invariants.values():
        inner = english.with_binders(rule.params)
        who = f"For {inner.every(rule.params)}: " if rule.params else ""
        text = f"{who}{inner.condition(rule.condition)}."
        yield Entry(spoken_name(rule.name), "", ((0, capitalised(text)),), str(rule.span))
    for law in program.conserves.values():
        named = ", ".join(spoken_name(one) for one in law.exempt)
        saved = f" except by {named}" if law.exempt else ""
        line = f"{capitalised(english.value(law.value))} never changes{saved}."
        yield Entry(spoken_name(law.name), "", ((0, line),), str(law.span))


def _watches(program: Program) -> Iterator[Entry]:
    for watch in program.watches.values():
        inner = _top(program).with_binders(watch.params)
        who = f"for {inner.every(watch.params)}, " if watch.params else ""
        once = "the first time" if watch.once else "whenever it becomes true"
        head = f"{who}{once} that {inner.condition(watch.when)}:"
        lines = ((0, capitalised(head)), *told(watch.body, inner, 1))
        yield Entry(spoken_name(watch.name), "", lines, str(watch.span))


# ---- worlds -----------------------------------------------------------------------------


def _world(program: Program, world: World) -> Iterator[Entry]:
    english = _top(program)
    yield Entry("At the start", "", tuple(_start(program, world)), str(world.span))
    endings = tuple((0, _ending(english, one)) for one in world.endings)
    if endings:
        yield Entry("Endings", "", endings, str(world.endings[0].span))
    points = [(0, f"The score is {english.value(world.score)}.")] if world.score is not None else []
    for award in world.awards:
        gain = f"{english.value(award.amount)} points, once, when"
        points.append((0, f"{gain} {english.condition(award.when)}."))
    for pay in world.pays:
        gain = f"A reward of {english.value(pay.amount)} in every tick at whose end"
        points.append((0, f"{gain} {english.condition(pay.when)}."))
    if points:
        yield Entry("Score", "", tuple(points), str(world.span))


def _start(program: Program, world: World) -> Iterator[Line]:
    english = _top(program)
    for decl in program.objects.values():
        if decl.world not in (None, world.name):
            continue
        name = decl.title or spoken_name(decl.name)
        fields = [
            f"{spoken_name(program.fluents[one.fluent].name)} {english.value(one.value)}"
            for one in decl.fields
        ]
        given = f": {', '.join(fields)}" if fields else ""
        yield (
            0,
            f"{capitalised(name)}, {a(kind_word(decl.of))}{given}.",
        )
    for layout in world.layouts:
        size = f"{len(layout.rows[0]) if layout.rows else 0} by {len(layout.rows)}"
        yield 0, f"A map of {size} {plural(kind_word(layout.of))}."
        yield from ((1, f"`{row}`") for row in layout.rows)
    for body in world.setups:
        yield 0, "Set up:"
        yield from told(body, english, 1)
    if world.time_always:
        yield 0, "Time passes even after a refusal."
    if len(world.turns) > 1:
        yield 0, f"In every tick they act in turn: {', '.join(map(spoken_name, world.turns))}."
    if world.endless:
        yield 0, "Play goes on after an ending."


def _ending(english: English, ending: Ending) -> str:
    what = {"goal": "Won", "lose": "Lost", "stop": "Over"}[ending.ending]
    text = "" if ending.text is None else f" “{english.template(ending.text)}”"
    return f"{what} ({spoken_name(ending.name)}) when {english.condition(ending.condition)}.{text}"
