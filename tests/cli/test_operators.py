"""`tw run --operator`: words that mean nothing go out, and come back as a rule that is judged."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs, ticks_of

sys.path.insert(0, str(Path(__file__).parent))

from test_forged_logs import forge

MILL = """# A mill.
type Person { coins: 0 to 20 = 5 }
type Lamp { lit: bool = false  broken: bool = false  shine: 0 to 9 clamped = 0 }
actor me: Person
conserve coin: sum(p.coins for p: Person)
action light_it(l: Lamp) as "light {l}" {
  require not l.broken else broken "It is broken."
  l.lit = true
}
action wait_here() as "wait" { }
world mill "The mill" {
  object bran: Person
  object mira: Person
  object lamp: Lamp "old lamp"
  endless
  goal bright: lamp.lit
}
"""
POLISH = 'action polish(l: Lamp) as "polish {l}" {\n  l.shine += 3\n  say "{The l} gleams."\n}'
RULES = {
    "polish old lamp": POLISH,
    "pay mira": 'action pay(p: Person) as "pay {p}" { transfer 1 of me.coins to p.coins }',
    "mint a coin": 'action mint() as "mint a coin" { me.coins += 1 }',
    "tax mira": 'action tax(p: Person) as "tax {p}" { me.coins = p.coins }',
    "smash old lamp": 'action smash(l: Lamp) as "smash {l}" { l.broken = true }',
    "curse old lamp": 'action curse(l: Lamp) as "curse {l}" { }\n'
    "phase night\nlaw dark(l: Lamp) during night { l.lit = false }",
    "dance": 'action dance() as "dance" { me.feet += 1 }',
    "sing": 'action sing() as "hum" { }',
    "yodel": "action yodel( as {{{",
    "jump": "Certainly! Here is the rule you asked for:\n```tw\n```",
    "again": 'action wait_here() as "again" { }',
}


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    path = tmp_path / "mill.tw"
    path.write_text(MILL, encoding="utf-8")
    return path


@pytest.fixture
def operator(program: Callable[..., str]) -> Callable[..., str]:
    """The command of an operator with this body of ``answer(words, seen, turn)``."""

    def make(body: str = 'print(RULES.get(words, "") + "\\n>")') -> str:
        call = 'answer(seen[0].removeprefix("The words: "), seen, turn)'
        return program("answer(words, seen, turn)", body, call, f"RULES = {RULES!r}\n")

    return make


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    def make(*lines: str) -> Path:
        path = tmp_path / "s.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return make


def stored(run: str | None = None) -> list[tuple[str, str | None]]:
    with RunStore.open(writable=False) as store:
        return [(one.status, one.text) for one in ticks_of(store, find_run(store, run))]


def test_words_become_a_rule_and_the_run_goes_on_with_it(tw, mill, operator, script) -> None:
    lines = script("wait", "polish old lamp", "polish the old lamp", "pay mira", "light old lamp")
    ran = tw(
        "run", mill, "--script", lines, "--operator", operator(), "--grown", "grown.tw", "--json"
    )
    assert (ran.code, ran.json["run"], ran.json["endings"]) == (0, "mill-3", ["bright"])
    assert ran.json["statuses"] == {"executed": 5, "yielded": 2}
    first, second = ran.json["growth"]
    assert (first["words"], first["left"], first["run"]) == ("polish old lamp", "mill-1", "mill-2")
    assert (first["rule"], first["actions"], first["conserved"]) == (POLISH, ["polish"], ["coin"])
    assert first["dead_ends"]["complete"]
    assert (second["actions"], second["conserved"]) == (["pay"], ["coin"])
    assert stored("mill-1") == [("executed", "wait"), ("yielded", "polish old lamp")]
    assert stored("mill-2") == [
        ("executed", "polish old lamp"),
        ("executed", "polish the old lamp"),
        ("yielded", "pay mira"),
    ]
    assert stored("mill-3") == [("executed", "pay mira"), ("executed", "light old lamp")]
    assert mill.read_text(encoding="utf-8") == MILL
    grown = Path("grown.tw").read_text(encoding="utf-8")
    assert grown.startswith(MILL.rstrip())
    assert POLISH in grown
    assert tw("check", "grown.tw").code == 0


def test_log_replay_verify_branch_and_sweep_know_the_rule(tw, mill, operator, script) -> None:
    lines = script("polish old lamp", "pay mira", "light old lamp")
    tw("run", mill, "--script", lines, "--operator", operator(), "--grown", "grown.tw")
    Path("answer.py").unlink()
    mill.unlink()
    for run in ("mill-1", "mill-2", "mill-3"):
        assert tw("runs", "replay", run, "--verify").code == 0
    assert tw("runs", "verify", "--all").code == 0
    shown = tw("runs", "show", "mill-3")
    assert "goes on with changed rules from record 2 of mill-2" in shown.out
    assert "[yielded]" in tw("log", "mill-1").out
    gap = tw("log", "mill-1", "--json").json["ticks"][0]["yielded"]
    assert (gap["kind"], "no_match" in gap) == ("unknown_verb", False)
    assert "grown" in tw("runs").out
    Path("more.txt").write_text("polish old lamp\npay mira\n", encoding="utf-8")
    ran = tw("runs", "branch", "mill-2", "1", "--script", "more.txt", "--json")
    assert ran.json["statuses"] == {"executed": 1, "no_match": 1}
    assert tw("runs", "why", "mill-2", "lamp.shine").code == 0
    assert tw("runs", "export", "mill-3", "mill-1", "-o", "runs.jsonl").code == 0
    assert tw("runs", "import", "runs.jsonl", "--store", "other.sqlite").code == 0
    assert tw("runs", "verify", "--all", "--store", "other.sqlite").code == 0
    assert tw("runs", "rows", "mill-1", "-o", "rows.jsonl").code == 0
    swept = tw("sweep", "grown.tw", "--what", "rollout", "--seeds", "2", "--ticks", "5", "--json")
    assert swept.code == 0
    assert tw("quality", "mill-1", "--json").json["dimensions"][0]["values"]["u"] == 0


@pytest.fixture
def narrator(tmp_path: Path) -> str:
    """The command of a narrator that tells one true thing of the mill."""
    path = tmp_path / "narrator.py"
    path.write_text(
        "import sys\nfor line in sys.stdin:\n    if line == '>\\n':\n"
        "        print('The coins of Bran are 5.\\n>', flush=True)\n",
        encoding="utf-8",
    )
    return shlex.join([sys.executable, str(path)])


def told(run: str) -> list[bool]:
    """For each record of a run, whether prose was stored."""
    with RunStore.open(writable=False) as store:
        return [one.prose is not None for one in ticks_of(store, find_run(store, run))]


def test_a_branch_takes_programs_beside_it(tw, mill, operator, narrator, script) -> None:
    tw("run", mill, "--script", script("wait", "light old lamp"))
    mill.unlink()
    lines = script("polish old lamp", "pay mira")
    beside = ("--operator", operator(), "--narrator", narrator, "--grown", "grown.tw")
    ran = tw("runs", "branch", "mill-1", "1", "--script", lines, *beside, "--json")
    assert (ran.code, ran.json["run"]) == (0, "mill-4")
    assert [one["left"] for one in ran.json["growth"]] == ["mill-2", "mill-3"]
    assert (ran.json["declined"], ran.json["operator_failed"]) == (0, None)
    assert ran.json["narration"] == {"told": 2, "failed": None}
    assert stored("mill-2") == [("yielded", "polish old lamp")]
    assert stored("mill-3") == [("executed", "polish old lamp"), ("yielded", "pay mira")]
    assert (told("mill-2"), told("mill-3"), told("mill-4")) == ([False], [True, False], [True])
    assert "leaves" not in tw("runs", "show", "mill-3").out
    assert "goes on with changed rules from record 1 of mill-2" in tw("runs", "show", "mill-3").out
    assert POLISH in Path("grown.tw").read_text(encoding="utf-8")
    assert tw("runs", "verify", "--all").code == 0
    for run in ("mill-2", "mill-3", "mill-4"):
        assert tw("runs", "replay", run, "--verify").code == 0
    again = script("polish old lamp")
    ran = tw("runs", "branch", "mill-4", "1", "--script", again, "--narrator", narrator, "--json")
    assert (ran.json["statuses"], ran.json["narration"]["told"]) == ({"executed": 1}, 1)
    assert tw("quality", ran.json["run"], "--json").json["dimensions"][0]["values"]["u"] == 2
    assert tw("runs", "verify", "--all").code == 0


def test_programs_beside_a_branch_need_a_player(tw, mill, operator, narrator, script) -> None:
    tw("run", mill, "--script", script("wait"))
    for options in (["--narrator", narrator], ["--operator", operator()], ["--grown", "g.tw"]):
        ran = tw("runs", "branch", "mill-1", "1", *options)
        assert (ran.code, ran.err.count("error[TW0006]: Nobody plays this run.")) == (2, 1)
    ran = tw("runs", "branch", "mill-1", "1", "--script", script("wait"), "--operator", "./none")
    assert (ran.code, ran.err.count("error[TW1009]: The operator")) == (1, 1)
    with RunStore.open(writable=False) as store:
        assert len(list_runs(store)) == 1


FRIEND = """relation friends(a: Person, b: Person)
action befriend(p: Person) as "befriend {p}" { friends(me, p) = true }"""


def test_the_fan_out_of_a_run_counts_relations_of_its_rules(tw, mill, program, script) -> None:
    """The graph of `tw quality` has the edges that an operator's rule made possible."""
    command = program("answer(seen, turn)", f"print({FRIEND!r} + '\\n>')")
    waits = ["wait"] * 10
    lines = script("befriend mira", *waits, "befriend bran", *waits, *waits)
    ran = tw("run", mill, "--script", lines, "--operator", command, "--json")
    assert (ran.json["run"], ran.json["statuses"]["executed"]) == ("mill-2", 32)
    found = tw("quality", "mill-2", "--json").json["dimensions"]
    graph = next(one for one in found if one["id"] == "graph_fan_out")
    assert [edges for _, edges, _ in graph["values"]["checkpoints"]][-1] == 2
    swept = tw("rollout", mill, "--worlds", "2", "--ticks", "5", "--json")
    assert swept.code == 0


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE tick SET intent = replace(intent, ',\"yield\":true', '') WHERE seq = 2",
        "UPDATE tick SET intent = replace(intent, '}', ',\"yield\":true}') WHERE seq = 1",
        "UPDATE tick SET outcome = replace(outcome, 'yielded', 'no_match') WHERE seq = 2",
        "UPDATE tick SET outcome = replace(outcome, 'unknown_verb', 'bad_arity') WHERE seq = 2",
    ],
)
def test_a_forged_yield_is_found(tw, mill, operator, script, lie: str) -> None:
    tw("run", mill, "--script", script("wait", "sing"), "--operator", operator())
    assert tw("runs", "verify").code == 0
    forge(Path(".tw/runs.sqlite"), lambda base: base.execute(lie))
    ran = tw("runs", "verify")
    assert (ran.code, ran.err.count("error[TW1101]")) == (1, 1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("mint a coin", "TW0506: "),
        ("tax mira", "`conserve coin` is not proved for `tax`."),
        ("smash old lamp", "`smash` can lead into a dead end."),
        ("curse old lamp", "with it the goal is out of reach."),
        ("dance", "TW0201: "),
        ("sing", "the words mean nothing with it either."),
        ("yodel", "TW01"),
        ("jump", "TW01"),
        ("again", "TW0203: "),
    ],
)
def test_a_refused_rule_is_one_diagnostic_and_the_run_goes_on(
    tw, mill, operator, script, words: str, why: str
) -> None:
    lines = script("wait", words, words, "wait")
    ran = tw("run", mill, "--script", lines, "--operator", operator(), "--json")
    assert (ran.code, ran.json["run"], ran.json["growth"]) == (0, "mill-1", [])
    assert ran.err.count("warning[TW1010]") == 1
    assert ran.err.count("[TW") == 1
    assert why in ran.err
    assert ran.json["declined"] == 1
    assert [one for one, _ in stored()] == ["executed", "yielded", "no_match", "executed"]
    assert tw("runs", "verify").code == 0


