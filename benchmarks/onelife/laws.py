"""Laws that are proposed from one unguided episode of Crafter, each an expert with a weight.

The laws see the *observables* that are declared here, nothing else of a state. Rows of an episode
of `tw learn explore` are told by them, and `tw learn propose` learns rules from the rows. Each rule
becomes a `believe` with a learned weight: it gives its new value, with a hundredth for all others.
Beside them one `believe` for each slot says that it stays. `tw learn fit` finds the weights.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crafter import constants

from benchmarks.onelife.documents import Document, daylight
from benchmarks.onelife.models import placed
from benchmarks.onelife.scenarios import Observed
from tokenworld.engine import Engine
from tokenworld.ground import PASS
from tokenworld.gym.crafter import COMMANDS, CrafterStates
from tokenworld.session.loading import OpenWorld
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.evidence import collected, learned_params
from tokenworld.verbs.learn.exploring import Explorer
from tokenworld.verbs.learn.fitting import fit
from tokenworld.verbs.learn.propose.commands import called
from tokenworld.verbs.learn.propose.covering import Rule
from tokenworld.verbs.learn.propose.scenes import Vocabulary
from tokenworld.verbs.learn.propose.stages import SET, Learned, Proposal, Stages
from tokenworld.verbs.learn.propose.text.wording import Wording, word
from tokenworld.verbs.learn.propose.worldrows import WorldSteps
from tokenworld.verbs.records.transitions import Transition

__all__ = ["Attrs", "Experts", "Observables", "beliefs", "explored", "proposed", "weights"]

DOUBT: Final = 0.01
"""What an expert leaves for all values that it does not name."""
_SIGHT: Final = 4
_LOW, _HIGH = -60, 400
_MOST: Final = 4
"""Numbers are told as changes by the step; a larger change counts as this."""
_ITEMS: Final = tuple(one for one in constants.items if one != "health")
_FACING: Final = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}
_COUNTERS: Final = ("last_health", "hunger", "thirst", "fatigue", "recover")
_KINDS: Final = ("cow", "zombie", "skeleton", "arrow", "plant")
_CONTEXT: Final = {
    "Player": ("asked", "ahead", "met", "near_table", "near_furnace", "free_left", "free_right",
               "free_up", "free_down"),
    "Body": ("kind", "told", "faced", "dx", "dy", "near", "had_life", "had_clock"),
}  # fmt: skip
"""What laws may read and nobody predicts: it is as it was before the command."""
_UNLEVELLED: Final = ("arrived", "facing", "sleeping", "steps", "done")
NARROW: Final = {
    "Player": ("px", "py", "health", *_ITEMS, "arrived"),
    "Body": ("x", "y", "life", "here", "clock"),
}  # fmt: skip
"""The observables of OneLife's public code: positions, health, the inventory, which bodies there
are, and their cooldowns."""
WIDE: Final = {"Player": (*NARROW["Player"], "facing", "sleeping", *_COUNTERS),
               "Body": NARROW["Body"]}  # fmt: skip
"""Those, and what else the paper's schema tells of the player: the counters of needs, the facing,
sleep."""
CLOCK: Final = {"Player": (*WIDE["Player"], "steps", "done"), "Body": NARROW["Body"]}
"""Those, the number of steps and the last action. The daylight of a predicted document is that of
its number of steps, as the game computes it: no law tells it."""
_WALKED: Final = ("grass", "sand", "path", "lava")
_ACTIONS: Final = tuple(constants.actions)


Attrs = Mapping[int, Document]


@dataclass(frozen=True)
class Observables:
    """Which slots are predicted and compared, by type. Numbers are told as changes, so that each
    slot has few values; how much there was is context."""

    slots: Mapping[str, tuple[str, ...]]

    def told(self, before: Document, action: str, shown: Document) -> dict[str, Any]:
        """A `tw-state/1` of the observables of a document, with the context of the one before."""
        levels = {f"had_{name}": x for name, x in _levels(before).items()
                  if name in self.slots["Player"] and name not in _UNLEVELLED}  # fmt: skip
        context = {**_player_context(before, action), **levels}, _body_contexts(before, action)
        return _state([*self._objects(before, shown, *context)])

    def attrs(self, before: Document, action: str, shown: Document) -> Attrs:
        """The observables by the number of the object; the player's is 0."""
        return {one["id"]: one["attrs"] for one in self.told(before, action, shown)["objects"]}

    def _objects(
        self, before: Document, shown: Document, own: Document, others: Mapping[int, Document]
    ) -> Iterator[Document]:
        kept = self.slots["Player"]
        was, now = _levels(before), _levels(shown)
        changes: Document = {name: _cut(now[name] - was[name]) for name in was}
        changes |= _player_values(before, shown)
        values = {name: x for name, x in changes.items() if name in kept}
        yield _object(0, "player", "Player", {**own, **values})
        now = {one["entity_id"]: one for one in shown["objects"]}
        for one in before["objects"]:
            number = one["entity_id"]
            values = {x: y for x, y in _body_values(one, now.get(number)).items()
                      if x in self.slots["Body"]}  # fmt: skip
            yield _object(number, f"body_{number}", "Body", {**others[number], **values})

    def row(self, before: Document, action: str, after: Document, place: str) -> Row:
        """A transition as a row to learn from; the command is part of the state."""
        state = self.told(before, action, before)
        tick = {**self.told(before, action, after), "tick": 1}
        intent = {"format": "tw-intent/1", "actor": "player", "pass": True}
        return Row(place, state, intent, {"action": state, "tick": tick})

    def put(self, into: Document, shown: Document) -> Document:
        """The document with the predicted values of a state."""
        player, *bodies = (one["attrs"] for one in sorted(shown["objects"], key=_id))
        numbers = sorted(one["id"] for one in shown["objects"])[1:]
        own, kept = into["player"], self.slots["Player"]
        own["position"] = {x: own["position"][x] + player[f"p{x}"] for x in "xy"}
        own["health"] += player["health"]
        has = own["inventory"]
        has.update((name, has[name] + player[name]) for name in _ITEMS)
        has["health"] = own["health"]
        if "facing" in kept:
            ways = {name: way for way, name in _FACING.items()}
            own["facing"] = dict(zip("xy", ways[player["facing"]], strict=True))
            own["sleeping"] = player["sleeping"]
            own.update((name, own[name] + player[name] / 2) for name in _COUNTERS)
        if "steps" in kept:
            own["action"] = player["done"]
            into["step_count"] += player["steps"]
            into["daylight"] = daylight(into["step_count"])
        attrs = dict(zip(numbers, bodies, strict=True))
        into["objects"] = [one for one in into["objects"] if attrs[one["entity_id"]]["here"]]
        for one in into["objects"]:
            now = attrs[one["entity_id"]]
            one["position"] = {x: one["position"][x] + now[x] for x in "xy"}
            one["health"] += now["life"]
            one.update((x, one[x] + now["clock"]) for x in ("cooldown", "reload", "grown")
                       if x in one)  # fmt: skip
        return into


