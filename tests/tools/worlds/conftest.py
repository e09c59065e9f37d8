"""A little world whose records use every exception that a mapping can tell of, and its rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main
from tokenworld.ground import Command
from tokenworld.session.loading import open_world
from tokenworld.session.session import Session
from tokenworld.verbs.records.adapter import Adapter
from tokenworld.verbs.records.properties import mapping_beside

WORLD = """
edition 1
enum Port { left, right }
enum Speed { slow, fast }
type Entity {
  static label: text = "thing"
  heat: -10.0 to 90.0 clamped = 20.0
  at: Container? nested ordered inverse contents closure inside
}
type Container : Entity
type Yard : Container
type Agent : Container
type Clip : Entity { wet: bool = false  mess: text?  known: bool = false }
type Scale : Container
type Pan : Container
type Lens : Entity {
  speed: Speed = slow  shot: bool = false  shot_of: Entity?  shot_speed: Speed = slow
}
actor me: Agent
function mate(a: Clip, p: Port): Clip?
function mate_port(a: Clip, p: Port): Port?
relation turning(c: Container, x: Entity)
function turns(c: Container, x: Entity): 0 to 99 = 0
function weight(x: Entity): int = 1
relation follows(c: Clip, x: Clip)
derive shouting(x: Entity): text = "{x.label}!"
called x: Entity = "{x.label} (ID: {id(x)})"
called x: Agent = "yourself"
derive recordName(x: Entity): text = if x is Agent then "{x.label} (ID: {id(x)})" else "{x}"
derive near_port(a: Clip): Port? = mate_port(a, left)

action look() as "look" { say "Nothing." }
action wet(c: Clip) as "wet {c}" {
  require not c.wet   else already "{The c} is wet."
  c.wet = true  c.known = true  c.mess = "mud"
}
action take(x: Entity) as "take {x}" { x.at = me }
action crush(x: Entity) as "crush {x}" { destroy x }
action join(a: Clip, p: Port, b: Clip) as "join {a} {p} to {b}" {
  mate(a, p) = b  mate_port(a, p) = right  add follows(a, b)
}
action shoot(l: Lens, x: Entity) as "shoot {x} with {l}" {
  l.shot = true  l.shot_of = x  l.shot_speed = l.speed
}
action blink(l: Lens) as "blink {l}" { l.shot = true  l.shot_of = none }
phase ticks sequentially by nesting
law cool(c: Clip) during ticks when c.wet { c.heat -= 7.5 }
law count_turns(s: Scale) during ticks { for x in s.inside { add turning(s, x)  turns(s, x) += 1 } }

world bench "Bench" {
  time passes always  ambiguous first  endless
  object agent: Agent { label = "agent"  at = ground }
  object ground: Yard { label = "ground" }
  object shed: Container { label = "shed"  at = ground }
  object red, blue: Clip { label = "clip"  at = shed }
  object scale: Scale { label = "scale"  at = shed }
  object left_pan, right_pan: Pan { label = "pan"  at = scale }
  object coin: Entity { label = "coin"  at = right_pan }
  object lens: Lens { label = "lens"  at = shed }
  score = count(c for c: Clip where c.wet)
  goal soaked: all(c.wet for c: Clip)
  lose crushed: not any(c is Clip for c: Clip)
}
"""

MAPPING = """
game = "bench"
name = "recordName"
label = "label"
root = "ground"
hidden = ["Agent.weight"]
[types]
Box = "Container"
[parts]
Scale = 2
[properties]
"Clip.mess" = { value = "mess", present = "known" }
"Clip.links" = { entries = ["mate", "mate_port"], keys = "Port" }
"Clip.plugs" = { entries = ["mate", "mate_port"], keys = "Port", unset = true }
"Clip.fans" = { members = "follows", keys = "Clip" }
"Clip.near" = { value = "near_port" }
"Scale.turns" = { entries = ["turns"], keys = "Entity", having = "turning" }
"Lens.shot" = { items = ["shot_of", "shot_speed"], filled = "shot", nothing = "nothing" }
"Lens.dial" = { constant = ["1/2", "1"] }
shout = { value = "shouting" }
"""

ACTIONS = (
    "look",
    "wet clip (ID: 3)",
    "wet clip (ID: 3)",
    "sing",
    "join clip (ID: 3) left to clip (ID: 4)",
    "take coin (ID: 8)",
    "crush coin (ID: 8)",
    "wet clip (ID: 4)",
)

Row = dict[str, Any]
Put = Callable[..., Path]


@pytest.fixture
def bench(tmp_path: Path) -> Put:
    """Puts the world and its mapping into a folder; the path of the world."""

    def put(world: str = WORLD, mapping: str = MAPPING, folder: str = "bench") -> Path:
        path = tmp_path / folder / "world.tw"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "mapping.toml").write_text(mapping, encoding="utf-8")
        path.write_text(world, encoding="utf-8")
        return path

    return put


def played(path: Path, actions: Sequence[str]) -> list[Row]:
    """The rows that a world itself would record of a run."""
    world = open_world(str(path))
    adapter, session = Adapter(world.engine, mapping_beside(path)), Session(world, 0)
    rows: list[Row] = []
    for number, action in enumerate(actions):
        before = session.state
        command = session._resolver.resolve(before, action)
        acted = before
        if isinstance(command, Command):
            acted = world.engine.acted(before, command)
        session.intend(action)
        rows.append(
            {
                "game": mapping_beside(path).game,
                "state_id": number,
                "current_state": shown(adapter, before, ""),
                "action_state": shown(adapter, acted, action),
                "tick_state": shown(adapter, session.state, action),
                "current_score_state": adapter.score(before).to_json(),
                "next_score_state": adapter.score(session.state).to_json(),
            }
        )
    return json.loads(json.dumps(rows))  # type: ignore[no-any-return]


def shown(adapter: Adapter, state: Any, action: str) -> Row:
    found = adapter.write(state)
    return {
        "observation": "…",
        "taskDesc": "Soak the clips.",
        "lastAction": action,
        "objects": found.objects,
        "max_UUID": found.next_id,
    }


@pytest.fixture
def rows(bench: Put) -> list[Row]:
    """What the little world records of a run: all that can become of a command is in it."""
    return played(bench(), ACTIONS)


@pytest.fixture
def tw(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """``tw("conform", …)``: exit code, stdout, stderr; no traceback in either."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = _main([str(one) for one in arguments])
        found = capsys.readouterr()
        assert "Traceback" not in found.out + found.err
        assert code != 4, found.err
        return code, found.out, found.err

    return call
