"""The loop: analyst, researcher, then rounds of developer, tester and judge, and the player."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from tokenworld import __version__
from tokenworld.diagnostics import counted
from tokenworld.store.usage import Prices, Total, total
from tokenworld.verbs.author import prompts, sources
from tokenworld.verbs.author.answers import (
    Call,
    Patch,
    Whole,
    json_of,
    patched,
    read_answer,
    whole_texts,
)
from tokenworld.verbs.author.asking import Message, Provider, Role, digest
from tokenworld.verbs.author.attempts import FOR_TESTER, Attempt, Facts, brief_for, judged
from tokenworld.verbs.author.desk import Desk, Reason, Settings, Stop
from tokenworld.verbs.author.roles import Search, Violation, play, research
from tokenworld.verbs.author.specification import (
    Specification,
    contract_of,
    read_specification,
)
from tokenworld.verbs.author.tools import use
from tokenworld.verbs.author.transcript import FORMAT, Event, Outside, Transcript
from tokenworld.verbs.card import card
from tokenworld.verbs.judge.recorded import examples

_ANALYST_TRIES: Final = 2
Say = Callable[[str], None]


def _quiet(line: str) -> None:
    """Ignore a line of progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """A description, and the provider and settings that make a world of it."""

    description: str
    settings: Settings
    provider: Provider | None
    transcript: Transcript
    model: tuple[str, str] = ("", "")
    """The name of the provider and of the model, for the header."""
    search: Search | None = None
    prices: Prices | None = None
    keys: tuple[str, ...] = ()
    """Keys of the provider that no file may have."""
    told: Say = _quiet
    """Called with a line for each round."""
    progress: Say = _quiet
    kept: Callable[[Attempt], None] = lambda attempt: None
    """Called with each attempt that is better than those before it, to save it."""


@dataclass(slots=True)
class Result:
    """The result of a run, round by round."""

    reason: Reason = "cut"
    why: str = ""
    hint: str = ""
    spec: Specification | None = None
    attempts: list[Attempt] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    best: Attempt | None = None
    draft: str = ""
    """The last text of the developer, if the run ended before any was judged."""
    requests: int = 0
    tokens: int = 0
    """Tokens of all answers, estimated for those that tell none."""
    usage: Total = field(default_factory=Total)
    cost: float = 0.0


def author(job: Job) -> Result:
    """Run the loop to its end. Raises `Failure` only if the transcript is unwritable or differs."""
    return _Loop(job).run()


def header(job: Job) -> dict[str, object]:
    """Return the first event of a transcript, with all that a replay needs."""
    return {
        "format": FORMAT, "version": __version__, "description": job.description,
        "description_hash": digest(job.description), "card_hash": digest(card("author")),
        "provider": job.model[0], "model": job.model[1], "settings": job.settings.to_json(),
    }  # fmt: skip


