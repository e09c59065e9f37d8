"""Run scenarios, each from a fresh start state; a failed check has the values that it read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Failure, Span
from tokenworld.engine import EngineSimulator, SeededLuck, State
from tokenworld.ground import (
    PASS,
    Json,
    Outcome,
    Raw,
    constant,
    show_value,
    value_text,
    values_text,
)
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.session.players import give_once, given_in, runner_pass
from tokenworld.session.session import Session


def status_of(outcome: Outcome | None) -> str:
    """The status of a record, with its explanation."""
    if outcome is None:
        return "nothing happened yet"
    if outcome.refusal is not None:
        return f"refused because {outcome.refusal.label or 'unnamed'}: {outcome.refusal.text}"
    if outcome.no_match is not None:
        return f"no_match: {outcome.no_match.message}"
    if outcome.breach is not None:
        return f"{outcome.status}: {outcome.breach['message']}"
    return outcome.status


def is_refused(outcome: Outcome | None, label: str | None) -> bool:
    """Return whether an intent was refused, because of the require with a label where one is
    named."""
    refusal = None if outcome is None else outcome.refusal
    return refusal is not None and label in (None, refusal.label)


@dataclass(slots=True)
class Fruitless:
    """The repetitions of one `when` that had no effect, as long as no check expects them.

    A check of the status covers the last repetition, whether it holds or not, and those before with
    the same status.
    """

    step: m.When | None = None
    _open: list[Outcome] = field(default_factory=list)
    _last: Outcome | None = None

    def begin(self, step: m.When) -> None:
        """A new step is taken."""
        self.step, self._open, self._last = step, [], None

    def note(self, outcome: Outcome) -> None:
        """Note the outcome of a repetition."""
        self._last = outcome
        if outcome.fruitless:
            self._open.append(outcome)

    def meet(self, check: m.Check) -> None:
        """A check of the scenario is made."""
        match check:
            case m.RefusedCheck(label=label):
                left = [one for one in self._open if not is_refused(one, label)]
            case m.StatusCheck(status=status):
                left = [one for one in self._open if one.status != status]
            case _:
                return
        self._open = [one for one in left if one is not self._last]

    def unexpected(self) -> str | None:
        """The outcome of a step that no check expected."""
        if not self._open:
            return None
        hint = "If that is meant, add `then refused` or `then status …`."
        return f"{status_of(self._open[0])}\n{hint}"


_EndingCheck = m.WonCheck | m.LostCheck | m.WithinCheck | m.WinnableCheck | m.UnwinnableCheck
PLAN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class StepResult:
    """A `when`: its text, and its status where it had no effect."""

    when: str
    fruitless: str

    def to_json(self) -> dict[str, Json]:
        return {"when": self.when, "fruitless": self.fruitless or None}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: ``wanted``, the expectation, and ``found``, the actual value where it failed.

    ``step`` is the number of the `when` before it, from 1; 0 before the first.
    """

    wanted: str
    ok: bool
    found: str
    span: Span
    step: int

    def to_json(self) -> dict[str, Json]:
        return {
            "wanted": self.wanted,
            "ok": self.ok,
            "found": self.found,
            "span": str(self.span),
            "step": self.step,
        }


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """A scenario's steps and checks in order; it passes if all checks do."""

    title: str
    world: str
    span: Span
    steps: tuple[StepResult, ...]
    checks: tuple[CheckResult, ...]
    ticks: int

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        return tuple(check for check in self.checks if not check.ok)

    def to_json(self) -> dict[str, Json]:
        return {
            "title": self.title,
            "world": self.world,
            "span": str(self.span),
            "ok": self.ok,
            "ticks": self.ticks,
            "steps": [step.to_json() for step in self.steps],
            "checks": [check.to_json() for check in self.checks],
        }


