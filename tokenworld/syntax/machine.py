"""The LALR(1) automaton: tokens in, one concrete tree out, and what it would accept next."""

from __future__ import annotations

from tokenworld.syntax.tables import END, Start, Tables
from tokenworld.syntax.tree import Kid, Token, Tree


class Machine:
    """Parses one item or one expression, token by token.

    A token that does not fit changes nothing that matters: the caller reports it and drops the
    machine. Nothing here recurses, so the depth of the input is not limited by Python's stack.
    """

    __slots__ = ("_end_state", "_start_state", "_states", "_tables", "_values")

    def __init__(self, tables: Tables, start: Start) -> None:
        self._tables = tables
        self._start_state, self._end_state = tables.starts[start]
        self._states = [self._start_state]
        self._values: list[Kid | list[Kid]] = []

    def feed(self, token: Token) -> bool:
        """Take one token; False if no rule allows it here."""
        states, tables = self._states, self._tables
        actions, rules, climbs = tables.actions, tables.rules, tables.climbs
        terminal = token.terminal
        while True:
            action = actions[states[-1]].get(terminal)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                self._values.append(token)
                return True
            if rules[~action].keep:
                way = (states[-2], states[-1], terminal)
                states[-1] = climbs.get(way) or self._climb(way)
            else:
                self._reduce(~action)

    def _climb(self, way: tuple[int, int, str]) -> int:
        """The state behind all `?rule`s that pass a symbol on, one after another.

        A name in an expression climbs through a dozen levels of operators; where it comes out
        depends on the two topmost states and the next token only, so it is found once.
        """
        below, state, terminal = way
        tables = self._tables
        while True:
            action = tables.actions[state].get(terminal)
            if action is None or action >= 0 or not tables.rules[~action].keep:
                break
            state = tables.gotos[below][tables.rules[~action].origin]
        tables.climbs[way] = state
        return state

    def finish(self) -> Kid | None:
        """End the input here: the tree of the whole, or None if something is missing."""
        states, actions = self._states, self._tables.actions
        while states[-1] != self._end_state:
            action = actions[states[-1]].get(END)
            if action is None or action >= 0:
                return None
            self._reduce(~action)
        (value,) = self._values
        return value if not isinstance(value, list) else None

    def expected(self) -> frozenset[str]:
        """Every terminal (`END` too) that could come next, found by trying each in turn."""
        terminals = {t for state in self._states[-1:] for t in self._tables.actions[state]}
        return frozenset(t for t in terminals if self._would_take(t))

    def _would_take(self, terminal: str) -> bool:
        """Run the automaton without values, since a reduction may be taken in vain."""
        states = list(self._states)
        rules, actions, gotos = self._tables.rules, self._tables.actions, self._tables.gotos
        while True:
            if terminal == END and states[-1] == self._end_state:
                return True
            action = actions[states[-1]].get(terminal)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = rules[~action]
            del states[len(states) - rule.size :]
            states.append(gotos[states[-1]][rule.origin])

    def _reduce(self, number: int) -> None:
        kind, size, origin, keep, splice = self._tables.rules[number]
        states, values = self._states, self._values
        if keep:
            # `?rule` with a single symbol: the value stays as it is.
            states.pop()
        elif size == 1:
            value = values[-1]
            kids = value if isinstance(value, list) else [value]
            values[-1] = kids if splice else Tree(kind, kids, kids[0].start, kids[-1].end)
            states.pop()
        else:
            kids = _spliced(values[-size:])
            del values[-size:], states[-size:]
            values.append(kids if splice else Tree(kind, kids, kids[0].start, kids[-1].end))
        states.append(self._tables.gotos[states[-1]][origin])


def _spliced(values: list[Kid | list[Kid]]) -> list[Kid]:
    """The values as one list; a list in first place is grown, which keeps loops linear."""
    first = values[0]
    kids: list[Kid] = first if isinstance(first, list) else [first]
    for value in values[1:]:
        if isinstance(value, list):
            kids += value
        else:
            kids.append(value)
    return kids
