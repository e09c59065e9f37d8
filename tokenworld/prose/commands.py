"""From what somebody typed to a command: the door of this package (language.md §8 step 2, §11)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, Literal

from tokenworld.ground import PASS, Command, NoMatch, Speaker
from tokenworld.model import Program
from tokenworld.prose.calls import find_action, parse_call, resolve_args, resolve_call
from tokenworld.prose.explain import explain
from tokenworld.prose.intents import CallIntent, Intent, PassIntent, TypedIntent
from tokenworld.prose.lexicon import Lexicon
from tokenworld.prose.matching import readings
from tokenworld.prose.phrases import Phrase, compiled
from tokenworld.prose.suggest import spoken
from tokenworld.prose.tokens import LONGEST, tidy, variants
from tokenworld.prose.wording import either, quoted

__all__ = ["Ambiguity", "Parser", "choose", "resolve"]

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


def _phrase_like(name: str, phrases: Sequence[Phrase]) -> bool:
    """Whether the words before a parenthesis begin like a phrase: ``take pot (ID: 4)``."""
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
