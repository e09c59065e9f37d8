"""One world played by the engine, the reference and the steppers, compared at each intent.

The small worlds at the end contain cases that random worlds rarely have: rare refusals, ambiguous
words.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tokenworld.assets import MissingAssetsError, rules_folder
from tokenworld.check import Checked, check_source, file_loader
from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import Engine, EngineSimulator, EngineSpeaker, SeededLuck, State
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.engine.reference import Fault, Reference, ReferenceSpeaker
from tokenworld.engine.reference import State as Plain
from tokenworld.engine.rows import Record, Row, RowStepper
from tokenworld.engine.rows.legal import Legal
from tokenworld.engine.rows.log import rewarded
from tokenworld.engine.rows.record import number_json
from tokenworld.ground import (
    PASS,
    Command,
    Json,
    NoMatch,
    Outcome,
    Raw,
    Speaker,
    domain_of,
    instantiate,
    param_values,
    show_value,
)
from tokenworld.model import ObjectType, Program
from tokenworld.prose.commands import Parser
from tokenworld.prose.wording import EnglishProse

T = TypeVar("T")
SHOWN_EVERY = 5
"""Every so many steps the whole state is compared as JSON too, not by its hash alone."""
Intent = dict[str, Json]
"""An intent as it is kept: an action with shown arguments, a text, `pass`, or nonsense."""


MOST_BINDINGS = 500_000
"""Bindings that the reference tries in a step: with four nested loops over sixty objects a single
tick of it would take half an hour."""


MOST_COMBINATIONS = 48
"""Combinations of the draws of one command up to which its outcomes are compared."""
MOST_SCORED = 3
"""The most outcomes of one command whose probabilities are compared."""


class NoWorld(Exception):
    """The text is no world that can be played."""


class Difference(Exception):
    """Engine and reference (or rows, where the field begins with that word) disagree: where, and
    both values."""

    def __init__(self, field: str, engine: Any, reference: Any) -> None:
        super().__init__(field)
        self.field, self.engine, self.reference = field, engine, reference


def checked(text: str) -> Checked:
    """The check of a generated text, as of a file."""
    try:
        roots: tuple[Path, ...] = (rules_folder(),)
    except MissingAssetsError:
        roots = ()
    return check_source(Source("fuzz.tw", None, text), file_loader(roots))


_ENCODER = json.JSONEncoder(sort_keys=True, default=str)


def canonical(value: Any) -> str:
    """Canonical JSON."""
    return _ENCODER.encode(value)


@dataclass
class Game:
    """A world, the present state of each evaluator, and what reads typed words."""

    engine: Engine
    reference: Reference
    parser: Parser
    state: State
    plain: Plain
    rows: RowSide
    steps: int = 0
    said: Intent | None = None

    @cached_property
    def simulator(self) -> EngineSimulator:
        """The simulator that searches step with."""
        return EngineSimulator(self.engine, self.state)

    @property
    def program(self) -> Program:
        return self.engine.instance.program

    # ---- one step ---------------------------------------------------------------------------

    def step(self, intent: Intent) -> tuple[Outcome, ...]:
        """Play an intent on every side; `Difference` where they disagree.

        Raises `Tedious` where the reference would try more than `MOST_BINDINGS`.
        """
        command = self._resolved(intent)
        self.reference.words.left = MOST_BINDINGS
        plain, records = self.reference.play(self.plain, command)
        after, outcomes = run(lambda: self.engine.play(self.state, command))
        agree("number of records", len(outcomes), len(records))
        for outcome, record in zip(outcomes, records, strict=True):
            agree_all("record", compared(outcome), as_compared(record))
        self.steps += 1
        run(lambda: self._searched(command, outcomes, after))
        whole = self.steps % SHOWN_EVERY == 1
        run(lambda: self.rows.step(command, outcomes, after, whole=whole))
        if whole:  # the records hold both hashes of the whole state
            agree_all("state", self.engine.json(after), self.reference.json(plain))
        self.state, self.plain = after, plain
        return outcomes

    def _searched(
        self, command: Command | NoMatch, outcomes: tuple[Outcome, ...], after: State
    ) -> None:
        """Compare where a search is led, but for a text that has no value: it says nothing."""
        breach = outcomes[-1].breach
        if breach is None or breach["code"] != "TW1006":
            record, found = self.simulator.played(self.state, command, SeededLuck())
            agree("searched status", outcomes[-1].status, record.status)
            agree("searched facts", True, self.engine.same_facts(after, found))

    def start_agrees(self) -> None:
        """Compare the start states."""
        agree_all("start", self.engine.json(self.state), self.reference.json(self.plain))
        agree("start hash", self.engine.hash(self.state), self.reference.hash(self.plain))

    def asked(self) -> None:
        """Compare the legal commands, the descriptions, the names and the scope of this state."""
        self.reference.words.left = MOST_BINDINGS
        plain = [f"{one.action}{one.args}" for one in self.reference.legal(self.plain)]
        legal = [
            f"{one.action}{one.args}" for one in run(lambda: list(self.engine.legal(self.state)))
        ]
        agree("legal commands", legal, plain)
        run(lambda: self.rows.asked(legal))
        one, other = self.speakers()
        agree("candidates", list(one.candidates()), list(other.candidates()))
        for number in other.candidates():
            agree("words", run(lambda n=number: one.words_for(n)), other.words_for(number))
            agree("scope", run(lambda n=number: one.in_scope(n)), other.in_scope(number))
            told = run(lambda n=number: self.engine.describe(self.state, n))
            agree("description", told, self.reference.describe(self.plain, number))
        for command in (PASS, *run(lambda: self.engine.legal(self.state))[-1:]):
            self.listed(command)

    def listed(self, command: Command) -> None:
        """Compare all outcomes of a command, and how likely each is, with all combinations of its
        draws, where these are few."""
        full = run(lambda: self._combinations(command))
        found = run(lambda: self.engine.distribution(self.state, command)) if full else None
        if full is None or found is None:
            return
        wanted = {one: str(share) for one, (_, share) in full.items()}
        agree("outcomes", {one: str(found.probability(one)) for one in full}, wanted)
        agree("outcomes left out", "0", str(found.left_out))
        agree("states of outcomes", [], [
            x.hash for x in found.successors if self.engine.hash(x.state) != x.hash
        ])  # fmt: skip
        for after, share in list(full.values())[:MOST_SCORED]:
            scored = run(lambda s=after: self.engine.logp(self.state, command, s))
            agree("likelihood", round(log(share), 9), round(scored.logp, 9))

    def _combinations(self, command: Command) -> dict[str, tuple[State, Fraction]] | None:
        """Every state that a command may leave with its probability, by its hash; ``None`` where
        a real number is drawn or the combinations are many."""
        found: dict[str, tuple[State, Fraction]] = {}
        prefix: tuple[int, ...] | None = ()
        for _ in range(MOST_COMBINATIONS):
            luck = ExploringLuck(prefix or ())
            try:
                after, outcomes = self.engine.play(self.state, command, luck)
            except NoUniform:
                return None
            key = outcomes[-1].hash_after
            found[key] = after, found.get(key, (after, Fraction(0)))[1] + luck.probability
            prefix = luck.next_prefix()
            if prefix is None:
                return found
        return None

    def speakers(self) -> tuple[Speaker, Speaker]:
        one = EngineSpeaker(self.engine, self.state, self.engine.everything)
        return one, ReferenceSpeaker(self.reference, self.plain)

    # ---- intents ----------------------------------------------------------------------------

    def _resolved(self, intent: Intent) -> Command | NoMatch:
        """The command that an intent means now; both evaluators read typed words alike."""
        if "text" in intent:
            policy = self.engine.instance.world.ambiguous
            both = [
                run(lambda s=speaker: self.parser.command(str(intent["text"]), s, policy))
                for speaker in self.speakers()
            ]
            agree("reading", str(both[0]), str(both[1]))
            return both[0]
        if intent.get("pass"):
            return PASS
        if "action" not in intent:
            return NoMatch(
                "unknown_verb", "Nobody understands that.", out_of_turn="actor" in intent
            )
        name = str(intent["action"])
        action = self.program.actions.get(name)
        args = intent["args"]
        if action is None or not isinstance(args, list) or len(args) != len(action.params):
            return NoMatch("unknown_verb", "There is no such action.")
        raw = [self._raw(binder.type, arg) for binder, arg in zip(action.params, args, strict=True)]
        if any(arg is None for arg in raw):
            return NoMatch("no_such_object", "There is no such thing.")
        return Command(name, tuple(raw))

    def _raw(self, kind: Any, shown: Any) -> Raw:
        for value in self._domain(kind):
            if self._shown(kind, value) == shown:
                return value
        return None

    def _shown(self, kind: Any, value: Raw) -> Json:
        names = [self.plain.names[number] for number in sorted(self.plain.names)]
        return show_value(self.program, names, kind, value)

    def _domain(self, kind: Any) -> tuple[Raw, ...]:
        if isinstance(kind, ObjectType):
            return self.reference.words.known.everything(self.plain, kind)
        return domain_of(self.engine.instance, kind) or ()

    def random_intent(self, random: Random) -> Intent:
        """A legal or an illegal command, `pass`, words, or nonsense.

        A long action is continued more often than not, so that interruptions occur at each of its
        ticks. The last intent is often repeated, because a command that is given twice in a tick
        may draw differently.
        """
        choice = random.random()
        if self.said is None or choice > 0.12:
            self.said = self._new_intent(random)
        return self.said

    def _new_intent(self, random: Random) -> Intent:
        choice = random.random()
        if choice < (0.3 if self.state.longs else 0.06):
            return {"pass": True}
        if choice > 0.88:
            return self._fruitless(random)
        command = self._random_command(random)
        if command is None:
            return {"pass": True}
        if random.random() < 0.2:
            return {"text": self._worded(command, random)}
        return self._call(command)

    def _call(self, command: Command) -> Intent:
        params = self.program.actions[command.action].params
        args = [
            self._shown(binder.type, arg) for binder, arg in zip(params, command.args, strict=True)
        ]
        return {"action": command.action, "args": args}

    def _fruitless(self, random: Random) -> Intent:
        """Words that mean nothing or something else, wrong arguments, somebody else's intent."""
        action = random.choice(list(self.program.actions))
        return random.choice([
            {"nonsense": True},
            {"nonsense": True, "actor": "nobody"},
            {"action": action, "args": ["nobody"] * random.randint(0, 3)},
            {"action": "dance", "args": []},
            {"text": random.choice(["jump about", "touch", "lift the moon", "pass", ""])},
        ])  # fmt: skip

    def _random_command(self, random: Random) -> Command | None:
        for attempt in range(5):
            action = random.choice(list(self.program.actions.values()))
            domains = [self._domain(binder.type) for binder in action.params]
            if not all(domains):
                continue
            command = Command(action.name, tuple(random.choice(domain) for domain in domains))
            wanted = attempt < 3 and random.random() < 0.7
            if wanted and self.reference.round.refusal(self.plain, command) is not None:
                continue  # mostly legal ones
            return command
        return None

    def _worded(self, command: Command, random: Random) -> str:
        """The command as words, or nearly."""
        from tokenworld.prose.matching import command_text

        _, speaker = self.speakers()
        text = command_text(command, self.program, speaker)
        if random.random() < 0.1:
            text = text.replace(random.choice([" ", "a", "the "]), "", 1)
        return text


