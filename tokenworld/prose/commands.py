"""From typed words to a command, or to the reason why they mean none (language.md §8, §11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal, assert_never

from tokenworld.diagnostics import closest
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import PASS, Command, NoMatch, Raw, Speaker
from tokenworld.model import ROOT, Binder, Program
from tokenworld.prose.calls import (
    call_shape,
    find_action,
    number_limits,
    parse_call,
    resolve_args,
    resolve_call,
)
from tokenworld.prose.intents import CallIntent, Intent, PassIntent, TypedIntent
from tokenworld.prose.lexicon import (
    LONGEST,
    Lexicon,
    ParamSlot,
    Phrase,
    TextSlot,
    Words,
    after_article,
    compiled,
    number_type,
    object_type,
    tidy,
    variants,
)
from tokenworld.prose.matching import Layout, choices, complete, layouts, readings, spoken
from tokenworld.prose.wording import either, kind_word, quoted, suggesting, with_article

_SUGGESTED: Final = 3
_LOOKED_AT: Final = 24
"""So many completions are looked at for the suggested ones."""

Fault = Literal["wrong_type", "absent", "unknown", "unfit"]


def explain(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch:
    """The `NoMatch` of tidy ``text`` that no phrase reads."""
    return (
        _undetermined(text, phrases, lexicon)
        or _bad_slot(text, phrases, lexicon)
        or _bad_use(text, phrases, lexicon)
        or _unknown_verb(text, phrases, lexicon)
    )


# ---- all words fit, but something is left open ------------------------------------------


def _undetermined(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch | None:
    for phrase in phrases:
        for layout in layouts(phrase, text, lexicon) if phrase.loose else ():
            found = _left_open(text, phrase, layout, phrases, lexicon)
            if found is not None:
                return found
    return None


def _left_open(
    text: str, phrase: Phrase, layout: Layout, phrases: Sequence[Phrase], lexicon: Lexicon
) -> NoMatch | None:
    values = choices(phrase, layout, lexicon)
    loose = [param for param in phrase.loose if len(values[param]) != 1]
    if not loose or not all(values[p] for p in range(len(values)) if p not in phrase.loose):
        return None
    param = next((p for p in loose if not values[p]), loose[0])
    binder = phrase.binders[param]
    kind = kind_word(object_type(binder) or binder.name)
    if not values[param]:
        return NoMatch("no_such_object", f"There is no {kind} here for {quoted(text)}.")
    names = [f"`{lexicon.shown(binder, value)}`" for value in values[param][:_SUGGESTED]]
    message = f"{quoted(text)} leaves open which {kind} is meant: {either(names)}."
    full = (
        tuple(one if p == param else options[0] for p, options in enumerate(values))
        for one in values[param][:_SUGGESTED]
    )
    texts = tuple(spoken(Command(phrase.action, args), phrases, lexicon) for args in full)
    return NoMatch("ambiguous", message, texts)


# ---- the words of a phrase fit, the text in a slot does not -----------------------------


@frozen
class _Misfit:
    """A phrase whose words fit, with the first slot that does not: ``text[start:end]``."""

    phrase: Phrase
    param: int
    start: int
    end: int
    fault: Fault
    weight: tuple[int, int]

    @property
    def binder(self) -> Binder:
        return self.phrase.binders[self.param]


def _bad_slot(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch | None:
    loose = [(phrase, cuts) for phrase in phrases if (cuts := _cut(phrase, text)) is not None]
    misfits = [one for phrase, cuts in loose for one in _misfits(phrase, cuts, text, lexicon)]
    if not misfits:
        return _bad_text(text, [phrase for phrase, _ in loose], lexicon)
    best = max(one.weight for one in misfits)
    rivals = [one for one in misfits if one.weight == best]
    rivals = [one for one in rivals if (one.start, one.end) == (rivals[0].start, rivals[0].end)]
    return _misfit_message(text, rivals, lexicon)


def _cut(phrase: Phrase, text: str) -> list[tuple[int, int]] | None:
    """The stretches of all slots, cut at the leftmost places of the literal words."""
    cuts: list[tuple[int, int]] = []
    at, waiting = 0, False
    parts = phrase.parts
    for number, part in enumerate(parts):
        if not isinstance(part, Words):
            if waiting:  # two slots side by side: where they part cannot be told
                return None
            waiting = True
            continue
        final = number == len(parts) - 1
        place = text.rfind(part.text) if final else text.find(part.text, at + waiting)
        if place < at or (not waiting and place != at) or (waiting and place <= at):
            return None
        if waiting:
            cuts.append((at, place))
        at, waiting = place + len(part.text), False
    if waiting and at < len(text):
        cuts.append((at, len(text)))
        at = len(text)
    return cuts if at == len(text) and len(cuts) == _slot_count(phrase) else None


def _slot_count(phrase: Phrase) -> int:
    return sum(not isinstance(part, Words) for part in phrase.parts)


def _misfits(
    phrase: Phrase, cuts: Sequence[tuple[int, int]], text: str, lexicon: Lexicon
) -> Iterator[_Misfit]:
    """The first bad slot; the weight prefers more literal words, then fewer bad slots."""
    slots = [part for part in phrase.parts if not isinstance(part, Words)]
    faults = [
        (part.param, start, end, fault)
        for part, (start, end) in zip(slots, cuts, strict=True)
        if isinstance(part, ParamSlot)
        and (fault := _fault(phrase.binders[part.param], text[start:end], lexicon))
    ]
    if faults:
        words = sum(len(part.text) for part in phrase.parts if isinstance(part, Words))
        yield _Misfit(phrase, *faults[0], (words, -len(faults)))


def _fault(binder: Binder, words: str, lexicon: Lexicon) -> Fault | None:
    wanted = object_type(binder)
    if wanted is None:
        fits = any(end == len(words) for end, _ in lexicon.spans(binder, words, 0))
        return None if fits else "unfit"
    fitting = lexicon.called(words, wanted)
    if any(map(lexicon.in_scope, fitting)):
        return None
    if any(map(lexicon.in_scope, lexicon.called(words))):
        return "wrong_type"
    return "absent" if fitting or lexicon.called(words) else "unknown"


def _misfit_message(text: str, rivals: Sequence[_Misfit], lexicon: Lexicon) -> NoMatch:
    one = rivals[0]
    words = text[one.start : one.end]
    bare = words[after_article(words) :]
    match one.fault:
        case "unfit":
            return _unfit(text, one, bare, lexicon)
        case "wrong_type":
            return _wrong_type(text, rivals, words, lexicon)
        case "absent" | "unknown":
            near = closest(bare, _names(rivals, lexicon), _SUGGESTED)
            message = suggesting(f"There is no {quoted(bare)} here", near)
            return NoMatch("no_such_object", message, _replaced(text, one, near))
        case _:
            assert_never(one.fault)


def _names(rivals: Sequence[_Misfit], lexicon: Lexicon) -> tuple[str, ...]:
    """The names in scope that would fit the slot."""
    values = (value for one in rivals for value in lexicon.candidates(one.binder))
    numbers = dict.fromkeys(value for value in values if isinstance(value, int))
    return tuple(dict.fromkeys(word for number in numbers for word in lexicon.words(number)))


def _replaced(text: str, one: _Misfit, near: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{text[: one.start]}{name}{text[one.end :]}" for name in near)


def _wrong_type(text: str, rivals: Sequence[_Misfit], words: str, lexicon: Lexicon) -> NoMatch:
    number = next(n for n in lexicon.called(words) if lexicon.in_scope(n))
    name, of = lexicon.name(number), lexicon.speaker.kind(number)
    kinds = [kind_word(object_type(one.binder) or ROOT) for one in rivals]
    needs = either([with_article(kind, "a") for kind in kinds])
    message = f"`{rivals[0].phrase.shape}` needs {needs} there, and `{name}` is"
    offered = _replaced(text, rivals[0], _names(rivals, lexicon)[:_LOOKED_AT])
    phrases = [one.phrase for one in rivals]
    near = [one for one in offered if _is_given(one, phrases, lexicon)] or offered
    kind = with_article(kind_word(of), "a")
    return NoMatch("wrong_type", f"{message} {kind}.", tuple(near)[:_SUGGESTED])


def _unfit(text: str, one: _Misfit, words: str, lexicon: Lexicon) -> NoMatch:
    if number_type(one.binder) is not None:
        limits = number_limits(one.binder, lexicon)
        message = f"`{one.phrase.shape}` needs a number{limits} there, not {quoted(words)}."
        return NoMatch("wrong_type", message)
    members = tuple(lexicon.shown(one.binder, value) for value in lexicon.candidates(one.binder))
    near = closest(words, members, _SUGGESTED) or members[:_SUGGESTED]
    message = suggesting(f"{quoted(words)} does not fit `{one.phrase.shape}`", near)
    return NoMatch("wrong_type", message, _replaced(text, one, near))


def _bad_text(text: str, fitting: Sequence[Phrase], lexicon: Lexicon) -> NoMatch | None:
    """Everything named exists: the text between is wrong, "on" where it is "in"."""
    for phrase in fitting:
        args = _named_args(phrase, text, lexicon)
        if args is not None:
            near = (spoken(Command(phrase.action, args), (phrase,), lexicon),)
            message = suggesting(f"{quoted(text)} does not fit", near)
            return NoMatch("wrong_type", message, near)
    return None


def _named_args(phrase: Phrase, text: str, lexicon: Lexicon) -> tuple[Raw, ...] | None:
    if not any(isinstance(part, TextSlot) for part in phrase.parts):
        return None
    for layout in layouts(phrase, text, lexicon):
        values = choices(phrase, layout, lexicon)
        if all(values):
            return tuple(options[0] for options in values)
    return None


# ---- the verb is known, or nothing is ---------------------------------------------------


def _bad_use(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch | None:
    first = text.split(" ", 1)[0]
    known = [phrase for phrase in phrases if first and phrase.verb == first]
    if known:
        found = complete(f"{text} ", phrases, lexicon, _LOOKED_AT)
        found = found or complete(first, known, lexicon, _LOOKED_AT)
        near = _nearest(text, found, known, lexicon)
        shapes = [f"`{phrase.shape}`" for phrase in known[:_SUGGESTED]]
        meant = [f"`{one}`" for one in _named(text, found)[:1]] or shapes
        message = f"I do not understand {quoted(text)}; say {either(meant)}."
        return NoMatch("bad_arity", message, near)
    return _call_only(text, phrases, lexicon)


def _nearest(
    text: str, found: Sequence[str], phrases: Sequence[Phrase], lexicon: Lexicon
) -> tuple[str, ...]:
    """The commands nearest to a text: those with all of its words, then those that may be given
    now. Others are left out, unless there are only such."""
    named = _named(text, found)
    legal = [one for one in found if one not in named and _is_given(one, phrases, lexicon)]
    return tuple([*named, *legal] or found)[:_SUGGESTED]


def _is_given(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> bool:
    """Return whether a text means a command that may be given now."""
    command = next(readings(phrases, tidy(text), lexicon), None)
    return command is not None and lexicon.speaker.holds_all(command)


def _named(text: str, found: Sequence[str]) -> list[str]:
    """The commands with all words of a text, if these tell some from others."""
    words = set(text.split())
    named = [one for one in found if words <= set(tidy(one).split())]
    return named if len(named) < len(found) or len(named) == 1 else []


def _call_only(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch | None:
    """An action without a phrase can be typed as a call only."""
    spoken_actions = {phrase.action for phrase in phrases}
    for action in lexicon.program.actions.values():
        name = tidy(action.name)
        if action.name not in spoken_actions and (text == name or text.startswith(f"{name} ")):
            call = call_shape(action)
            message = f"`{action.name}` has no words of its own; type it as a call: `{call}`."
            return NoMatch("unknown_verb", message, (call,))
    return None


def _unknown_verb(text: str, phrases: Sequence[Phrase], lexicon: Lexicon) -> NoMatch:
    first, _, others = text.partition(" ")
    verbs = tuple(dict.fromkeys(phrase.verb for phrase in phrases if phrase.verb))
    near = closest(first, verbs, _SUGGESTED) if first else ()
    commands = [full for verb in near for full in _corrected(verb, others, phrases, lexicon)]
    commands = commands or _examples(phrases, lexicon)
    if near:
        message = suggesting(f"I do not know the verb {quoted(first)}", near)
    else:
        wrong = f"I do not know the verb {quoted(first)}" if first else "There are no words here"
        offers = either([f"`{command}`" for command in commands])
        message = f"{wrong}; try {offers}." if offers else f"{wrong}."
    return NoMatch("unknown_verb", message, tuple(dict.fromkeys(commands))[:_SUGGESTED])


def _corrected(
    verb: str, others: str, phrases: Sequence[Phrase], lexicon: Lexicon
) -> tuple[str, ...]:
    """The text with a known verb, if that means something; else commands of that verb."""
    full = f"{verb} {others}".strip()
    if next(readings(phrases, full, lexicon), None) is not None:
        return (full,)
    found = complete(verb, phrases, lexicon, _LOOKED_AT)
    return _nearest(full, found, phrases, lexicon)[:1]


def _examples(phrases: Sequence[Phrase], lexicon: Lexicon) -> list[str]:
    """One command for each of the first verbs."""
    found: dict[str, str] = {}
    for phrase in phrases:
        if len(found) < _SUGGESTED and phrase.verb not in found:
            listed = complete("", (phrase,), lexicon, _LOOKED_AT)
            for text in _nearest("", listed, (phrase,), lexicon)[:1]:
                found[phrase.verb] = text
    return list(found.values())


# ---- commands ------------------------------------------------------------------------------------
# From what somebody typed to a command: the door of this package (language.md §8 step 2, §11).


Ambiguity = Literal["first", "ask"]

_READINGS: Final = 256
"""Readings of one text that are kept: the first ones in candidate order."""
_OFFERED: Final = 3


class Parser:
    """Resolves the intents of one program. Phrases are compiled once per program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.phrases = compiled(program)

    def resolve(
        self,
        text: str,
        speaker: Speaker,
        lexicon: Lexicon | None = None,
        most: int = _READINGS,
    ) -> tuple[Command, ...] | NoMatch:
        """Every command the typed ``text`` may mean, in candidate order; never empty.

        Phrases come first, then the word `pass`, then calls such as ``take(lamp)``, which are
        not limited by scope. Many texts of one state may share its ``lexicon``. Of the phrases'
        readings the first ``most`` are found.
        """
        if len(text) > LONGEST:
            return NoMatch("unknown_verb", f"{quoted(text)} is too long to be a command.")
        lexicon = lexicon or Lexicon(speaker)
        for variant in variants(text):
            found = tuple(islice(readings(self.phrases, variant, lexicon), most))
            if found:
                return found
        plain = variants(text)[0]
        return (PASS,) if plain == "pass" else self._otherwise(text, plain, lexicon)

    def _otherwise(self, text: str, plain: str, lexicon: Lexicon) -> tuple[Command, ...] | NoMatch:
        call = parse_call(text)
        if call is None:
            return explain(plain, self.phrases, lexicon)
        known = find_action(call.name, self.program.actions) is not None
        if not known and _phrase_like(call.name, self.phrases):
            return explain(plain, self.phrases, lexicon)
        command = resolve_call(call, lexicon)
        return command if isinstance(command, NoMatch) else (command,)

    def command(
        self,
        intent: Intent | str,
        speaker: Speaker,
        policy: Ambiguity = "first",
        lexicon: Lexicon | None = None,
    ) -> Command | NoMatch:
        """The one command of an intent: resolved, and chosen by the policy if there are several."""
        match intent:
            case str(text) | TypedIntent(text=text):
                most = 1 if policy == "first" else _READINGS
                found = self.resolve(text, speaker, lexicon, most)
                return found if isinstance(found, NoMatch) else choose(found, policy, speaker)
            case CallIntent(action=action, args=args):
                return resolve_args(action, args, Lexicon(speaker))
            case PassIntent():
                return PASS
            case _:
                assert_never(intent)


