"""The rulebook: a checked program in English, section by section, and its rules as three texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Span, joined
from tokenworld.model import is_optional, show_type
from tokenworld.prose.english import English, Line, a, plural, spoken_name, told, type_noun
from tokenworld.prose.wording import capitalised, kind_word


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule: its name, its doc comment, its sentences with their depth, and its place."""

    name: str
    doc: str
    lines: tuple[Line, ...]
    place: str


def kinds(program: m.Program) -> Iterator[Entry]:
    for enum in program.enums.values():
        joined = (" < " if enum.ladder else ", ").join(spoken_name(one) for one in enum.members)
        kind = "A ladder" if enum.ladder else "One of"
        yield Entry(spoken_name(enum.name), "", ((0, f"{kind}: {joined}."),), str(enum.span))
    for one in program.types.values():
        if one.name != m.ROOT:
            yield _kind(program, one)


def _kind(program: m.Program, kind: m.ObjectKind) -> Entry:
    parents = [kind_word(name) for name in kind.parents if name != m.ROOT]
    lines = []
    if parents:
        also = " and ".join(a(one) for one in parents)
        lines.append((0, f"Every {kind_word(kind.name)} is {also}."))
    own = [program.fluents[key] for key in kind.attributes if key.startswith(f"{kind.name}.")]
    lines += [(0, _attribute(program, one)) for one in own]
    english = English(program, {})
    overrides = [one for one in kind.defaults if not one.fluent.startswith(f"{kind.name}.")]
    for value in overrides:
        if _within(value.span, kind.span):
            name = spoken_name(program.fluents[value.fluent].name)
            lines.append((0, f"Its {name} is {english.value(value.value)} to begin with."))
    lines = lines or [(0, "It has no attributes of its own.")]
    return Entry(capitalised(kind_word(kind.name)), "", tuple(lines), str(kind.span))


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start < outer.end


_FLAGS = {
    "static": "never changes",
    "secret": "is kept secret",
    "clamped": "stops at its limits",
    "unique": "no two have the same",
    "ordered": "keeps the order of arrival",
    "nested": "nothing can contain itself",
}


def _attribute(program: m.Program, fluent: m.Fluent) -> str:
    name = spoken_name(fluent.name)
    flags = [text for flag, text in _FLAGS.items() if getattr(fluent, flag)]
    more = "".join(f"; {text}" for text in flags)
    first = "" if fluent.default is None else _default(program, fluent)
    told_ = f"{capitalised(name)}: {_type_words(fluent.type)}{first}{more}."
    return " ".join([told_, *_lists(fluent, name)])


def _lists(fluent: m.Fluent, name: str) -> Iterator[str]:
    """The sentences on the inverse of an attribute and on its transitive closure."""
    owners = plural(type_noun(fluent.params[0].type))
    noun = type_noun(fluent.type)
    if fluent.inverse:
        these = spoken_name(fluent.inverse)
        yield f"The “{these}” of {a(noun)} are the {owners} whose “{name}” is that {noun}."
    if fluent.closure:
        all_of = spoken_name(fluent.closure)
        yield f"Its “{all_of}” are all {owners} from which “{name}” leads to it, step by step."


def _default(program: m.Program, fluent: m.Fluent) -> str:
    assert fluent.default is not None
    return f", {English(program, {}).value(fluent.default)} to begin with"


def _type_words(of: m.ValueType) -> str:
    maybe = ", or nothing" if is_optional(of) else ""
    match of:
        case m.ObjectType(name=name) | m.EnumType(name=name):
            noun = kind_word(name)
            return f"{a(noun)}{maybe}"
        case m.NumberType(low=int(), high=int()):
            return f"{show_type(of).removesuffix('?')}{maybe}"
        case m.NumberType():
            return f"a whole number{maybe}"
        case m.BoolType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            words = {"bool": "true or false", "real": "a real number", "text": "a text"}
            return f"{words.get(of.kind, of.kind)}{maybe}"
        case _:
            assert_never(of)