def test_what_an_operator_is_asked(tw, mill, operator, script) -> None:
    body = 'open("seen.txt", "w").write("\\n".join(seen))\nprint(">")'
    ran = tw("run", mill, "--script", script("polish old lamp"), "--operator", operator(body))
    assert ran.code == 0
    text = Path("seen.txt").read_text(encoding="utf-8")
    assert text.startswith(
        "The words: polish old lamp\n"
        "What does not fit is the verb: no action begins with these words.\n"
        "Near: light old lamp\n"
    )
    for part in (
        "\nA thing: old lamp, a Lamp\n  lamp: lit false, broken false, shine 0\n",
        '\nA rule to begin with:\n  action polish(l: Lamp) as "polish {l}" {\n',
        '\nThe rules of ', '\n  world mill "The mill" {\n',
        "\nAnswer with a rule for these words as .tw text, up to a line `>`.",
    ):  # fmt: skip
        assert part in text
    assert stored() == [("yielded", "polish old lamp")]


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("sys.exit(7)", "ended with exit code 7"),
        ("os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("time.sleep(60)", "gave no answer within 1 s"),
        ('print("action x() { }")', "gave no answer within 1 s"),
        ('[print("y" * 99) for n in range(10**6)]', "floods"),
    ],
)
def test_an_operator_that_fails_is_told_of_once(
    tw, mill, operator, script, body: str, cause: str
) -> None:
    told = operator(f'print(RULES[words] + "\\n>") if turn < 2 else {body}')
    lines = script("polish old lamp", "pay mira", "sing", "wait")
    began = time.monotonic()
    ran = tw("run", mill, "--script", lines, "--operator", told, "--reply-timeout", "1", "--json")
    assert time.monotonic() - began < 40
    assert (ran.code, ran.json["reason"], ran.json["run"]) == (1, "done", "mill-2")
    assert ran.err.count("error[TW1009]: The operator") == 1
    assert cause in ran.err
    assert cause in ran.json["operator_failed"]
    assert stored() == [
        ("executed", "polish old lamp"),
        ("yielded", "pay mira"),
        ("no_match", "sing"),
        ("executed", "wait"),
    ]
    assert tw("runs", "verify", "--all").code == 0