def opened(text: str, seed: int = 0) -> Game:
    """Both evaluators at the start of the world ``w`` of a text; `NoWorld` if there is none."""
    return opened_checked(checked(text), seed)


def opened_checked(found: Checked, seed: int = 0) -> Game:
    """The same for a text that is checked already."""
    if found.program is None or "w" not in found.program.worlds:
        raise NoWorld([one for one in found.diagnostics if one.is_error])
    return open_program(found.program, "w", seed)


def open_program(program: Program, world: str, seed: int = 0) -> Game:
    """Both evaluators at the start of a world; they must agree on whether it can start."""
    instance = instantiate(
        program, program.worlds[world], param_values(program, program.worlds[world], {})
    )
    engine, reference = Engine(instance, EnglishProse()), Reference(instance, EnglishProse())
    state, plain = None, None
    try:
        state = engine.start(seed)
    except Failure as failure:
        code: object = failure.diagnostics[0].code
    try:
        plain = reference.start(seed)
    except Fault as fault:
        if state is not None:
            raise Difference("start", "starts", fault.code) from None
        agree("start", code, fault.code)
        raise NoWorld(fault.code) from None
    if state is None:
        raise Difference("start", code, "starts")
    rows = run(lambda: RowSide.of(engine, state, agree_all))
    return Game(engine, reference, Parser(program), state, plain, rows)


