"""The laws of the journal (language.md §9) on random walks, legal and illegal, in each world."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from tiny import Game, domain

from tokenworld.engine import State
from tokenworld.ground import PASS, Command, Outcome, parameter_domains

NAMES = ("cellar", "kitchen", "blocks", "cottage")


def any_command(game: Game, random: Random) -> Command:
    """Any action with any arguments: mostly refused; sometimes a legal one, or `pass`."""
    engine = game.session.engine
    choice = random.random()
    if choice < 0.15:
        return PASS
    if choice < 0.6:
        legal = game.session.legal()
        if legal:
            return random.choice(legal).command
    actions = engine.instance.program.actions
    name = random.choice(sorted(actions))
    domains = parameter_domains(engine.instance, actions[name].params)
    args = [random.choice([v for v in values if isinstance(v, int)]) for values in domains]
    return Command(name, tuple(args))


def alive(game: Game, command: Command) -> bool:
    params = game.session.world.program.actions[command.action].params
    return all(
        binder.type.kind != "object" or (isinstance(value, int) and game.state.alive(value))
        for binder, value in zip(params, command.args, strict=True)
    )


def action_facts_equal(game: Game, before: State, outcome: Outcome) -> bool:
    return not outcome.changes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_laws_of_the_journal(name: str, seed: int) -> None:
    game = domain(name, seed)
    random = Random(f"{name} {seed}")
    statuses: set[str] = set()
    for _ in range(150):
        command = any_command(game, random)
        if not command.is_pass and not alive(game, command):
            continue
        before = game.state
        why = game.session.why_not(command)
        outcomes = game.records(command)
        check_records(game, before, outcomes)
        last = outcomes[-1]
        statuses |= {one.status for one in outcomes}
        if len(outcomes) == 1 and last.status in ("executed", "refused") and not command.is_pass:
            assert why.allowed is (last.status == "executed")
            check_requires(game, before, command, last)
        if game.session.ended():
            game = domain(name, seed + len(statuses))
    assert {"executed", "refused"} <= statuses


def check_records(game: Game, before: State, outcomes: tuple[Outcome, ...]) -> None:
    """One record, or two where a long action was cancelled; hashes chain; times agree."""
    engine = game.session.engine
    assert [one.status for one in outcomes[:-1]] in ([], ["interrupted"])
    assert outcomes[0].hash_before == engine.hash(before)
    assert outcomes[-1].hash_after == game.hash
    assert all(one.hash_after == two.hash_before for one, two in pairwise(outcomes))
    assert all(one.tick == before.tick for one in outcomes)
    assert game.state.tick - before.tick == sum(one.time_passed for one in outcomes)
    for one in outcomes:
        if one.status not in ("executed", "interrupted"):
            assert one.changes == ()
        if not one.time_passed:
            assert one.law_changes == ()
            assert one.fired == ()
        if one.status == "refused":
            assert one.refusal is not None
            assert one.refusal.requires[one.refusal.index].holds is False
            assert all(report.holds for report in one.refusal.requires[: one.refusal.index])
        carried = [one.refusal, one.no_match, one.breach]
        wanted = {"refused": 0, "no_match": 1, "rolled_back": 2, "error": 2}.get(one.status)
        assert [index for index, part in enumerate(carried) if part is not None] == (
            [] if wanted is None else [wanted]
        )
        for change in (*one.changes, *one.law_changes):
            assert change.old != change.new


def check_requires(game: Game, before: State, command: Command, outcome: Outcome) -> None:
    """The named require is false, or every one is true, when evaluated once more by itself."""
    engine = game.session.engine
    action = engine.instance.program.actions[command.action]
    found = [one for one in engine.why(before, command) if not one.generated]
    assert len(found) == len(action.requires)
    if outcome.status == "executed":
        assert all(report.holds is True for report in found)
        return
    assert outcome.refusal is not None
    if outcome.refusal.index < len(found):
        assert found[outcome.refusal.index].holds is False
    else:
        assert all(report.holds is True for report in found)
        assert outcome.refusal.requires[-1].generated in ("range", "unique", "cycle")


@pytest.mark.parametrize("name", NAMES)
def test_legal_commands_are_executed_and_others_refused(name: str) -> None:
    game = domain(name, 6)
    random = Random(name)
    for _ in range(25):
        legal = game.session.legal()
        commands = {one.command for one in legal}
        for one in legal:
            status = game.session.engine.play(game.state, one.command)[1][-1].status
            assert status in ("executed", "waiting")
        for _ in range(10):
            command = any_command(game, random)
            if command.is_pass or not alive(game, command) or command in commands:
                continue
            status = game.session.engine.play(game.state, command)[1][-1].status
            assert status == "refused"
        game.records(random.choice([*commands, PASS]) if commands else PASS)
        if game.session.ended():
            return


@pytest.mark.parametrize("name", NAMES)
def test_changes_tell_the_whole_difference(name: str) -> None:
    """Replaying only the recorded changes on the facts gives the facts after."""
    game = domain(name, 4)
    random = Random(f"changes {name}")
    facts = slots(game.session.state_json())
    for _ in range(60):
        command = any_command(game, random)
        if not command.is_pass and not alive(game, command):
            continue
        for one in game.records(command):
            for change in (*one.changes, *one.law_changes):
                key = (change.fluent.rpartition(".")[2], *change.args)
                assert facts.get(key, change.old) == change.old
                facts[key] = change.new
        now = slots(game.session.state_json())
        assert {key: facts.get(key) for key in now} == now
        facts = now
        if game.session.ended():
            return


def slots(state: dict[str, object]) -> dict[tuple[object, ...], object]:
    found: dict[tuple[object, ...], object] = {}
    for one in state["objects"]:  # type: ignore[attr-defined]
        for name, value in one["attrs"].items():
            found[name, one["name"]] = value
    for name, rows in state["functions"].items():  # type: ignore[attr-defined]
        for args, value in rows:
            found[name, *args] = value
    for name, rows in state["relations"].items():  # type: ignore[attr-defined]
        for args in rows:
            found[name, *args] = True
    return found
