"""Test whether scenarios notice missing rules: run each on the program without some of its
rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tokenworld import model as m
from tokenworld.diagnostics import Failure
from tokenworld.session.loading import Loaded
from tokenworld.session.scenarios import run_scenario
from tokenworld.verbs.mutate import ILL_TYPED, terms


def notices(
    loaded: Loaded, program: m.Program, scenario: m.Scenario, *, broken: bool = True
) -> bool:
    """Return whether a scenario, which passes on ``loaded``, fails on a changed program;
    ``broken`` is the answer where that program cannot run."""
    try:
        return not run_scenario(replace(loaded, program=program), scenario).ok
    except (Failure, *ILL_TYPED):
        return broken


def is_empty(loaded: Loaded, scenario: m.Scenario) -> bool:
    """Return whether a scenario passes whatever the rules and the start values are."""
    program = loaded.program
    if any(notices(loaded, one, scenario) for one in _stripped(program)):
        return False
    return not notices(loaded, _restarted(program), scenario, broken=False)


def _stripped(program: m.Program) -> Iterator[m.Program]:
    """The program without effects, requires, laws, watches or endings, and with other derives."""
    actions = program.actions
    yield replace(program, actions={name: _without_effects(one) for name, one in actions.items()})
    yield replace(program, actions={name: _without_requires(one) for name, one in actions.items()})
    if program.laws:
        laws = {name: replace(one, body=()) for name, one in program.laws.items()}
        yield replace(program, laws=laws)
    if program.watches:
        watches = {name: replace(one, body=()) for name, one in program.watches.items()}
        yield replace(program, watches=watches)
    if any(one.endings for one in program.worlds.values()):
        yield _ended(program, None, value=False)
    for name in program.derives:
        yield from _without_derive(program, name)


def _restarted(program: m.Program) -> m.Program:
    """The program in which objects begin with other values, and setups do nothing."""
    objects = {
        name: replace(one, fields=tuple(_other(field, program) for field in one.fields))
        for name, one in program.objects.items()
    }
    worlds = {name: replace(one, setups=()) for name, one in program.worlds.items()}
    return replace(program, objects=objects, worlds=worlds)


def _other(field: m.FieldValue, program: m.Program) -> m.FieldValue:
    value = field.value
    if isinstance(value, m.ObjectLiteral):
        of = program.objects[value.name].of if value.name in program.objects else ""
        others = (one.name for one in program.objects.values() if one.of == of)
        name = next((one for one in others if one != value.name), value.name)
        return replace(field, value=replace(value, name=name))
    changed = next(iter(terms(value, program)), None)
    return field if changed is None else replace(field, value=changed[1])


def _without_effects(action: m.Action) -> m.Action:
    return replace(action, body=(), cancelled=())


def _without_requires(action: m.Action) -> m.Action:
    return replace(action, guards=tuple(one for one in action.guards if isinstance(one, m.Let)))


# ---- mechanics ----------------------------------------------------------------------------------


def rule_names(program: m.Program) -> Iterator[str]:
    """The names by which a contract may speak of rules."""
    yield from program.actions
    yield from (name for name, law in program.laws.items() if not law.added)
    for named in (program.derives, program.watches, program.invariants, program.conserves):
        yield from named
    yield from (line.name for world in program.worlds.values() for line in world.endings)


def notice_rule(loaded: Loaded, rule: str, scenarios: Iterable[m.Scenario]) -> bool:
    """Return whether one of the scenarios fails without a rule.

    It must do so where a rule can be taken out: a watch or an invariant only speaks or guards.
    """
    programs = tuple(_without(loaded.program, rule))
    if not programs:
        return True
    return any(notices(loaded, program, one) for one in scenarios for program in programs)


def notices_holding_goal(loaded: Loaded, goal: str, scenarios: Iterable[m.Scenario]) -> bool:
    """Return whether one of the scenarios fails if a goal holds from the start."""
    program = _ended(loaded.program, goal, value=True)
    return any(notices(loaded, program, one) for one in scenarios)


def _without(program: m.Program, rule: str) -> Iterator[m.Program]:
    """Yield the program with a rule without effects, and with the rule without its conditions."""
    if rule in program.actions:
        action = program.actions[rule]
        for one in (_without_effects(action), _without_requires(action)):
            yield replace(program, actions={**program.actions, rule: one})
    if rule in program.laws:
        law = program.laws[rule]
        for changed in (replace(law, body=()), replace(law, when=None)):
            yield replace(program, laws={**program.laws, rule: changed})
    yield from _without_derive(program, rule)
    if any(line.name == rule for world in program.worlds.values() for line in world.endings):
        yield from (_ended(program, rule, value=value) for value in (False, True))


def _without_derive(program: m.Program, name: str) -> Iterator[m.Program]:
    """The program in which a derived truth is always false, or always true."""
    derive = program.derives.get(name)
    if derive is None or derive.value.type != m.BOOL:
        return
    for value in (False, True):
        changed = replace(derive, value=m.BoolLiteral(value, m.BOOL, derive.value.span))
        yield replace(program, derives={**program.derives, name: changed})


def _ended(program: m.Program, rule: str | None, *, value: bool) -> m.Program:
    """The program in which the ending of this name (every one without a name) is decided."""

    def decided(line: m.Ending) -> m.Ending:
        if rule not in (None, line.name):
            return line
        return replace(line, condition=m.BoolLiteral(value, m.BOOL, line.condition.span))

    worlds = {
        name: replace(one, endings=tuple(map(decided, one.endings)))
        for name, one in program.worlds.items()
    }
    return replace(program, worlds=worlds)