# ---- comparing ----------------------------------------------------------------------------


def compared(outcome: Outcome) -> dict[str, Any]:
    """Return a record without the parts that the language leaves open, such as messages."""
    record: dict[str, Any] = dict(outcome.to_json())
    for key in ("format", "discarded", "text"):
        record.pop(key, None)
    if "no_match" in record:
        record["no_match"] = record["no_match"]["kind"]
    if "breach" in record:
        record["breach"] = {key: record["breach"][key] for key in ("code", "kind", "witness")}
    return as_compared(record)


def as_compared(record: dict[str, Any]) -> dict[str, Any]:
    """Changes are a set."""
    record = dict(record)
    for key in ("changes", "law_changes"):
        record[key] = sorted(record[key], key=canonical)
    return record


def run(work: Callable[..., T]) -> T:
    """The answers of the engine or of rows; a crash counts as a difference."""
    try:
        return work()
    except Difference:
        raise
    except Exception as crash:
        place = traceback.extract_tb(crash.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        raise Difference("crash", f"{type(crash).__name__}: {crash} at {where}", None) from crash


def agree(field: str, left: Any, right: Any) -> None:
    """Raise `Difference` where two values differ."""
    if canonical(left) != canonical(right):
        raise Difference(field, left, right)


def agree_all(field: str, left: Any, right: Any) -> None:
    """The same, naming the innermost differing part of two JSON objects."""
    if canonical(left) == canonical(right):
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}, key=_last_hashes):
            agree_all(f"{field}.{key}", left.get(key), right.get(key))
    else:
        agree(field, left, right)


