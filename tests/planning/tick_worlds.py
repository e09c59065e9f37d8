"""Random small worlds about steps: long actions, refusals, rounds, draws, rollbacks.

All of them are finite, and small enough to try every command in every state.
"""

from __future__ import annotations

from random import Random

from lower_worlds import Opened, opened

from tokenworld.check import check_source
from tokenworld.diagnostics import Source, has_errors

__all__ = ["random_tick_world"]

CONDITIONS = [
    "d.p", "not d.p", "d.q", "not d.q", "d.n == 0", "d.n > 0", "d.n < 2", "busy(me)",
    "not busy(me)", "d.p == d.q", "d.n == d.k",
]  # fmt: skip
CHANGES = [
    "d.p = true", "d.p = false", "d.q = not d.q", "d.n = 0", "d.n += 1", "d.n -= 1", "d.k = d.n",
    "d.q = d.p", "if d.p { d.n += 1 }", "if d.q { d.p = true } else { d.n += 1 }",
]  # fmt: skip
LUCK = [
    "chance 1/2 { %s } else { %s }", "chance 1/4 { %s } or 1/4 { %s }", "chance 1/2 { d.n += 2 }",
]  # fmt: skip
GOALS = [
    "d.p and d.q and d.n == 2", "d.n == 2 and not d.p", "d.k == 2 and d.n == 0", "d.p and d.n == 1",
    "d.q and d.k == 1 and d.n == 2",
]  # fmt: skip
KEPT = ["d.n < 2 or not d.p", "d.k < 2 or d.q", "not (d.p and d.q)", "d.n != 2 or d.k != 1"]


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random

    def condition(self) -> str:
        return self._random.choice(CONDITIONS)

    def change(self) -> str:
        return self._random.choice(CHANGES)

    def body(self, *, luck: bool) -> str:
        if luck and self._random.random() < 0.35:
            pattern = self._random.choice(LUCK)
            return pattern % tuple(self.change() for _ in range(pattern.count("%s")))
        return self.change()

    def action(self, number: int) -> str:
        random = self._random
        requires = f"require {self.condition()}" if random.random() < 0.6 else ""
        takes, cancelled, kind = "", "", random.random()
        if kind < 0.35:
            until = f" until {self.condition()}" if random.random() < 0.3 else ""
            takes = f"takes {random.randint(2, 3)}{until}"
            if random.random() < 0.7:
                cancelled = f"cancelled {{ {self.body(luck=random.random() < 0.2)} }}"
        elif kind < 0.5:
            takes = "takes 0"
        body = self.body(luck=True)
        return f"action a{number}(d: D) {takes} {{ {requires} {body} {cancelled} }}"

    def law(self, number: int) -> str:
        return f"law l{number}(d: D) when {self.condition()} {{ {self.body(luck=True)} }}"


def _accepted(text: str) -> bool:
    return not has_errors(check_source(Source("tick.tw", None, text)).diagnostics)


def random_tick_world(seed: int) -> Opened:
    """The world of a seed."""
    random = Random(seed)
    writer, parts = _Writer(random), list[str]()
    actors = random.choice((1, 1, 2))
    always = "time passes always " if random.random() < 0.3 else ""
    turns = "turns h1, h2 " if actors == 2 else ""
    heroes = ", ".join(f"h{n + 1}" for n in range(actors))
    lose = f"lose l: {random.choice(GOALS)} " if random.random() < 0.3 else ""
    frame = (
        "type D { p: bool  q: bool  n: 0 to 2  k: 0 to 2 }\ntype H\nactor me: H\n%s\n"
        f"world w {{ {always}{turns}object {heroes}: H  object d: D  {lose}"
        f"goal g: {random.choice(GOALS)} }}\n"
    )
    makers = [writer.action] * random.randint(2, 3) + [writer.law] * random.randint(0, 1)
    if random.random() < 0.4:
        makers.append(lambda number: f"invariant i{number}(d: D): {random.choice(KEPT)}")
    for number, make in enumerate(makers):
        for _ in range(50):
            part = make(number)
            if "busy(me)" in part and part.startswith(("law", "invariant")):
                continue
            if _accepted(frame % "\n".join([*parts, part])):
                parts.append(part)
                break
    return opened(frame % "\n".join(parts))