def test_an_operator_may_leave(tw, mill, operator, script) -> None:
    ran = tw("run", mill, "--script", script("sing", "dance"), "--operator",
             operator("sys.exit(0)"), "--json")  # fmt: skip
    assert (ran.code, ran.json["operator_failed"]) == (0, None)
    assert [one for one, _ in stored()] == ["yielded", "no_match"]


def test_an_operator_at_an_address(tw, mill, script, address) -> None:
    url, asked = address
    lines = script("polish old lamp", "wait")
    ran = tw("run", mill, "--script", lines, "--operator-url", f"{url}/rule", "--json")
    assert (ran.code, len(ran.json["growth"]), len(asked)) == (0, 1, 1)
    assert stored() == [("executed", "polish old lamp"), ("executed", "wait")]
    ran = tw("run", mill, "--script", lines, "--operator-url", f"{url}/prose", "--json")
    assert (ran.code, ran.err.count("warning[TW1010]")) == (0, 1)


def test_words_that_mean_something_are_not_handed_over(tw, mill, operator, script) -> None:
    body = 'open("turns.txt", "a").write("x")\nprint(">")'
    Path("turns.txt").write_text("", encoding="utf-8")
    lines = script("light old lamp", "pass", "light(lamp)", "", '{"format": "tw-intent/1", '
                   '"action": "fly", "args": {}}', "x" * 2000)  # fmt: skip
    tw("run", mill, "--script", lines, "--operator", operator(body))
    assert Path("turns.txt").read_text(encoding="utf-8") == "x"  # `light(lamp)` alone
    assert tw("runs", "verify").code == 0