def _last_hashes(key: str) -> tuple[bool, str]:
    return key.startswith("hash"), key


def first_difference(text: str, intents: list[Intent], seed: int) -> tuple[int, Difference] | None:
    """The first difference that a list of intents shows in a world, if any."""
    try:
        game = opened(text, seed)
        game.start_agrees()
    except Difference as difference:
        return 0, difference
    except NoWorld:
        return None
    for index, intent in enumerate(intents):
        try:
            if intent.get("ask"):
                game.asked()
            else:
                game.step(intent)
        except Difference as difference:
            return index, difference
    return None


_SEATS = """
type Seat
type Person { seat: Seat? unique }
actor me: Person
action sit(s: Seat) as "sit on {s}" { me.seat = s }
world w {
  object ann: Person
  object bob: Person { seat = sofa }
  object sofa, stool: Seat
}
"""

_TWINS = """
type Cup { full: bool = true }
type Hero
actor me: Hero
action drink(c: Cup) as "drink {c}" { require c.full else empty "It is empty."  c.full = false }
called c: Cup = "cup" aka "mug"
world w {
  ambiguous ask
  object hero: Hero
  object left, right: Cup
}
"""

_DIVIDED = """type K { n: 0 to 9 = 3 }
actor me: K
action share() as "share" { me.n = 6 div me.n - 2 }
world w { object k: K }
"""

CORNERS: tuple[tuple[str, tuple[Intent, ...]], ...] = (
    (_SEATS, ({"text": "sit on sofa"}, {"text": "sit on stool"})),
    (_TWINS, ({"text": "drink cup"}, {"text": "drink(left)"}, {"text": "drink mug"})),
    (_DIVIDED, ({"text": "share"}, {"text": "share"})),
)
"""Each with the intents that reach the corner."""


# ---- the steppers on rows ------------------------------------------------------------------------