def _state(objects: list[Document]) -> Document:
    return {
        "world": "observed", "tick": 0, "seed": 0, "outcomes": [], "awarded": [], "fired": [],
        "long": {}, "format": "tw-state/1", "functions": {}, "relations": {},
        "next_id": 1 + max(one["id"] for one in objects), "objects": objects,
    }  # fmt: skip


def _object(number: int, name: str, kind: str, attrs: Document) -> Document:
    return {"id": number, "name": name, "type": kind, "attrs": attrs, "contents": []}


def _id(one: Mapping[str, Any]) -> int:
    return int(one["id"])


def _cut(change: int) -> int:
    return max(-_MOST, min(change, _MOST))


def _levels(shown: Document) -> dict[str, int]:
    """The numbers of the player; counters in halves, as sleep halves their steps."""
    player = shown["player"]
    return {
        "px": player["position"]["x"], "py": player["position"]["y"], "health": player["health"],
        **{name: player["inventory"][name] for name in _ITEMS},
        **{name: round(2 * player[name]) for name in _COUNTERS}, "steps": shown["step_count"],
    }  # fmt: skip


def _player_values(before: Document, shown: Document) -> Document:
    player, known = shown["player"], {one["entity_id"] for one in before["objects"]}
    way = player["facing"]["x"], player["facing"]["y"]
    arrived = sum(one["entity_id"] not in known for one in shown["objects"])
    return {"facing": _FACING.get(way, "down"), "sleeping": player["sleeping"],
            "arrived": _cut(arrived), "done": player["action"]}  # fmt: skip