def facts(program: m.Program) -> Iterator[Entry]:
    english = English(program, {})
    for fluent in program.fluents.values():
        if fluent.fluent_kind == "attribute" or fluent.monitor:
            continue
        each = [kind_word(getattr(one.type, "name", "number")) for one in fluent.params]
        pair = len(each) == 2 and each[0] == each[1]
        who = f"pair of {plural(each[0])}" if pair else " and ".join(each)
        about = f" for each {who}" if each else ""
        first = "" if fluent.default is None else _default(program, fluent)
        lines = [(0, f"{capitalised(_type_words(fluent.type))}{about}{first}.")]
        for row in fluent.rows:
            keys = ", ".join(english.value(key) for key in row.keys)
            value = "" if fluent.type.kind == "bool" else f": {english.value(row.value)}"
            lines.append((1, f"{keys}{value}"))
        yield Entry(capitalised(spoken_name(fluent.name)), "", tuple(lines), str(fluent.span))
    for derive in [one for one in program.derives.values() if one.over_time is None]:
        yield _derived(english, derive)
    for param in program.params.values():
        default = english.value(param.default)
        text = f"{_type_words(param.type)}; {default} unless a world sets another value"
        name = capitalised(spoken_name(param.name))
        yield Entry(name, "", ((0, f"A setting: {text}."),), str(param.span))


def _derived(english: English, derive: m.Derive) -> Entry:
    inner = english.with_binders(derive.params)
    args = tuple(m.Local(one.name, one.type, one.span) for one in derive.params)
    itself = m.DeriveCall(derive.name, args, derive.type, derive.span)
    if derive.type.kind == "bool":
        text = f"{inner.condition(itself)} exactly if {inner.condition(derive.value)}."
    else:
        text = f"{inner.value(itself)} {inner.agreeing(itself, 'is')} {inner.value(derive.value)}."
    text = capitalised(text)
    return Entry(capitalised(spoken_name(derive.name)), "", ((0, text),), str(derive.span))


# ---- The rulebook: a checked program told in English, section by section -------------------------
# It is made from the checked model, so it says what the engine plays: kinds of things, actions with
# their conditions, laws in their order, invariants, and the endings and scores of each world.


BY_ITSELF = "What happens by itself"
"""The title of the section on laws."""


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


def rulebook(program: m.Program) -> Rulebook:
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


def rule_entry(program: m.Program, rule: m.Action | m.Law) -> Entry:
    """Return the entry of one rule."""
    if isinstance(rule, m.Action):
        return _action(_top(program).with_binders(rule.params), rule)
    return Entry(rule.name, "", tuple(_law(program, rule)), str(rule.span))


def _top(program: m.Program) -> English:
    return English(program, {})


# ---- rules ------------------------------------------------------------------------------


def _actions(program: m.Program) -> Iterator[Entry]:
    for action in program.actions.values():
        yield _action(_top(program).with_binders(action.params), action)


def _action(english: English, action: m.Action) -> Entry:
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
        if isinstance(guard, m.Let):
            body += told((guard,), acting, 1)
            acting = acting.with_name(guard.name)
        else:
            text = "" if guard.text is None else f" Else: “{acting.template(guard.text)}”"
            body.append((1, f"{capitalised(acting.condition(guard.condition))}.{text}"))
    if body:
        lines += [(0, "Only if:"), *body]
    changes = list(told(action.body, acting, 1))
    lines += [(0, "Then, all at once:"), *changes] if changes else [(0, "It changes nothing.")]
    if action.cancelled:
        lines += [(0, "If it is broken off:"), *told(action.cancelled, acting, 1)]
    return Entry(action.name, _doc(action), tuple(lines), str(action.span))


def _doc(rule: m.Action | m.Law) -> str:
    quirk = f"(A deliberate oddity: {rule.quirk}.)" if rule.quirk else ""
    return " ".join(part for part in ((rule.doc or "").strip(), quirk) if part)