def test_refusing_for_ever_halts_a_player(tw, mill, operator, tmp_path) -> None:
    path = tmp_path / "player.py"
    path.write_text(
        "import sys\nn = 0\nfor line in sys.stdin:\n    if line == '>\\n':\n"
        "        n += 1\n        print(f'sing {n}', flush=True)\n",
        encoding="utf-8",
    )
    player = shlex.join([sys.executable, str(path)])
    ran = tw("run", mill, "--player", "llm", "--command", player, "--operator",
             operator('print(">")'), "--json")  # fmt: skip
    assert (ran.code, ran.json["reason"]) == (1, "halted")
    assert ran.json["statuses"] == {"yielded": 5, "halted": 1}


def test_within_a_round_the_rule_waits(tw, mill, operator, script) -> None:
    mill.write_text(
        MILL.replace("  endless\n", "  endless\n  turns bran, mira\n"), encoding="utf-8"
    )
    lines = script("wait", "polish old lamp", "polish old lamp", "wait")
    ran = tw("run", mill, "--script", lines, "--operator", operator(), "--json")
    assert (ran.code, ran.json["run"]) == (0, "mill-2")
    first = stored("mill-1")
    assert [one for one, _ in first] == ["executed", "yielded", "executed"]  # the runner's pass
    assert stored("mill-2")[0] == ("executed", "polish old lamp")
    assert tw("runs", "verify", "--all").code == 0


