"""Sokoban for tests: maps as PDDL pairs in the style of competitions, and brute force.

Brute force does not use the rules: it moves a man and crates over characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lower_worlds import Opened, opened

from tokenworld.diagnostics import Source
from tokenworld.planning.reader import import_pddl

__all__ = ["DOMAIN", "Counts", "brute_force", "drawn", "map_of", "problem", "sokoban"]

DOMAIN = """
(define (domain warehouse)
  (:requirements :typing :action-costs)
  (:types thing place way - object  man crate - thing)
  (:predicates (free ?p - place) (at ?t - thing ?p - place) (stored ?c - crate)
               (STORE ?p - place) (FLOOR ?p - place) (NEXT ?a ?b - place ?w - way))
  (:functions (total-cost) - number)
  (:action walk :parameters (?m - man ?a ?b - place ?w - way)
    :precondition (and (at ?m ?a) (free ?b) (NEXT ?a ?b ?w))
    :effect (and (not (at ?m ?a)) (not (free ?b)) (at ?m ?b) (free ?a)))
  (:action shove :parameters (?m - man ?c - crate ?a ?b ?d - place ?w - way)
    :precondition (and (at ?m ?a) (at ?c ?b) (free ?d) (NEXT ?a ?b ?w) (NEXT ?b ?d ?w) (FLOOR ?d))
    :effect (and (not (at ?m ?a)) (not (at ?c ?b)) (not (free ?d)) (at ?m ?b) (at ?c ?d) (free ?a)
                 (not (stored ?c)) (increase (total-cost) 1)))
  (:action store :parameters (?m - man ?c - crate ?a ?b ?d - place ?w - way)
    :precondition (and (at ?m ?a) (at ?c ?b) (free ?d) (NEXT ?a ?b ?w) (NEXT ?b ?d ?w) (STORE ?d))
    :effect (and (not (at ?m ?a)) (not (at ?c ?b)) (not (free ?d)) (at ?m ?b) (at ?c ?d) (free ?a)
                 (stored ?c) (increase (total-cost) 1))))
"""
SMALL = ("#######", "#@ $ .#", "# $ . #", "#######")
WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
Place = tuple[int, int]
State = tuple[Place, ...]


@dataclass(frozen=True)
class Map:
    """``next[place][way]`` is the neighbouring place; crates are distinguished, as in PDDL."""

    next: dict[Place, dict[str, Place]]
    stores: frozenset[Place]
    man: Place
    crates: tuple[Place, ...]


@dataclass(frozen=True)
class Counts:
    """The numbers of all and of dead states, and the length of a shortest solution (-1: none)."""

    states: int
    won: int
    dead: int
    steps: int


def drawn(rows: Sequence[str]) -> Map:
    """A map drawn as usual: ``#`` wall, ``@`` man, ``$`` crate, ``.`` store, ``*`` both."""
    cells = {
        (x, y): sign for y, row in enumerate(rows) for x, sign in enumerate(row) if sign != "#"
    }
    beside = {
        (x, y): {
            way: (x + dx, y + dy) for way, (dx, dy) in WAYS.items() if (x + dx, y + dy) in cells
        }
        for x, y in cells
    }
    man = next(place for place, sign in cells.items() if sign == "@")
    crates = tuple(place for place, sign in cells.items() if sign in "$*")
    return Map(beside, frozenset(p for p, sign in cells.items() if sign in ".*"), man, crates)


def sokoban(rows: Sequence[str] = SMALL) -> Opened:
    """A map imported from PDDL, to search."""
    domain, task = Source("d.pddl", None, DOMAIN), Source("p.pddl", None, problem(rows))
    return opened(import_pddl(domain, (task,)).text)


def problem(rows: Sequence[str]) -> str:
    """The problem file of a map."""
    board = drawn(rows)
    name = {place: f"p-{place[0]}-{place[1]}" for place in board.next}
    taken = {board.man, *board.crates}
    facts = [f"(at man {name[board.man]})"]
    facts += [f"(at crate-{n} {name[place]})" for n, place in enumerate(board.crates)]
    facts += [f"(stored crate-{n})" for n, p in enumerate(board.crates) if p in board.stores]
    facts += [f"(free {name[place]})" for place in board.next if place not in taken]
    facts += [f"({'STORE' if p in board.stores else 'FLOOR'} {name[p]})" for p in board.next]
    facts += [
        f"(NEXT {name[place]} {name[other]} {way})"
        for place, ways in board.next.items()
        for way, other in ways.items()
    ]
    crates = [f"crate-{n}" for n in range(len(board.crates))]
    return f"""(define (problem map) (:domain warehouse)
  (:objects {" ".join(WAYS)} - way  man - man  {" ".join(crates)} - crate
            {" ".join(name.values())} - place)
  (:init {" ".join(facts)} (= (total-cost) 0))
  (:goal (and {" ".join(f"(stored {crate})" for crate in crates)}))
  (:metric minimize (total-cost)))"""


def map_of(text: str) -> Map:
    """The map in a competition's problem file, read by pattern."""
    init = text[text.index("(:init") : text.index("(:goal")]
    facts = [tuple(found.split()) for found in re.findall(r"\(([^():=]+)\)", init)]
    names = {one for fact in facts if fact[0] == "MOVE-DIR" for one in fact[1:3]}
    place = {name: (number, 0) for number, name in enumerate(sorted(names))}
    beside: dict[Place, dict[str, Place]] = {one: {} for one in place.values()}
    for fact in facts:
        if fact[0] == "MOVE-DIR":
            beside[place[fact[1]]][fact[3]] = place[fact[2]]
    at = {fact[1]: place[fact[2]] for fact in facts if fact[0] == "at"}
    stores = frozenset(place[f[1]] for f in facts if f[0] == "IS-GOAL" and f[1] in place)
    crates = tuple(where for name, where in sorted(at.items()) if name.startswith("stone"))
    return Map(beside, stores, next(w for n, w in at.items() if n.startswith("player")), crates)


def brute_force(board: Map, *, past_goal: bool = False) -> Counts:
    """Every state of a map, up to the goal or past it."""
    sources, far = _explored(board, stop=not past_goal)
    won = [state for state in sources if _done(board, state)]
    good, waiting = set(won), list(won)
    while waiting:
        for before in sources[waiting.pop()]:
            if before not in good:
                good.add(before)
                waiting.append(before)
    steps = min((far[state] for state in won), default=-1)
    return Counts(len(sources), len(won), len(sources) - len(good), steps)


def _done(board: Map, state: State) -> bool:
    return all(crate in board.stores for crate in state[1:])


def _explored(board: Map, *, stop: bool) -> tuple[dict[State, list[State]], dict[State, int]]:
    start = (board.man, *board.crates)
    sources: dict[State, list[State]] = {start: []}
    far, order = {start: 0}, [start]
    for state in order:
        if stop and _done(board, state):
            continue
        for after in _after(board, state):
            if after not in sources:
                sources[after], far[after] = [], far[state] + 1
                order.append(after)
            sources[after].append(state)
    return sources, far


def _after(board: Map, state: State) -> list[State]:
    found = []
    for way, here in board.next[state[0]].items():
        crates = list(state[1:])
        if here in crates:
            there = board.next[here].get(way)
            if there is None or there in crates:
                continue
            crates[crates.index(here)] = there
        found.append((here, *crates))
    return found