def _phrase(english: English, index: int, action: m.Action) -> str:
    parts = action.phrases[index].parts
    return "".join(
        part.text if isinstance(part, m.TextPart) else f"[{english.value(part.term)}]"
        for part in parts
    )


def _parameters(english: English, params: tuple[m.Binder, ...]) -> str:
    told_ = []
    for one in params:
        noun = english.names[one.name].removeprefix("the ")
        number = isinstance(one.type, m.NumberType)
        told_.append(f"{noun}, {show_type(one.type)}" if number else f"{a(noun)}")
    return " and ".join(told_)


def _effort(english: English, action: m.Action) -> Iterator[Line]:
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


def _phases(program: m.Program) -> Iterator[Entry]:
    phases: list[m.Phase | None] = [*program.phases.values(), None]
    for phase in phases:
        name = "" if phase is None else phase.name
        laws = [x for x in program.laws.values() if x.phase == name and not _notes(program, x)]
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


def _notes(program: m.Program, law: m.Law) -> bool:
    """Return whether a law only records the history that a condition on all states needs.

    The rulebook prints such a condition where it is used.
    """
    condition = program.derives.get(law.name)
    return condition is not None and condition.over_time is not None


def _law(program: m.Program, law: m.Law) -> Iterator[Line]:
    inner = _top(program).with_binders(law.params)
    head = f"For {inner.every(law.params)}" if law.params else "Always"
    when = f" when {inner.condition(law.when)}" if law.when is not None else ""
    if law.added and law.doc is not None:  # of a model: its beliefs as they are written
        yield 0, f"**{law.name}**: {head[0].lower() + head[1:]}, drawn by what these give together:"
        yield from ((1, f"`{one}`") for one in law.doc.splitlines())
        return
    doc = f" {_doc(law)}" if _doc(law) else ""
    yield 0, f"**{spoken_name(law.name)}**: {head[0].lower() + head[1:]}{when}:{doc}"
    yield from told(law.body, inner, 1)


def _guards(program: m.Program) -> Iterator[Entry]:
    english = _top(program)
    for rule in program.invariants.values():
        inner = english.with_binders(rule.params)
        who = f"For {inner.every(rule.params)}: " if rule.params else ""
        text = f"{who}{inner.condition(rule.condition)}."
        yield Entry(spoken_name(rule.name), "", ((0, capitalised(text)),), str(rule.span))
    for law in program.conserves.values():
        named = joined([spoken_name(one) for one in law.exempt], "and")
        saved = f" except by {named}" if law.exempt else ""
        line = f"{capitalised(english.value(law.value))} never changes{saved}."
        yield Entry(spoken_name(law.name), "", ((0, line),), str(law.span))


def _watches(program: m.Program) -> Iterator[Entry]:
    for watch in program.watches.values():
        inner = _top(program).with_binders(watch.params)
        who = f"for {inner.every(watch.params)}, " if watch.params else ""
        once = "the first time" if watch.once else "whenever it becomes true"
        head = f"{who}{once} that {inner.condition(watch.when)}:"
        lines = ((0, capitalised(head)), *told(watch.body, inner, 1))
        yield Entry(spoken_name(watch.name), "", lines, str(watch.span))


# ---- worlds -----------------------------------------------------------------------------


def _world(program: m.Program, world: m.World) -> Iterator[Entry]:
    english = _top(program)
    yield Entry("At the start", "", tuple(_start(program, world)), str(world.span))
    endings = tuple((0, _ending(english, one)) for one in world.endings)
    if endings:
        yield Entry("Endings", "", endings, str(world.endings[0].span))
    points = [(0, f"The score is {english.value(world.score)}.")] if world.score is not None else []
    for award in world.awards:
        amount = english.value(award.amount)
        gain = f"{amount} {'point' if amount == '1' else 'points'}, once, when"
        points.append((0, f"{gain} {english.condition(award.when)}."))
    for pay in world.pays:
        gain = f"A reward of {english.value(pay.amount)} in every tick at whose end"
        points.append((0, f"{gain} {english.condition(pay.when)}."))
    if points:
        yield Entry("Score", "", tuple(points), str(world.span))