Agree = Callable[[str, Any, Any], None]
"""Raises if two values differ; the first argument names them."""


@dataclass
class RowSide:
    """The row of the present state. Every tick is undone, looked at and done again.

    Its stepper executes a tick by one function where there is one, and reports it; that of the
    engine does so only after some time. A second, ``quiet`` stepper works out no texts.
    """

    engine: Engine
    stepper: RowStepper
    row: Row
    quiet: RowStepper
    still: Row
    agree: Agree

    @classmethod
    def of(cls, engine: Engine, state: State, agree: Agree) -> RowSide:
        """The rows of a world at its start."""
        given = engine.instance, engine.layout, EnglishProse(), state
        stepper, quiet = RowStepper(*given), RowStepper(*given, quiet=True)
        stepper.report_whole_ticks()
        return cls(engine, stepper, stepper.row(state), quiet, quiet.row(state), agree)

    def step(
        self, intent: Command | NoMatch, outcomes: Sequence[Outcome], after: State, *, whole: bool
    ) -> None:
        """Play an intent and compare records, state and undo; ``whole``: the state as JSON too."""
        row, mark = self.row, self.row.mark
        before = list(row.S)
        met = self.stepper.shown.before(row)
        records = self.stepper.tick(row, intent)
        self.agree("rows.number of records", len(outcomes), len(records))
        shown = self.stepper.shown.outcomes(records, met)
        for outcome, record in zip(outcomes, shown, strict=True):
            self.agree("rows.record", outcome.to_json(), record.to_json())
        found = self.stepper.state(row)
        if whole:
            self.agree("rows.state", self.engine.json(after), self.engine.json(found))
        self.agree("rows.state hash", outcomes[-1].hash_after, self.engine.hash(found))
        self._undone(mark, before)
        self._quietly(intent, records)
        self.agree("rows.quiet state hash", outcomes[-1].hash_after, self.quiet_hash())
        if whole and not after.turn:  # from here on with a row that was made of the state
            self.row, self.still = self.stepper.row(after), self.quiet.row(after)
        self.row.J.clear()
        self.still.J.clear()

    def quiet_hash(self) -> str:
        """The hash of the state that the quiet stepper is in."""
        return self.engine.hash(self.quiet.state(self.still))

    def _quietly(self, intent: Command | NoMatch, told: Sequence[Record]) -> None:
        """The same intent where nothing is said: a text without a value is no error there."""
        mark = self.still.mark
        records = self.quiet.tick(self.still, intent)
        breach = told[-1].breach
        if breach is not None and breach.code == "TW1006" and records[-1].status != "error":
            self.still.undo(mark)
            return
        self.agree("rows.quiet status", [x.status for x in told], [x.status for x in records])
        for name in ("refused", "latched", "time_passed", "generated"):
            left, right = (getattr(one[-1], name) for one in (told, records))
            self.agree(f"rows.quiet {name}", left, right)
        reward = number_json(sum((one.reward for one in told), Fraction(0)))
        self.agree("rows.quiet reward", reward, number_json(rewarded(self.still.paid)))

    def _undone(self, mark: int, before: list[Any]) -> None:
        """Every slot is as it was once the tick is taken back; then it is done again."""
        again = self.row.redo(mark)
        blank = self.stepper.slots.blank[len(before) :]
        wrong = [
            (slot, value, own)
            for slot, (value, own) in enumerate(zip([*before, *blank], self.row.S, strict=True))
            if value != own
        ]
        self.agree("rows.undone slots", [], wrong)
        again()

    def asked(self, legal: list[str]) -> None:
        """Compare the legal commands of this state."""
        for stepper, row in ((self.stepper, self.row), (self.quiet, self.still)):
            mark, before = row.mark, list(row.S)
            found = Legal(stepper).commands(row)
            self.agree("rows.legal commands", legal, [f"{x.action}{x.args}" for x in found])
            self.agree("rows.journal after asking", mark, row.mark)
            changed = [slot for slot, old in enumerate(before) if old != row.S[slot]]
            self.agree("rows.slots after asking", [], changed)