def run_scenario(
    loaded: Loaded,
    scenario: m.Scenario,
    *,
    plan_seconds: float = PLAN_SECONDS,
    states: int | None = None,
    say: Callable[[str], None] | None = None,
    watch: Callable[[Outcome], None] | None = None,
) -> ScenarioResult:
    """Play a scenario. Params set by a `given` hold from the start of the scenario.

    `unwinnable` asks for a proof; with ``states`` it fails only where a goal is found among the
    first so many states. ``say`` is called during long work, ``watch`` with every record.
    """
    world = loaded.program.worlds[scenario.world]
    overrides: dict[str, Raw] = {}
    for step in scenario.steps:
        for setting in step.params if isinstance(step, m.Given) else ():
            overrides[setting.name] = constant(setting.value, {}, overrides)
    engine = compile_world(loaded.program, world, overrides)
    seed = next((step.seed for step in scenario.steps[:1] if isinstance(step, m.Seed)), 0)
    opened = OpenWorld(loaded, world, engine)
    session = Session(opened, seed, player="scenario", operator=True)
    runner = _Runner(session, plan_seconds, states, say, watch)
    for step in scenario.steps:
        runner.step(step)
    runner.settle()
    steps, checks = tuple(runner.steps), tuple(runner.checks)
    return ScenarioResult(
        scenario.title, scenario.world, scenario.span, steps, checks, runner.ticks
    )