def _body_values(before: Document, now: Document | None) -> Document:
    one = before if now is None else now
    was, clock = _clock(before), _clock(one)
    moved = {x: _cut(one["position"][x] - before["position"][x]) for x in "xy"}
    return {**moved, "here": now is not None, "life": _cut(one["health"] - before["health"]),
            "clock": _cut(clock - was)}  # fmt: skip


def _clock(one: Document) -> int:
    return int(next((one[x] for x in ("cooldown", "reload", "grown") if x in one), 0))


def _player_context(shown: Document, action: str) -> Document:
    at, way = shown["player"]["position"], shown["player"]["facing"]
    bodies = {(one["position"]["x"], one["position"]["y"]): one["name"] for one in shown["objects"]}
    spot = at["x"] + way["x"], at["y"] + way["y"]
    near = {_material(shown, at["x"] + x, at["y"] + y) for x in (-1, 0, 1) for y in (-1, 0, 1)}
    free = {
        f"free_{name}": _material(shown, at["x"] + x, at["y"] + y) in _WALKED
        and (at["x"] + x, at["y"] + y) not in bodies for (x, y), name in _FACING.items()
    }  # fmt: skip
    return {"asked": action, "ahead": _material(shown, *spot), "met": bodies.get(spot, "nobody"),
            "near_table": "table" in near, "near_furnace": "furnace" in near, **free}  # fmt: skip


def _material(shown: Document, x: int, y: int) -> str:
    width, height = shown["size"]
    return str(shown["materials"][x][y]) if 0 <= x < width and 0 <= y < height else "outside"


def _body_contexts(shown: Document, action: str) -> dict[int, Document]:
    at, way = shown["player"]["position"], shown["player"]["facing"]
    found = {}
    for one in shown["objects"]:
        dx, dy = (at[x] - one["position"][x] for x in "xy")
        found[one["entity_id"]] = {
            "kind": one["name"], "told": action, "dx": dx, "dy": dy, "had_life": one["health"],
            "had_clock": min(_clock(one), _HIGH),
            "faced": (-dx, -dy) == (way["x"], way["y"]), "near": abs(dx) + abs(dy) <= 1,
        }  # fmt: skip
    return found


# ---- an episode ---------------------------------------------------------------------------------


def explored(world: OpenWorld, seed: int, steps: int) -> list[Observed]:
    """One life in a world of Crafter, at most so long, by the policy *novelty* of
    `tw learn explore`. Of the bodies, those are told that the player sees before the step, four
    tiles away, and those that come into being there."""
    explorer, states, engine = Explorer(world, "novelty", seed), CrafterStates(world), world.engine
    state, found = engine.start(seed), list[Observed]()
    columns = engine.columns(state, ["Cell.x", "Cell.y"])
    size = int(max(columns["Cell.x"])) + 1, int(max(columns["Cell.y"])) + 1
    before = placed(states, state, size, "noop")
    while len(found) < steps and not engine.over(state):
        command = explorer.command(state)
        state, _ = engine.play(state, command)
        action = _ACTIONS[COMMANDS.index(command)] if command in COMMANDS else "noop"
        after = placed(states, state, size, action)
        known, told = {one["entity_id"] for one in before["objects"]}, _seen(before)
        new = {x for x in _seen(after) if x not in known}
        found.append(Observed("", _with(before, told), action, _with(after, told | new)))
        before = after
    return found


