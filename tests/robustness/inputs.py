"""Sound files of every kind that a verb takes, made once by the verbs themselves."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from calls import call
from mutations import ROOT

WORLD = """\
type Room
type Lamp { lit: bool  fuel: 0 to 3 = 2  room: Room?  note: text = "brass" }
actor me: Hero
type Hero { at: Room?  mood: 0 to 3 clamped }
relation linked(a: Room, b: Room) symmetric
function total(): 0 to 9 = 1
action go(r: Room) as "go to {r}" {
  require linked(me.at, r) else far "There is no way to {the r}."
  me.at = r
}
action light(l: Lamp) as "light {l}" {
  require l.fuel > 0 else dry "{The l} is dry."
  chance 50% { l.lit = true } else { l.fuel -= 1 }
}
action pump(l: Lamp) as "pump {l}" takes 2 { l.fuel += 1  cancelled { me.mood += 1 } }
law burn(l: Lamp) when l.lit and tick() mod 2 == 0 { total() = 2 }
watch glows(l: Lamp) when l.lit { say "{The l} glows." }
world house "House" {
  object hall, attic: Room
  object hero: Hero { at = hall }
  object lamp: Lamp { room = attic }
  setup { add linked(hall, attic) }
  goal bright: lamp.lit and hero.at == attic "It is bright."
  lose dark: lamp.fuel == 0 and not lamp.lit
}
scenario "walk" in house { when go(attic) then status executed }
"""
SCRIPT = "go(attic)\nlight lamp\npump lamp\npass\nxyzzy\n# a remark\ngo to hall\n"
BLOCKED = WORLD.replace("goal bright:", "goal bright: total() == 7 and")
STARTED = WORLD.replace("  setup {", '  start "state.json"\n  setup {')
REPLAYED = WORLD + 'scenario "again" in house { replay "rows.jsonl" }\n'
SETTINGS = 'theme = "textual-dark"\npreset = "vim"\nwatch = true\n[keys]\n"play.undo" = "ctrl+z"\n'
MARKERS = '[character]\nmarkers = ["As an AI"]\n[worlds.house.character]\nallowed = ["sorry"]\n'


@dataclass(frozen=True)
class Inputs:
    """A folder of sound files, by name."""

    folder: Path

    def __getitem__(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


def made(folder: Path) -> Inputs:
    """Write them all: worlds, a script, a store, its exports, plans, PDDL, rows of a text game."""
    for name, text in (
        ("world.tw", WORLD), ("blocked.tw", BLOCKED), ("started.tw", STARTED),
        ("replayed.tw", REPLAYED), ("moves.script", SCRIPT), ("settings.toml", SETTINGS),
        ("quality.toml", MARKERS),
    ):  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")
    world, store = str(folder / "world.tw"), ["--store", str(folder / "store.sqlite")]
    _made("run", world, "--script", str(folder / "moves.script"), *store, codes=(0, 1))
    _made("run", world, "--player", "random", "--ticks", "5", *store, codes=(0, 1))
    _made("runs", "export", "1", "2", "-o", str(folder / "runs.jsonl"), *store)
    _made("runs", "rows", "1", "-o", str(folder / "rows.jsonl"), *store)
    shown = json.loads(_made("runs", "at", "1", "1", "--json", *store))
    (folder / "state.json").write_text(json.dumps(shown.get("state", shown)), encoding="utf-8")
    _made("plan", world, "--certificate", str(folder / "won.json"))
    blocked = str(folder / "blocked.tw")
    _made("plan", blocked, "--certificate", str(folder / "lost.json"), codes=(1,))
    policy = str(folder / "policy.json")
    _made("plan", world, "--luck", "certain", "--policy", policy, codes=(0, 1))
    _made("export", "--pddl", world, "-o", str(folder), codes=(0, 1))
    for name in ("domain.pddl", "problem.pddl"):
        if not (folder / name).exists():
            (folder / name).write_bytes((ROOT / "domains/blocks" / name).read_bytes())
    (folder / "sas_plan").write_text("(go attic)\n(light lamp)\n; cost = 2\n", encoding="utf-8")
    _bench(folder / "bench")
    _set(folder / "set")
    return Inputs(folder)


def _made(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    done = call(arguments, seconds=60)
    assert done.fault is None, done.fault
    assert done.code in codes, (arguments, done.code, done.err)
    return done.out


def _bench(folder: Path) -> None:
    """The text game of the tests of `conform`, with its mapping, rows and answers."""
    game = _conftest()
    folder.mkdir()
    (folder / "world.tw").write_text(game.WORLD, encoding="utf-8")
    (folder / "mapping.toml").write_text(game.MAPPING, encoding="utf-8")
    rows = game.played(folder / "world.tw", game.ACTIONS)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    asked = folder / "questions.jsonl"
    _made(
        "conform", str(folder / "world.tw"), str(folder / "rows.jsonl"), "--questions", str(asked)
    )
    answers = [
        json.dumps({**json.loads(line), "answer": {"objects": []}, "state": {}})
        for line in asked.read_text(encoding="utf-8").splitlines()
    ]
    (folder / "answers.jsonl").write_text("\n".join(answers) + "\n", encoding="utf-8")


def _set(folder: Path) -> None:
    """A small set of questions, with the answers of a predictor that echoes its questions."""
    _made("simbench", "make", "cellar", "--rows", "2", "-o", str(folder))
    answers = ("-o", str(folder / "answers.jsonl"), "--retries", "0", "--examples", "0")
    _made("simbench", "run", str(folder), "--predictor", "cat", *answers, codes=(0, 1))


def _conftest() -> ModuleType:
    path = ROOT / "tests/tools/worlds/conftest.py"
    spec = importlib.util.spec_from_file_location("bench_of_conform", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
