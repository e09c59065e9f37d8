"""The phrases and specificity passes: texts that compete (language.md §5, §11).

No typed words may mean two actions, and of the descriptions, names and birth rules that apply to
one object exactly one must be the most specific.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal, is_subtype, same_unit
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen

_ARTICLES = ("a", "an", "the")


@frozen
class _Phrase:
    """A phrase as a sequence of words and slots; a slot is a value type.

    It has no place: phrases are compared again only where one of them reads otherwise.
    """

    action: str
    parts: tuple[str | m.ValueType, ...]


def check_phrases(draft: Draft) -> None:
    """Two actions with phrases that can match the same words (TW0603)."""
    actions = tuple(draft.actions.values())
    read = draft.memo.each("phrases", actions, _all)
    parts = (*read, *draft.called)
    met = draft.memo.whole("phrases that meet", parts, lambda: _pairs(read, draft))
    if met:
        places = [(action.name, phrase.span) for action in actions for phrase in action.phrases]
        for earlier, later in met:
            _tell(*places[earlier], *places[later], draft)


def _pairs(read: list[tuple[_Phrase, ...]], draft: Draft) -> list[tuple[int, int]]:
    """The numbers of phrases that can mean two actions, one pair for any two actions."""
    found: list[tuple[int, int]] = []
    phrases = [phrase for some in read for phrase in some]
    names = _Names(draft)
    told: set[tuple[str, str]] = set()
    beginnings = _Beginnings()
    for position, later in enumerate(phrases):
        for number in beginnings.like(later):
            earlier = phrases[number]
            pair = (earlier.action, later.action)
            if pair[0] == pair[1] or pair in told:
                continue
            if _meet(earlier.parts, later.parts, names):
                told.add(pair)
                found.append((number, position))
        beginnings.add(position, later)
    return found


class _Beginnings:
    """Positions of phrases by their first word: those with other first words never meet."""

    def __init__(self) -> None:
        self._words: dict[str, list[int]] = {}
        self._others: list[int] = []

    def add(self, position: int, phrase: _Phrase) -> None:
        first = phrase.parts[0] if phrase.parts else None
        if isinstance(first, str):
            self._words.setdefault(first, []).append(position)
        else:
            self._others.append(position)

    def like(self, phrase: _Phrase) -> list[int]:
        """The earlier phrases that may begin with the same word, in order."""
        first = phrase.parts[0] if phrase.parts else None
        if isinstance(first, str):
            found = self._words.get(first, [])
            return sorted((*found, *self._others)) if self._others else found
        return sorted((*self._others, *(one for some in self._words.values() for one in some)))


def _all(action: m.Action) -> tuple[_Phrase, ...]:
    return tuple(_read(action, one) for one in action.phrases)


def _tell(one: str, first: Span, other: str, second: Span, draft: Draft) -> None:
    what = f"Words that fit this phrase of `{other}` can mean `{one}` too."
    related = (Related(first, f"a phrase of `{one}`"),)
    hint = "Change one of the two phrases, or narrow the types of its parameters."
    draft.tell("TW0603", what, second, "matches the same words", hint, related)


def _read(action: m.Action, phrase: m.Template) -> _Phrase:
    parts: list[str | m.ValueType] = []
    for part in phrase.parts:
        if isinstance(part, m.TextPart):
            parts += _words(part.text)
        else:
            parts.append(part.term.type)
    return _Phrase(action.name, tuple(parts))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace("_", " ").lower().rstrip(".").split())


# ---- the words of a slot ----------------------------------------------------------------


class _Names:
    """The words that name values, as far as they are written in the program."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._found: dict[m.ValueType, frozenset[tuple[str, ...]]] = {}

    def overlap(self, one: m.ValueType, other: m.ValueType) -> bool:
        """Return whether two slots can be filled by the same words."""
        match one, other:
            case m.ObjectType(), m.ObjectType():
                return can_equal(self.draft.types, one, other)
            case m.NumberType(), m.NumberType():
                return _ranges_meet(one, other)
            case m.EnumType(name=left), m.EnumType(name=right) if left == right:
                return True
            case m.TextType(), m.TextType():
                return True
            case _:
                return bool(self.of(one) & self.of(other))

    def of(self, kind: m.ValueType) -> frozenset[tuple[str, ...]]:
        """The words that name a value of a type, found once."""
        if kind not in self._found:
            self._found[kind] = self._of(kind)
        return self._found[kind]

    def _of(self, kind: m.ValueType) -> frozenset[tuple[str, ...]]:
        match kind:
            case m.EnumType(name=name):
                members = self.draft.enums[name].members
                return frozenset(_words(member) for member in members)
            case m.ObjectType():
                return frozenset(self._objects(kind))
            case _:
                return frozenset()

    def _objects(self, kind: m.ObjectType) -> Iterator[tuple[str, ...]]:
        named = [rule.param.type for rule in self.draft.called]
        for one in self.draft.objects.values():
            of = m.ObjectType(one.of)
            if can_equal(self.draft.types, of, kind):
                if one.title is not None or not any(self._is(of, rule) for rule in named):
                    yield _words(one.title or one.name)
                for word in one.aka:
                    if isinstance(word, m.TemplateTerm) and not _slots(word.template):
                        yield _words(_text(word.template))

    def _is(self, kind: m.ObjectType, wider: m.ValueType) -> bool:
        return isinstance(wider, m.ObjectType) and is_subtype(
            self.draft.types, kind.name, wider.name
        )