def _start(program: m.Program, world: m.World) -> Iterator[Line]:
    english = _top(program)
    for decl in program.objects.values():
        if decl.world not in (None, world.name):
            continue
        name = decl.title or spoken_name(decl.name)
        fields = [english.field(one) for one in decl.fields]
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


def _ending(english: English, ending: m.Ending) -> str:
    what = {"goal": "Won", "lose": "Lost", "stop": "Over"}[ending.ending]
    text = "" if ending.text is None else f" “{english.template(ending.text)}”"
    return f"{what} ({spoken_name(ending.name)}) when {english.condition(ending.condition)}.{text}"


# ---- The rules of a world as three texts: of actions, of objects, of the score -------------------
# Wang et al. (2024) gave rules to language models in this form: requirements and effects of each
# action, properties and laws of each kind of object, and the score.


_RULER = "=========="


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The three texts."""

    actions: str
    objects: str
    score: str


def rule_context(program: m.Program, world: m.World) -> RuleContext:
    """The context of one world; laws stand with the kind of object that they are about."""
    actions = (_action_text(rule_entry(program, one)) for one in program.actions.values())
    return RuleContext(
        "\n\n".join(actions),
        f"\n{_RULER}\n".join(_objects(program)),
        "\n".join(_score(program, world)),
    )


def _action_text(entry: Entry) -> str:
    lines = [f"{entry.name}:"]
    lines += [f"Description: {entry.doc}"] if entry.doc else []
    lines += ["Rules:", *_listed(entry.lines)]
    return "\n".join(lines)


def _listed(lines: tuple[Line, ...]) -> Iterator[str]:
    """Number the top lines; nested lines are indented below them."""
    number = 0
    for depth, text in lines:
        if depth == 0:
            number += 1
            yield f"{number}. {text}"
        else:
            yield f"{'  ' * depth}- {text}"


def _objects(program: m.Program) -> Iterator[str]:
    """Yield each kind with its properties and its laws, then the facts and laws of no kind."""
    laws: dict[str, list[m.Law]] = {}
    for law in program.laws.values():
        first = law.params[0].type if law.params else None
        laws.setdefault(first.name if isinstance(first, m.ObjectType) else "", []).append(law)
    owners = {capitalised(kind_word(name)): name for name in program.types}
    for entry in kinds(program):
        name = owners.get(entry.name, "")
        yield _object(entry, program, laws.pop(name, []) if name else [])
    for entry in facts(program):
        yield _object(entry, program, [])
    yield from _order(program)
    rest = [law for left in laws.values() for law in left]
    if rest:
        yield _object(Entry("The world", "", (), ""), program, rest)


def _order(program: m.Program) -> Iterator[str]:
    """In which order a tick goes: the phases, and who comes first in each."""
    by_itself = (one for one in rulebook(program).sections if one.title == BY_ITSELF)
    steps = [f"- {entry.name}: {entry.lines[0][1]}" for one in by_itself for entry in one.entries]
    if steps:
        yield "\n".join(["Object: The tick", "Properties:", *steps])


def _object(entry: Entry, program: m.Program, laws: list[m.Law]) -> str:
    lines = [f"Object: {entry.name}"]
    lines += [f"Description: {entry.doc}"] if entry.doc else []
    lines += ["Properties:", *_bullets(entry.lines)] if entry.lines else []
    if laws:
        lines.append("In every tick:")
        for law in laws:
            lines += _bullets(rule_entry(program, law).lines)
    return "\n".join(lines)


def _bullets(lines: tuple[Line, ...]) -> Iterator[str]:
    return (f"{'  ' * depth}- {text}" for depth, text in lines)


def _score(program: m.Program, world: m.World) -> Iterator[str]:
    """Endings and points of one world."""
    title = f"The world “{world.title}”"
    for section in rulebook(program).sections:
        for entry in section.entries if section.title == title else ():
            if entry.name in ("Endings", "Score"):
                yield from _bullets(entry.lines)