def _phrase_like(name: str, phrases: Sequence[Phrase]) -> bool:
    """Return whether the words before a parenthesis begin like a phrase: ``take pot (ID: 4)``."""
    return tidy(name).split(" ", 1)[0] in {phrase.verb for phrase in phrases} or " " in name


def resolve(text: str, program: Program, speaker: Speaker) -> tuple[Command, ...] | NoMatch:
    """Every command that typed words may mean now, in candidate order; see `Parser.resolve`."""
    return Parser(program).resolve(text, speaker)


def choose(candidates: Sequence[Command], policy: Ambiguity, speaker: Speaker) -> Command | NoMatch:
    """One of several readings (at least one): the first, or under `ask` the only likely one.

    Under `ask`, readings whose requires all hold are preferred; if not exactly one is left, the
    player is asked: `no_match`, kind `ambiguous`.
    """
    if len(candidates) == 1 or policy == "first":
        return candidates[0]
    likely = [command for command in candidates if speaker.holds_all(command)]
    if len(likely) == 1:
        return likely[0]
    lexicon, phrases = Lexicon(speaker), compiled(speaker.instance.program)
    offered = (likely or candidates)[:_OFFERED]
    texts = tuple(spoken(command, phrases, lexicon) for command in offered)
    meant = either([f"`{text}`" for text in texts])
    return NoMatch("ambiguous", f"That can mean {meant}; say which one.", texts)