class _Loop:
    """The state of a run: the world so far, its tests, and the findings about them."""

    def __init__(self, job: Job) -> None:
        fresh = job.transcript.exhausted
        if fresh and job.search is None:  # nothing to search with
            roles = tuple(one for one in job.settings.roles if one != "researcher")
            job = replace(job, settings=replace(job.settings, roles=roles))
        self.job, self.settings = job, job.settings
        self.desk = Desk(
            job.settings, job.transcript, job.provider, prices=job.prices, keys=job.keys,
            say=job.progress,
        )  # fmt: skip
        self.rows = examples(job.settings.contract.rows)
        self.result = Result()
        self.source, self.rules = "", dict[str, tuple[str, ...]]()
        self.written: list[sources.Test] = []
        """All tests of the tester's; ``tests`` are those that fit the world as it is."""
        self.tests: list[sources.Test] = []
        self.disputes: list[sources.Dispute] = []
        self.unread: list[sources.Dispute] = []
        """Parts of the tester's last answer that are no tests."""
        self.note, self.signed, self.earlier = "", "", dict[str, None]()
        self.pending: Attempt | None = None

    def takes_part(self, role: Role) -> bool:
        return role in self.settings.roles

    def run(self) -> Result:
        result = self.result
        try:
            self.job.transcript.write("header", **header(self.job))
            self._rounds()
        except Stop as stop:
            result.reason, result.why = stop.reason, stop.why
        except Outside as outside:
            self._ended(outside.event)
        except KeyboardInterrupt:
            if not self.job.transcript.exhausted:
                raise  # a recording has its own end
            result.reason = "cancelled"
            if self.pending is not None and self.job.transcript.last == "judgement":
                self._settle(self.pending)
        result.requests, result.tokens = self.desk.requests, self.desk.tokens
        result.usage, result.cost = total(self.desk.used), self.desk.cost
        result.draft = "" if result.attempts else self._whole()
        try:
            self._end()
        except Outside as outside:  # as recorded: cancelled, just before an end of its own
            self._ended(outside.event)
            self._end()
        return result

    def _ended(self, event: Event) -> None:
        """Apply an end that has an external cause."""
        self.result.reason = event["reason"]
        self.result.why, self.result.hint = event.get("why", ""), event.get("hint", "")

    def _end(self) -> None:
        if self.result.reason == "cut":
            return
        best = self.result.best
        self.job.transcript.write(
            "end", reason=self.result.reason, why=self.result.why, hint=self.result.hint,
            best=None if best is None else best.number, hash=best.hash if best else None,
            status=None if best is None else best.status,
        )  # fmt: skip

    # ---- the rounds -----------------------------------------------------------------------------

    def _rounds(self) -> None:
        if self.takes_part("analyst"):
            self.result.spec = self._analysed()
        if self.takes_part("researcher") and self.result.spec is not None:
            search = self.job.search or Search(lambda query: [])
            self.result.spec = research(self.desk, self.result.spec, search)
        for number in range(1, self.settings.rounds + 1):
            self._worked(number)
            attempt = self._judged(number)
            if attempt.status == "accepted" and self._stands(attempt):
                raise Stop("accepted")
            self._stalls(attempt)
            self._prepare(attempt)
        accepted = self.result.best is not None and self.result.best.status == "accepted"
        raise Stop("accepted" if accepted else "max_rounds")

    def _worked(self, number: int) -> None:
        """Run the developer and the tester; if a budget ends this, judge the current text."""
        try:
            self._developed()
            if self.takes_part("tester"):
                self._tested()
        except Stop:
            last = self.result.attempts[-1].text if self.result.attempts else ""
            if self._whole() not in ("", last):
                self._judged(number)
            raise

    def _analysed(self) -> Specification:
        messages, why = prompts.analyst(self.job.description), ""
        for _ in range(_ANALYST_TRIES):
            answer = self.desk.ask("analyst", messages)
            try:
                return read_specification(json_of(answer), self.job.description)
            except ValueError as error:
                why = str(error)
            again = f"That is no specification: {why}. Answer again."
            messages += [Message("assistant", answer), Message("user", again)]
        hint = "Ask another model, or leave the analyst out: `--without analyst`."
        event = {"event": "end", "reason": "provider_error", "hint": hint,
                 "why": f"gives no specification: {why}"}  # fmt: skip
        raise Outside(event)

    # ---- the developer --------------------------------------------------------------------------

    def _developed(self) -> None:
        """Let the developer work until it submits or has used its calls."""
        messages = prompts.developer(
            self.job.description, self.result.spec, self.settings.contract.kind,
            tested=self.takes_part("tester"), tools=self.settings.tools, rows=self.rows,
        )  # fmt: skip
        brief = self._developer_brief()
        if self.source or brief or self.note:
            messages.append(prompts.before(self.source, brief, self.note))
        self.disputes, self.note = [], ""
        for left in reversed(range(self.settings.calls)):
            answer = self.desk.ask("developer", messages)
            told, submitted = self._taken(answer)
            if submitted:
                return
            told += f"\n\n({counted(left, 'call')} left in this round)"
            messages += [Message("assistant", answer), Message("user", told)]

    def _developer_brief(self) -> str:
        if not self.result.attempts:
            return ""
        last = self.result.best or self.result.attempts[-1]
        without = FOR_TESTER if self.takes_part("tester") else ()
        return brief_for(last.judgement, without)

    def _taken(self, answer: str) -> tuple[str, bool]:
        """Execute an answer; return the message to the developer, and whether it submitted.

        A world with errors, or one whose change did not fit, is not handed in yet.
        """
        read, before = read_answer(answer), self.source
        wrong, told, submitted = list(read.problems), list[str](), False
        for part in read.parts if self.settings.tools else read.parts[:1]:
            match part:
                case Whole(text=text):
                    wrong += self._adopt(text)
                case Patch():
                    text, why = patched(self.source, part)
                    wrong += [why] if why else self._adopt(text)
                case Call(name="submit", given=given):
                    wrong += self._submitted(given)
                    submitted = True
                case Call(name=name, given=given):
                    answered = use(part, self._whole())
                    self.desk.note(name, given, answered)
                    told.append(f"{name}: {answered}")
                case _:
                    assert_never(part)
        if self.source != before:
            told.append(sources.errors_text(self._whole()))
        submitted = submitted and not wrong and sources.is_sound(self.source)
        return "\n\n".join((*wrong, *told)), submitted

    def _adopt(self, text: str) -> list[str]:
        why = sources.untrusted(text)
        if why is not None:
            return [why]
        self.source = text
        if self.takes_part("tester"):
            self.source = sources.without_scenarios(text)
        return []

    def _submitted(self, given: dict[str, object]) -> list[str]:
        told = []
        rules, disputes = given.get("rules", {}), given.get("disputes", [])
        if isinstance(rules, dict):
            for key, value in rules.items():
                named = value if isinstance(value, list) else [value]
                self.rules[str(key)] = tuple(str(one) for one in named)
        else:
            told.append('`rules` is an object such as {"M1": ["burn"]}.')
        for one in disputes if isinstance(disputes, list) else ():
            if isinstance(one, dict):
                title, why = str(one.get("title", "")), str(one.get("why", ""))
                self.disputes.append(sources.Dispute(title, f"The developer says: {why}"))
        return told

    def _whole(self) -> str:
        return sources.joined(self.source, self.tests)

    # ---- the tester -----------------------------------------------------------------------------

    def _tested(self) -> None:
        """Let the tester write scenarios, where there is something to test and to say."""
        if not sources.is_sound(self.source):
            return
        signed = sources.signatures(self.source)
        self.tests, unfit = sources.fitting(self.source, self.written)
        contested = [*unfit, *self.unread, *self.disputes]
        brief = self._tester_brief()
        if self.tests and signed == self.signed and not contested and not brief:
            return
        self.signed, self.unread = signed, []
        answer = self.desk.ask("tester", prompts.tester(
            self.result.spec, self.job.description, signed, self.tests, contested, brief,
        ))  # fmt: skip
        for text in whole_texts(answer):
            found, unread = sources.tests_of(text)
            self.written = sources.merged(self.written, found)
            self.unread += unread
        self.tests, unfit = sources.fitting(self.source, self.written)
        self.disputes += [*self.unread, *unfit]

    def _tester_brief(self) -> str:
        if not self.result.attempts:
            return ""
        last = self.result.best or self.result.attempts[-1]
        return brief_for(last.judgement, only=FOR_TESTER, blind=True)

    # ---- the judge ------------------------------------------------------------------------------

    def _judged(self, number: int) -> Attempt:
        contract = contract_of(self.settings.contract, self.result.spec, self.rules)
        facts = Facts(contract, self.result.spec, tuple(self.earlier))
        text = self._whole()
        found = judged(text, facts, self.settings.judge, self.job.progress)
        attempt = Attempt(
            number, self.source, tuple(self.tests), tuple(self.disputes), dict(self.rules), found
        )
        self.pending = attempt
        self._record(attempt)
        self._settle(attempt)
        self.job.told(round_line(attempt, self.desk.requests, self.desk.spent))
        return attempt

    def _settle(self, attempt: Attempt) -> None:
        """Count a recorded attempt, and keep it where it is the best so far."""
        self.pending = None
        self.earlier.update(dict.fromkeys(sources.titles(attempt.text)))
        self.result.attempts.append(attempt)
        best = self.result.best
        if attempt.source.strip() and (best is None or attempt.score > best.score):
            self.result.best = attempt
            self.job.kept(attempt)

    def _record(self, attempt: Attempt) -> None:
        found = attempt.judgement
        self.job.transcript.write(
            "attempt", round=attempt.number, hash=attempt.hash, text=attempt.text,
            rules=attempt.rules, disputes=[[one.title, one.why] for one in attempt.disputes],
        )  # fmt: skip
        self.job.transcript.write(
            "judgement", round=attempt.number, status=found.status, figures=dict(found.figures),
            findings=[[one.code, one.found.message] for one in found.findings],
        )  # fmt: skip

    def _stands(self, attempt: Attempt) -> bool:
        """Return whether the player reports no new violation of a world that the judge accepts."""
        if not self.takes_part("player") or self.result.violations:
            return True
        found = play(self.desk, attempt.text, self.result.spec, self.job.description)
        self.result.violations += found
        lines = "\n".join(one.told for one in found)
        self.note = f"A player says that rules are violated; correct what is true:\n{lines}"
        return not found

    def _stalls(self, attempt: Attempt) -> None:
        """Stop if there is no progress: the same source twice, or the same findings twice."""
        earlier = self.result.attempts[:-1]
        if any(one.hash == attempt.hash for one in earlier):
            raise Stop("stalled", "the same source again")
        if earlier and earlier[-1].complaints == attempt.complaints and attempt.complaints:
            raise Stop("stalled", "the same findings again")

    def _prepare(self, attempt: Attempt) -> None:
        """Continue from the best world; a worse one is reported and dropped."""
        best = self.result.best
        if best is None or best is attempt:
            return
        self.source = best.source
        worse = list(_shown(attempt.complaints))
        self.note = "\n".join(("Your last change made it worse, and was undone:", *worse))


def _shown(complaints: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{code}: {message}" for code, message in complaints[:5])


def round_line(attempt: Attempt, requests: int, spent: str) -> str:
    """Return the line of a round on the terminal."""
    errors = [one.code for one in attempt.judgement.findings if one.is_error]
    kinds = f" ({', '.join(dict.fromkeys(errors))})" if errors else ""
    disputed = f", {counted(len(attempt.disputes), 'disputed scenario')}" * bool(attempt.disputes)
    return (
        f"round {attempt.number}: {attempt.status}, {counted(len(errors), 'error')}{kinds}, "
        f"{counted(len(attempt.tests), 'test')}{disputed}; "
        f"{counted(requests, 'request')}, {spent}"
    )
