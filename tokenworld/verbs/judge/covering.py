"""Tiers about tests: cover, mutate; and whether a domain can be written as PDDL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Final

from tokenworld.diagnostics import Failure, did_you_mean
from tokenworld.engine import ForcedLuck
from tokenworld.model import Scenario
from tokenworld.session.loading import OpenWorld, compile_world
from tokenworld.session.players import adversarial_player, give_once, random_player
from tokenworld.session.session import Session
from tokenworld.verbs.coverage import Mark
from tokenworld.verbs.judge.contract import Mechanic
from tokenworld.verbs.judge.findings import Finding, finding
from tokenworld.verbs.judge.noticing import notice_rule, rule_names
from tokenworld.verbs.judge.playing import Case
from tokenworld.verbs.mutate import GoalPlan, Judge, ending_mutants, mutants, sampled

REACHED: Final = 0.9
"""The share of places that scenarios, plans and seeded play must reach together."""
_PLAYERS: Final = (random_player, adversarial_player)


# ---- cover --------------------------------------------------------------------------------------


def cover(case: Case) -> Iterator[Finding]:
    """Scenarios, plans and seeded play reach the rules; each mechanic has a scenario that fails
    without its rule."""
    yield from mechanics(case)
    if not case.is_game:
        return
    for world in case.worlds:
        _play(case, _instrumented(case, world))
    marks = [
        (mark, count > 0 or _refused(case, mark))
        for mark, count in case.coverage.listed()
        if mark.span.file == case.source.name
    ]
    yield from _unreached([mark for mark, reached in marks if not reached], case)
    reached = sum(reached for _, reached in marks)
    case.figures["cover"] = {"reached": reached, "total": len(marks)}
    if reached < REACHED * len(marks):
        text = f"Only {reached} of {len(marks)} places of the rules are reached."
        hint = "Add scenarios for the places that are listed."
        yield finding("coverage", text, hint=hint)


def _instrumented(case: Case, world: OpenWorld) -> OpenWorld:
    loaded = case.instrumented()
    declared = loaded.program.worlds[world.world.name]
    return OpenWorld(loaded, declared, compile_world(loaded.program, declared))


def _play(case: Case, world: OpenWorld) -> None:
    """The plans of a world, then its share of ticks by chance and by an adversary."""
    case.say(f"playing `{world.world.name}`")
    for other, _, verdict in case.verdicts:
        if other.world.name == world.world.name and verdict.answer == "winnable":
            state = world.engine.start()
            for step in verdict.steps:
                state, outcomes = world.engine.play(state, step.command, ForcedLuck(step.draws))
                for outcome in outcomes:
                    case.coverage.watch(outcome)
    for player in _PLAYERS:
        seed, ticks = 0, case.budget.ticks // len(_PLAYERS)
        while ticks > 0:
            session = Session(world, seed, operator=True)
            seed += 1
            for intent in islice(player(session), ticks):
                ticks -= 1
                for outcome in give_once(session, intent, "random"):
                    case.coverage.watch(outcome)
                if session.ended():
                    break


def _refused(case: Case, mark: Mark) -> bool:
    """Return whether an audit, which saw all states, saw a require refuse."""
    if mark.kind != "require":
        return False
    name = mark.rule.removeprefix("action ")
    for one in case.audits:
        silent = any(never.place == mark.span for never in one.never_refuses)
        dead = any((idle.kind, idle.name) == ("action", name) for idle in one.idle)
        if one.graph.complete and not (silent or dead or one.looked_at < one.playing):
            return True
    return False


def _unreached(missed: Sequence[Mark], case: Case) -> Iterator[Finding]:
    """A finding for each mark that nothing reached, without dead rules, which the audit reports."""
    dead = {
        f"{idle.kind} {idle.name}" for one in case.audits if one.graph.complete for idle in one.idle
    }
    for mark in missed:
        if mark.rule in dead:
            continue
        if mark.kind == "action":
            hint = "Add a scenario that executes it, or let play reach it."
            text = f"The {mark.rule} is executed nowhere."
            yield finding("not-executed", text, mark.span, hint=hint)
        elif mark.kind == "require":
            hint = "Add a scenario in which it refuses, or remove it."
            text = f"A require of the {mark.rule} refuses nowhere."
            yield finding("never-refuses", text, mark.span, hint=hint)
        else:
            text = f"Nothing reaches this of the {mark.rule}: {mark.what}."
            yield finding("not-reached", text, mark.span, hint="Add a scenario that does.")


# ---- mechanics ----------------------------------------------------------------------------------


def mechanics(case: Case) -> Iterator[Finding]:
    """Each mechanic of the contract has its rules, and scenarios that fail without them."""
    listed, program = case.contract.mechanics, case.loaded.program
    ids, known = frozenset(one.id for one in listed), tuple(dict.fromkeys(rule_names(program)))
    for one in listed:
        case.say(f"mechanic `{one.id}`")
        own = [scenario for scenario in program.scenarios if one.id in _ids(scenario, ids)]
        yield from _mechanic(case, one, own, known)


def _ids(scenario: Scenario, known: frozenset[str]) -> set[str]:
    """The mechanics that the title of a scenario begins with."""
    return set(takewhile(known.__contains__, (w.rstrip(":,.") for w in scenario.title.split())))


def _mechanic(
    case: Case, one: Mechanic, own: Sequence[Scenario], known: Sequence[str]
) -> Iterator[Finding]:
    told_ = [one.text] if one.text else []
    if not own:
        text = f"The mechanic `{one.id}` has no scenario."
        hint = f"Add a scenario whose title begins with `{one.id}`."
        yield finding("untested-mechanic", text, evidence=told_, hint=hint)
    for rule in one.rules:
        if rule not in known:
            hint = did_you_mean(rule, known) or "Name an action, law, derive, invariant or ending."
            text = f"The mechanic `{one.id}` names `{rule}`, and there is no such rule."
            yield finding("unknown-rule", text, evidence=told_, hint=hint)
        elif own and not notice_rule(case.loaded, rule, own):
            text = f"The scenarios of `{one.id}` pass without the rule `{rule}`."
            hint = "Let one of them check what this rule does."
            yield finding("idle-mechanic", text, own[0].span, evidence=told_, hint=hint)


# ---- mutate -------------------------------------------------------------------------------------


def mutate(case: Case) -> Iterator[Finding]:
    """The tests notice small changes of the rules and of the endings."""
    program = case.loaded.program
    every = chain(mutants(program), ending_mutants(program))
    own = [one for one in every if one.span.file == case.source.name]
    chosen = sampled(own, case.budget.mutants, 0)
    plans = [
        GoalPlan(world.world.name, line.name, found.steps)
        for world, line, found in case.verdicts
        if found.answer == "winnable"
    ]
    judge = Judge(case.loaded, plans)
    survived = []
    for number, one in enumerate(chosen):
        case.say(f"{number} of {len(chosen)} mutants")
        if judge.judge(one.program) == "survived":
            survived.append(one)
    for one in survived:
        text = f"No test notices this change: {one.what} ({one.operator})."
        hint = "Add a check that fails with it, unless the rules mean the same."
        yield finding("survivor", text, one.span, hint=hint)
    noticed = len(chosen) - len(survived)
    case.figures["mutate"] = {"mutants": len(own), "judged": len(chosen), "noticed": noticed}
    if noticed < case.contract.kill_rate * len(chosen):
        least = f"{case.contract.kill_rate:.0%}"
        text = f"The tests notice {noticed} of {len(chosen)} changed rules, less than {least}."
        hint = "Add scenarios: each survivor is a rule that no test holds."
        yield finding("kill-rate", text, hint=hint)


# ---- PDDL ---------------------------------------------------------------------------------------


def domain(case: Case) -> Iterator[Finding]:
    """A domain has actions, and PDDL has words for it."""
    from tokenworld.planning.pddl.export import export_domain
    from tokenworld.session.pddl import export

    program = case.loaded.program
    if not program.actions:
        hint = "Add an action."
        yield finding("no-action", f"`{case.source.name}` has no action.", hint=hint)
        return
    try:
        if not case.worlds:
            export_domain(program)
        for world in case.worlds:
            export(world, None)
    except Failure as failure:
        for one in failure.diagnostics:
            yield Finding("start", one)