def test_where_time_always_passes_it_does_while_the_operator_thinks(
    tw, mill, operator, script
) -> None:
    text = MILL.replace("  endless\n", "  endless\n  time passes always\n")
    text = text.replace('as "wait" { }', 'as "wait" takes 3 { }')
    mill.write_text(text, encoding="utf-8")
    lines = script("wait", "polish old lamp", "dance", "polish old lamp")
    ran = tw("run", mill, "--script", lines, "--operator", operator(), "--json")
    assert (ran.code, ran.json["run"]) == (0, "mill-2")
    assert stored("mill-1") == [("waiting", "wait"), ("yielded", "polish old lamp"),
                                ("waiting", "polish old lamp")]  # fmt: skip
    assert [one for one, _ in stored("mill-2")][-1] == "executed"
    assert tw("runs", "verify", "--all").code == 0
    assert tw("runs", "replay", "mill-1", "--verify").code == 0


def test_the_morning_report_lists_the_gaps_that_are_open(tw, mill, operator, script) -> None:
    lines = script(*["wait"] * 9, "sing", "polish old lamp", "dance")
    tw("run", mill, "--script", lines, "--operator", operator())
    gaps = [
        [gap["asked"] for gap in one["open_gaps"]]
        for one in tw("report", "--json", "--time-limit", "0").json["runs"]
    ]
    assert sorted(gaps) == [["dance"], ["sing"]]


def test_the_operator_of_the_page(tw, willowbrook, script) -> None:
    page = (willowbrook.parents[2] / "docs" / "programs.md").read_text(encoding="utf-8")
    text = page.split("## An operator")[1].split("```python\n")[1].split("```")[0]
    Path("writer.py").write_text(text, encoding="utf-8")
    lines = script("polish the knife", "hum", "hum", "fly", "hum", "fly", "polish the knife")
    told = shlex.join([sys.executable, "writer.py"])
    ran = tw(
        "run", willowbrook, "--script", lines, "--operator", told, "--grown", "grown.tw", "--json"
    )
    assert (ran.code, len(ran.json["growth"]), ran.json["declined"]) == (0, 1, 1)
    assert ran.json["growth"][0]["actions"] == ["polish"]
    assert ran.json["growth"][0]["dead_ends"]["opened"] == []
    assert tw("check", "grown.tw").code == 0
    assert tw("runs", "verify", "--all").code == 0