def _seen(shown: Document) -> set[int]:
    """The numbers of the bodies that the player sees; they are those that the rules give them."""
    at = shown["player"]["position"]
    return {one["entity_id"] for one in shown["objects"]
            if all(abs(one["position"][x] - at[x]) <= _SIGHT for x in "xy")}  # fmt: skip


def _with(shown: Document, told: Collection[int]) -> Document:
    """The document with these bodies only."""
    return {**shown, "objects": [x for x in shown["objects"] if x["entity_id"] in told]}


# ---- laws ---------------------------------------------------------------------------------------


def proposed(rows: Iterable[Row], say: Any = lambda text: None) -> Proposal:
    """The rules that `tw learn propose` finds."""
    read = WorldSteps(list(rows))
    grammar = called(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    return Stages(read.steps, read.vocabulary, grammar, say, noisy=True, phases=1).learn()


@dataclass(frozen=True)
class Experts:
    """The beliefs about one fluent: a program, and the attributes that it reads, by type."""

    fluent: str
    text: str
    reads: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """The attribute that is predicted."""
        return self.fluent.partition(".")[2]

    def numbers(self, attrs: Attrs) -> list[int]:
        """The objects that have the fluent."""
        return [x for x in attrs if x] if self.fluent.startswith("Body") else [0]

    def state(self, attrs: Attrs, number: int, **values: Any) -> Document:
        """What the program reads of one object, and of the player, with other values of it."""
        own = {x: attrs[0][x] for x in self.reads["Player"]}
        if not number:
            return _state([_object(0, "player", "Player", {**own, **values})])
        other = {x: attrs[number][x] for x in self.reads["Body"]}
        return _state([_object(0, "player", "Player", own),
                       _object(1, "body", "Body", {**other, **values})])  # fmt: skip


def beliefs(proposal: Proposal, what: Observables) -> list[Experts]:
    """The experts of each predicted fluent: one for each rule, and one that says that it stays. No
    fluent is read by the experts of another, so each is fitted by itself."""
    world = ["world observed {", "  object player: Player", "}"]
    found = []
    for kind, names in what.slots.items():
        for name in names:
            head = f"believe stays(t: {kind}) during next weight 1.0 learned"
            lines = [f"{head} {{ t.{word(name)} ~ {_rows([(f't.{word(name)}', 1.0)])} }}"]
            for one in proposal.ticks:
                lines += _believed(proposal.vocabulary, one, name, len(lines))
            reads = _read(what, kind, "\n".join(lines))
            every = ["model observed", "edition 1", *_declared(what, reads), "actor me: Player",
                     "phase next", *lines, *world]  # fmt: skip
            found.append(Experts(f"{kind}.{name}", "\n".join(every) + "\n", reads))
    return found


def _read(what: Observables, kind: str, text: str) -> dict[str, tuple[str, ...]]:
    """The attributes that beliefs about objects of a type name, by type."""
    named = {"Player": set[str](), "Body": set[str]()}
    for base, attribute in re.findall(r"\b(t|me)\.(\w+)", text):
        named["Player" if base == "me" else kind].add(attribute)
    return {of: tuple(x for x in _attributes(what, of) if word(x) in named[of]) for of in named}


def _attributes(what: Observables, kind: str) -> tuple[str, ...]:
    levels = [f"had_{x}" for x in what.slots[kind] if kind == "Player" and x not in _UNLEVELLED]
    return (*_CONTEXT[kind], *levels, *what.slots[kind])


def _declared(what: Observables, reads: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    yield f"enum Command {{ {', '.join(_ACTIONS)} }}"
    yield f"enum Material {{ {', '.join(constants.materials)}, outside }}"
    yield f"enum Kind {{ {', '.join(_KINDS)}, nobody }}"
    yield f"enum Facing {{ {', '.join(_FACING.values())} }}"
    yield "type Thing"
    kinds = {"asked": "Command", "told": "Command", "ahead": "Material", "met": "Kind",
             "kind": "Kind", "facing": "Facing", "done": "Command"}  # fmt: skip
    truths = ("sleeping", "here", "faced", "near")
    for kind, names in reads.items():
        parts = []
        for name in names:
            plain = f"{-_MOST} to {_MOST} = 0"
            if name.startswith("had_") or name in ("dx", "dy"):
                plain = f"{_LOW} to {_HIGH} = 0"
            elif name in truths or name.startswith(("free_", "near_")):
                plain = "bool"
            parts.append(f"  {word(name)}: {kinds.get(name, plain)}")
        yield "\n".join([f"type {kind} : Thing {{", *parts, "}"])


def _rows(values: list[tuple[str, float]]) -> str:
    parts = ", ".join(f"{text}: {share * (1 - DOUBT):.4f}" for text, share in values)
    return f"{{ {parts}, else: {DOUBT} }}"


def _believed(vocabulary: Vocabulary, learned: Learned, name: str, count: int) -> Iterator[str]:
    """The experts of the rules of one fluent; a rule speaks where no rule before it does."""
    if learned.what != SET or learned.fluent is None:
        return
    every = (learned.fluent, *learned.others)
    at = next((at for at, one in enumerate(every) if one.name == name), None)
    if at is None:
        return
    fluent, earlier = every[at], list[str]()
    (over,), kind = learned.over, next(iter(fluent.owners))
    for number, rule in enumerate(learned.rules.rules):
        words = Wording(vocabulary)
        words.knows(replace(over, sort=kind))
        if any(one.op == "any" for one in rule.guard):
            continue  # it reads other bodies than the one that the state of experts has
        guard = " and ".join(words.guard(rule.guard)) or "true"
        test = " and ".join([guard, *(f"not ({one})" for one in earlier)])
        rows = _rows(_values(words, rule, at, fluent, over.name))
        yield (f"believe rule_{count + number}({over.name}: {kind}) during next when {test} "
               f"weight 1.0 learned {{ {over.name}.{word(name)} ~ {rows} }}")  # fmt: skip
        earlier.append(guard)


def _values(words: Wording, rule: Rule, at: int, fluent: Any, over: str) -> list[tuple[str, float]]:
    """The new values of a rule with their shares."""
    shares = rule.shares or (1.0, 0.0)
    parts = [(one.parts or (one,))[at] for one in rule.templates]
    new = [words.template(one, fluent) for one in parts]
    found = list(zip(new, shares, strict=False))
    if rule.branches and shares[-1]:
        found.append((f"{over}.{word(fluent.name)}", shares[-1]))
    return found


def weights(
    world: OpenWorld, experts: Experts, told: Iterable[tuple[Attrs, Attrs]]
) -> dict[str, float]:
    """The likeliest weights of the experts of one fluent, by their params."""
    params = learned_params(world)
    listed = _transitions(world.engine, experts, told)
    found = collected(world, listed, params, lambda text: None)
    assert not found.bad, found.bad[0]
    assert not found.impossible, found.impossible[0].text()
    return {one.learned.name: one.value for one in fit(found, params).params}


def _transitions(
    engine: Engine, experts: Experts, told: Iterable[tuple[Attrs, Attrs]]
) -> Iterator[Transition]:
    """The transitions of one fluent; nothing else of the states is guessed."""
    known: dict[str, Transition] = {}
    for before, after in told:
        for number in experts.numbers(before):
            state = experts.state(before, number)
            now = experts.state(before, number, **{experts.name: after[number][experts.name]})
            key = f"{state} {now}"
            if key not in known:
                seen = engine.restored({**now, "tick": 1})
                known[key] = Transition(f"transition {len(known)}", engine.restored(state), PASS,
                                        seen, frozenset((experts.fluent,)))  # fmt: skip
            yield known[key]