@dataclass(slots=True)
class _Runner:
    """A scenario under way: the last outcome and the checks that hold from now on."""

    session: Session
    plan_seconds: float
    states: int | None
    say: Callable[[str], None] | None
    watch: Callable[[Outcome], None] | None = None
    checks: list[CheckResult] = field(default_factory=list)
    steps: list[StepResult] = field(default_factory=list)
    lasting: list[m.Always | m.Never] = field(default_factory=list)
    before: State | None = None
    said: list[str] = field(default_factory=list)
    events: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list)
    last: Outcome | None = None
    fruitless: Fruitless = field(default_factory=Fruitless)
    ticks: int = 0

    # ---- steps --------------------------------------------------------------------------------

    def step(self, step: m.ScenarioStep) -> None:
        match step:
            case m.Seed(seed=seed):
                self.session.reseed(seed)
            case m.Given(body=body):
                self.session.edit(body)
                self._check_lasting()
            case m.When():
                self.settle()
                self._when(step)
            case m.Expect(checks=checks):
                for check in checks:
                    self.fruitless.meet(check)
                    self._check(check)
            case m.Always() | m.Never():
                self.lasting.append(step)
            case m.Replay():
                self._replay(step)
            case _:
                assert_never(step)

    def _replay(self, step: m.Replay) -> None:
        """Every row of a file, each from its own state; reports the first difference."""
        from tokenworld.session.replaying import replayed

        number, difference = replayed(self.session.world, step, self.session.seed)
        self._add(f'replay "{step.path}"', difference is None, difference or "", step.span)
        self.ticks += number

    def _when(self, step: m.When) -> None:
        self.before, self.said, self.events = self.session.state, [], []
        self.fruitless.begin(step)
        self.steps.append(StepResult(step.source, ""))
        for _ in range(step.times):
            self._passes_until(step.by)
            outcomes = give_once(self.session, given_in(self.session, step), "scenario")
            own = [one for one in outcomes if one.by == "player" and one.status != "halted"]
            self.last = (own or outcomes)[-1]
            self.fruitless.note(self.last)
            if self.last.fruitless:
                self.steps[-1] = StepResult(step.source, status_of(self.last))
            self._hear(outcomes)
            self._passes_until(None)
            self.ticks += 1
            self._check_lasting()

    def settle(self) -> None:
        """Fail the last step if it had no effect and no check expected that."""
        found, step = self.fruitless.unexpected(), self.fruitless.step
        if found is not None and step is not None:
            self._add(f"when {step.source}", False, found, step.span)

    def _hear(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if self.watch is not None:
                self.watch(outcome)
            self.said += outcome.said
            self.events += outcome.events
            if outcome.refusal is not None:
                self.said.append(outcome.refusal.text)

    def _passes_until(self, actor: str | None) -> None:
        """Those before an actor pass (if he takes turns); without one, all left in the round."""
        session = self.session
        names = [session.state.names[one] for one in session.state.actors]
        going = actor in names and session.actor != actor if actor else session.state.turn > 0
        while going and not session.ended():
            outcomes = runner_pass(session, "scenario")
            self._hear(outcomes)
            halted = outcomes[-1].status == "halted"
            going = not halted and session.state.turn > 0 and session.actor != actor

    def _constant(self, term: m.Term) -> Raw:
        instance = self.session.engine.instance
        return constant(term, self.session.state.numbers, instance.params)

    def _check_lasting(self) -> None:
        """Check the conditions that must hold after every step; each breach is reported once."""
        for rule in list(self.lasting):
            holds = bool(self.session.engine.ask(self.session.state, rule.condition))
            wanted = isinstance(rule, m.Always)
            if holds != wanted:
                word = "always" if wanted else "never"
                found = f"it is {'true' if holds else 'false'} after tick {self.session.tick}"
                self._add(f"{word} {rule.source}", False, found, rule.span)
                self.lasting.remove(rule)

    # ---- checks -------------------------------------------------------------------------------

    def _add(self, wanted: str, ok: bool, found: str, span: Span) -> None:
        self.checks.append(CheckResult(wanted, ok, "" if ok else found, span, len(self.steps)))

    def _check(self, check: m.Check) -> None:
        match check:
            case m.HoldsCheck(condition=condition, source=source):
                self._holds(condition, source, check.span)
            case m.RefusedCheck(label=label):
                ok = is_refused(self.last, label)
                wanted = "refused" + (f" because {label}" if label else "")
                self._add(wanted, ok, status_of(self.last), check.span)
            case m.StatusCheck(status=status):
                ok = self.last is not None and self.last.status == status
                self._add(f"status {status}", ok, status_of(self.last), check.span)
            case m.UnchangedCheck():
                self._unchanged(check.span)
            case m.SaysCheck(text=text):
                ok = any(text in line for line in self.said)
                heard = " / ".join(self.said) or "nothing"
                self._add(f'says "{text}"', ok, f"it said: {heard}", check.span)
            case m.EmitsCheck():
                self._emits(check)
            case _:
                self._ending(check)

    def _holds(self, condition: m.Term, source: str, span: Span) -> None:
        engine, session = self.session.engine, self.session
        ok = bool(engine.ask(session.state, condition, self.before))
        self._add(source, ok, "" if ok else self._false(condition), span)

    def _false(self, condition: m.Term) -> str:
        """The message for a false condition: both sides of a comparison, and the values read."""
        session = self.session
        program, state = session.world.program, session.state
        texts = {one.name: one.text for one in session.world.loaded.sources}

        def text(span: Span) -> str:
            return " ".join(texts.get(span.file, "")[span.start : span.end].split())

        def value(term: m.Term) -> str:
            found, of = session.engine.ask(state, term, self.before), term.type
            if isinstance(of, m.NumberType) and of.unit and isinstance(found, int):
                return EnglishProse().number(found, of.decimals, of.unit)
            return value_text(show_value(program, state.names, of, found))

        parts = ["it is false"]
        if isinstance(condition, m.Compare):
            sides = (value(one) for one in (condition.left, condition.right))
            parts.append(f": {f' {condition.op} '.join(sides)}")
        atoms = [one for one in m.atoms_of(condition, text) if one.term is not condition]
        if atoms:
            parts.append(f" ({values_text({one.text: value(one.term) for one in atoms})})")
        return "".join(parts)

    def _unchanged(self, span: Span) -> None:
        before = self.before
        ok = before is None or self.session.same_facts(before)
        changed = self.last.changes if self.last else ()
        found = ", ".join(f"{c.fluent}{list(c.args)}: {c.old} → {c.new}" for c in changed)
        self._add("unchanged", ok, found or "time changed it", span)

    def _emits(self, check: m.EmitsCheck) -> None:
        instance = self.session.engine.instance
        params = instance.program.events[check.event].params
        names = self.session.state.names
        args = tuple(
            show_value(instance.program, names, binder.type, self._constant(arg))
            for arg, binder in zip(check.args, params, strict=True)
        )
        ok = (check.event, args) in self.events
        heard = ", ".join(f"{name}{list(given)}" for name, given in self.events) or "nothing"
        wanted = f"emits {check.event}({', '.join(map(str, args))})"
        self._add(wanted, ok, f"it emitted: {heard}", check.span)

    def _ending(self, check: _EndingCheck) -> None:
        match check:
            case m.WonCheck(name=name):
                wanted = "won" + (f" {name}" if name else "")
                self._add(wanted, self.session.won(name), self._latched(), check.span)
            case m.LostCheck(name=name):
                wanted = "lost" + (f" {name}" if name else "")
                self._add(wanted, self.session.lost(name), self._latched(), check.span)
            case m.WithinCheck(ticks=ticks, condition=condition, source=source):
                self._within(ticks, condition, source, check.span)
            case m.WinnableCheck(within=within):
                self._winnable(within, check.span)
            case m.UnwinnableCheck():
                self._unwinnable(check.span)
            case _:
                assert_never(check)

    def _latched(self) -> str:
        return f"reached so far: {', '.join(self.session.latched) or 'no ending'}"

    def _within(self, ticks: int, condition: m.Term, source: str, span: Span) -> None:
        engine, state = self.session.engine, self.session.state
        holds = bool(engine.ask(state, condition))
        for _ in range(ticks):
            if holds:
                break
            state = self._passed(state)
            holds = bool(engine.ask(state, condition))
        self._add(f"within {ticks} {source}", holds, f"not in {ticks} passes", span)

    def _passed(self, state: State) -> State:
        """The state after a tick in which everybody passes."""
        while True:
            state, outcomes = self.session.engine.play(state, PASS, SeededLuck())
            if state.turn == 0 or outcomes[-1].fruitless or outcomes[-1].status == "halted":
                return state

    def _winnable(self, within: int | None, span: Span) -> None:
        wanted = "winnable" + (f" within {within}" if within is not None else "")
        try:
            verdict = self.session.plan(
                None, time_limit=self.plan_seconds, within=within, say=self.say
            )
        except Failure as failure:
            self._add(wanted, False, failure.diagnostics[0].message, span)
            return
        found = f"{verdict.answer} ({verdict.engine})"
        if verdict.answer == "unknown":
            found = f"unknown: {'; '.join(verdict.limits_hit) or 'no engine could decide'}"
        self._add(wanted, verdict.answer == "winnable", found, span)

    def _unwinnable(self, span: Span) -> None:
        goals = [line.name for line in self.session.world.world.goals]
        if self.states is not None:
            reached = [goal for goal in goals if self._finds(goal, self.states)]
            self._add("unwinnable", not reached, "; ".join(reached), span)
            return
        verdicts = [
            self.session.plan(goal, time_limit=self.plan_seconds, say=self.say) for goal in goals
        ]
        wrong = [v for v in verdicts if v.answer != "unwinnable"]
        found = "; ".join(f"{v.goal}: {v.answer}" for v in wrong)
        self._add("unwinnable", not wrong, found, span)

    def _finds(self, goal: str, states: int) -> bool:
        from tokenworld.planning.search.interpreted import Found, Limits, Search

        state = self.session.state
        simulator = EngineSimulator(self.session.engine, state)
        return isinstance(Search(simulator, state, goal).run(Limits(states)), Found)