def test_a_killed_run_goes_on_with_programs_beside_it(tw, mill, operator, narrator, script) -> None:
    late = operator('print(RULES[words] + "\\n>") if turn < 2 else time.sleep(60)')
    lines = script("polish old lamp", "wait", "pay mira", "wait")
    command = [sys.executable, "-c", "from tokenworld.cli import main; main()", "run", str(mill),
               "--script", str(lines), "--operator", late]  # fmt: skip
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert child.stdout is not None
    for line in child.stdout:
        if "pay mira" in line:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert stored("mill-2") == [
        ("executed", "polish old lamp"),
        ("executed", "wait"),
        ("yielded", "pay mira"),
    ]
    with RunStore.open(writable=False) as store:
        assert [one.ending is not None for one in list_runs(store)] == [True, False]
    more = script("pay mira", "wait")
    ran = tw("runs", "resume", "--script", more, "--operator", operator(), "--narrator", narrator,
             "--json")  # fmt: skip
    assert (ran.code, ran.json["run"], ran.json["narration"]["told"]) == (0, "mill-3", 2)
    (only,) = ran.json["growth"]
    assert (only["words"], only["left"]) == ("pay mira", "mill-2")
    assert stored("mill-2")[3:] == [("yielded", "pay mira")]
    assert (told("mill-2"), told("mill-3")) == ([False] * 4, [True, True])
    assert tw("runs", "verify", "--all").code == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--operator", "a", "--operator-url", "http://x"],
        ["--operator", "'a"],
        ["--operator", "a", "--reply-timeout", "0"],
        ["--grown", "g.tw"],
        ["--operator", "a", "--grown", "nowhere/g.tw"],
    ],
)
def test_options_that_do_not_go_together(tw, mill, script, options: list[str]) -> None:
    ran = tw("run", mill, "--script", script("wait"), *options)
    assert (ran.code, ran.err.count("error[TW0006]")) == (2, 1)
    assert not list(Path().glob(".t*/runs.sqlite"))


def test_an_operator_that_does_not_start_leaves_no_run(tw, mill, script) -> None:
    ran = tw("run", mill, "--script", script("wait"), "--operator", "./nothing")
    assert (ran.code, ran.err.count("error[TW1009]: The operator")) == (1, 1)
    assert not list(Path().glob(".t*/runs.sqlite"))


def test_the_option_alone_shows_what_is_secret(tw, tmp_path, script) -> None:
    path = tmp_path / "secret.tw"
    text = MILL.replace("broken: bool", "secret broken: bool").replace("else broken", "else unlit")
    path.write_text(
        text.replace("lamp: Lamp", "lamp: Lamp { broken = true }").replace(
            'Lamp { broken = true } "old lamp"', 'Lamp "old lamp" { broken = true }'
        ),
        encoding="utf-8",
    )
    shown = {}
    for options in ((), ("--operator",), ("--operator", "--seed", "1")):
        ran = tw("run", path, "--script", script("light old lamp"), *options)
        assert ran.code == 0
        shown[options] = "✓ l.broken" in ran.out
    assert list(shown.values()) == [False, True, True]


def test_a_narrator_tells_of_the_grown_world(tw, mill, operator, script, tmp_path) -> None:
    path = tmp_path / "narrator.py"
    path.write_text(
        "import sys\ntold = 'The shine of the old lamp is 3. You polish the old lamp.\\n>'\n"
        "for line in sys.stdin:\n    if line == '>\\n':\n        print(told, flush=True)\n",
        encoding="utf-8",
    )
    lines: Any = script("polish old lamp")
    ran = tw("run", mill, "--script", lines, "--operator", operator(), "--narrator",
             shlex.join([sys.executable, str(path)]), "--json")  # fmt: skip
    assert ran.json["narration"]["told"] == 1
    found = tw("quality", "--json").json["dimensions"][0]["values"]
    assert (found["claims"], found["u"]) == (2, 0)