def _slots(template: m.Template) -> bool:
    return any(isinstance(part, m.Slot) for part in template.parts)


def _text(template: m.Template) -> str:
    return "".join(part.text for part in template.parts if isinstance(part, m.TextPart))


def _ranges_meet(one: m.NumberType, other: m.NumberType) -> bool:
    if not same_unit(one.unit, other.unit) or one.decimals != other.decimals:
        return one.unit == other.unit
    low = max((bound for bound in (one.low, other.low) if bound is not None), default=None)
    high = min((bound for bound in (one.high, other.high) if bound is not None), default=None)
    return low is None or high is None or low <= high


# ---- two phrases side by side -----------------------------------------------------------


def _meet(one: tuple[str | m.ValueType, ...], other: tuple[str | m.ValueType, ...],
          names: _Names) -> bool:  # fmt: skip
    """Return whether some words match both phrases: slots are compared with slots and with
    names."""
    if not one or not other:
        return not one and not other
    first, second = one[0], other[0]
    if isinstance(first, str):
        if isinstance(second, str):
            return first == second and _meet(one[1:], other[1:], names)
        return _meet(other, one, names)
    if not isinstance(second, str):
        return names.overlap(first, second) and _meet(one[1:], other[1:], names)
    if isinstance(first, m.NumberType) and second.isdigit():
        return _meet(one[1:], other[1:], names)
    if isinstance(first, m.ObjectType) and second in _ARTICLES and _meet(one, other[1:], names):
        return True
    return any(
        other[: len(name)] == name and _meet(one[1:], other[len(name) :], names)
        for name in sorted(names.of(first))
        if name
    )


_Rule = m.Called | m.Describe | m.Birth


def check_specificity(draft: Draft) -> None:
    """Two rules for one type, or for two parents of one type that say nothing of it (TW0604).

    All `birth` rules of an object run, so parents may well bring one each; of names and
    descriptions only the most specific one counts.
    """
    for word, rules in (("called", draft.called), ("describe", draft.describes)):
        repeated = _repeated(word, rules, draft)
        single = [rule for rule in rules if _type(rule) not in repeated]
        draft.once(word, tuple(single), partial(_mixed, word, single, draft))
    _repeated("birth", draft.births, draft)


def _type(rule: _Rule) -> str:
    return rule.param.type.name if isinstance(rule.param.type, m.ObjectType) else ""


def _repeated(word: str, rules: Sequence[_Rule], draft: Draft) -> set[str]:
    """Report every second rule for one type; the types that have several."""
    first: dict[str, _Rule] = {}
    several: set[str] = set()
    for rule in rules:
        name = _type(rule)
        if name not in first:
            first[name] = rule
            continue
        several.add(name)
        what = f"`{name}` has two `{word}` rules, and neither is more specific."
        related = (Related(first[name].span, "the other one"),)
        hint = "Keep one, or write one of them for a subtype."
        draft.tell("TW0604", what, rule.span, "just as specific", hint, related)
    return several


def _mixed(word: str, rules: Sequence[_Rule], draft: Draft) -> None:
    """Types with several parents whose rules compete, each reported where it begins."""
    told: set[tuple[str, ...]] = set()
    of: dict[str, list[int]] = {}
    for position, rule in enumerate(rules):
        of.setdefault(_type(rule), []).append(position)
    for name, kind in draft.types.items():
        places = [place for one in kind.ancestors if one in of for place in of[one]]
        if len(places) < 2:
            continue
        fitting = [rules[place] for place in sorted(places)]
        nearest = tuple(
            rule
            for rule in fitting
            if not any(other is not rule and _below(other, rule, draft) for other in fitting)
        )
        names = tuple(_type(rule) for rule in nearest)
        if len(nearest) < 2 or names in told:
            continue
        told.add(names)
        what = f"`{name}` inherits two `{word}` rules, and neither is more specific."
        related = tuple(Related(rule.span, f"for `{_type(rule)}`") for rule in nearest)
        hint = f"Write a `{word}` rule for `{name}`."
        draft.tell("TW0604", what, kind.span, "two rules fit", hint, related)


def _below(one: _Rule, other: _Rule, draft: Draft) -> bool:
    return is_subtype(draft.types, _type(one), _type(other))
