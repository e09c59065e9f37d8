"""Names and keywords that may stand at a place, from the last check that gave a program.

The parser's own automaton reads the text up to the cursor and gives the tokens that may follow.
Members after a dot depend on the type of the expression before it: locals have the type that
the item writes; other names are looked up in the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tokenworld import model as m
from tokenworld.diagnostics import Source
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import show_type
from tokenworld.syntax.lalr import Machine, Token, lex
from tokenworld.syntax.tables import END, tables

_LOCAL = "local"


@frozen
class Completion:
    """A word that may stand here, its kind (see `names.Kind`; also `keyword`), and its type."""

    text: str
    kind: str
    detail: str = ""


_DECLARING: Final = frozenset(
    [
        "action",
        "actor",
        "as",
        "believe",
        "conserve",
        "derive",
        "effect",
        "enum",
        "event",
        "function",
        "goal",
        "invariant",
        "law",
        "let",
        "lose",
        "model",
        "object",
        "param",
        "phase",
        "relation",
        "scratch",
        "stop",
        "table",
        "type",
        "unit",
        "watch",
        "world",
    ]
)
"""Keywords after which a new name stands."""
_OF_KIND: Final = {
    "because": "label", "during": "phase", "emit": "event", "emits": "event", "won": "ending",
    "lost": "ending", "except": "rule",
}  # fmt: skip


def completions(source: Source, offset: int, program: m.Program | None) -> tuple[Completion, ...]:
    """Return the completions at an offset of a text; a partly typed word counts as not written."""
    tokens = _before(source, offset)
    if tokens is None:
        return ()
    last = tokens[-1].terminal if tokens else ""
    if last == "." and program is not None:
        owner = _type_of(_chain(tokens[:-1]), tokens, program)
        found = [*_members(program, owner)]
    elif last == ".":
        found = []
    else:
        found = [*_words(tokens, last, program)]
    each = {(one.text, one.kind): one for one in reversed(found)}
    return tuple(sorted(each.values(), key=lambda one: (one.kind == "keyword", one.text)))


def _before(source: Source, offset: int) -> list[Token] | None:
    """Return the tokens of the item up to the cursor; `None` within a text or a comment."""
    text = source.text[:offset]
    line = text[text.rfind("\n") + 1 :]
    tokens, problems = lex(Source(source.name, None, text), tables())
    end = tokens[-1].end if tokens else 0
    if (problems and '"' in line) or "#" in text[end:].rpartition("\n")[2]:
        return None
    if (
        tokens
        and tokens[-1].end == offset
        and (tokens[-1].text[-1].isalnum() or tokens[-1].text[-1] == "_")
    ):
        tokens.pop()
    firsts = tables().first("item")
    begins = [
        place
        for place, token in enumerate(tokens)
        if token.terminal in firsts and (token.start == 0 or text[token.start - 1] == "\n")
    ]
    return tokens[begins[-1] :] if begins else tokens


def _words(tokens: list[Token], last: str, program: m.Program | None) -> Iterator[Completion]:
    """Yield keywords that the grammar allows here, types, and names."""
    machine = Machine(tables(), "item")
    sound = all(machine.feed(token) for token in tokens)
    expected = machine.expected() if sound else frozenset({"NAME", "TYPE"})
    if not tokens or END in expected:
        expected = expected | tables().first("item")
    if last in _DECLARING and "TYPE" not in expected:
        return
    names = "NAME" in expected
    for word in sorted(expected & tables().keywords):
        if not names or word in tables().reserved or END in expected or not tokens:
            yield Completion(word, "keyword")
    if program is None:
        return
    if last in _OF_KIND:
        yield from (one for one in _declared(program) if one.kind == _OF_KIND[last])
    elif "TYPE" in expected and last not in _DECLARING:
        yield from (one for one in _declared(program) if one.kind in ("type", "enum"))
    if names and last not in _OF_KIND and last not in _DECLARING:
        yield from (Completion(name, _LOCAL, of) for name, of in _locals(tokens, program).items())
        if last == "when" and any(one.terminal == "scenario" for one in tokens[:1]):
            yield from (Completion(name, "action") for name in program.actions)
        else:
            shown = ("object", "param", "member", "derive", "fact", "effect", "actor")
            yield from (one for one in _declared(program) if one.kind in shown)


def _declared(program: m.Program) -> Iterator[Completion]:
    """Yield the declarations of a program, with the kinds that `completions` asks for."""
    yield from (Completion(name, "type") for name in program.types)
    for enum in program.enums.values():
        yield Completion(enum.name, "enum", ", ".join(enum.members))
        yield from (Completion(member, "member", enum.name) for member in enum.members)
    yield from (Completion(one.name, "object", one.of) for one in program.objects.values())
    yield from (Completion(n, "param", show_type(p.type)) for n, p in program.params.items())
    yield from (Completion(n, "derive", show_type(d.type)) for n, d in program.derives.items()
                if d.over_time is None)  # fmt: skip
    for fluent in program.fluents.values():
        if fluent.fluent_kind != "attribute" and not fluent.monitor:
            yield Completion(fluent.name, "fact", show_type(fluent.type))
    if program.actor is not None:
        yield Completion(program.actor_name, "actor", program.actor)
    yield from (Completion(name, "event") for name in program.events)
    yield from (Completion(name, "phase") for name in program.phases)
    yield from (Completion(name, "rule") for name in (*program.actions, *program.laws))
    for action in program.actions.values():
        yield from (
            Completion(one.label, "label", action.name) for one in action.requires if one.label
        )
    for world in program.worlds.values():
        yield from (Completion(one.name, "ending", world.name) for one in world.endings)


# ---- after a dot -----------------------------------------------------------------------


def _members(program: m.Program, owner: str) -> Iterator[Completion]:
    """Yield the attributes, collections and derives of a type; of all types where it is unknown."""
    for fluent in program.fluents.values():
        first = _object(fluent.params[0].type) if fluent.params else ""
        if fluent.fluent_kind == "attribute" and _either(program, owner, first):
            yield Completion(fluent.name, "attribute", show_type(fluent.type))
        elif fluent.fluent_kind != "attribute" and _either(program, owner, first) and first:
            yield Completion(fluent.name, "fact", show_type(fluent.type))
        end = _object(fluent.type) if fluent.fluent_kind != "relation" else first
        for name in (fluent.inverse, fluent.closure):
            if name is not None and _either(program, owner, end):
                yield Completion(name, "reverse", f"collection of {first}")
    for derive in program.derives.values():
        if derive.params and _either(program, owner, _object(derive.params[0].type)):
            yield Completion(derive.name, "derive", show_type(derive.type))


def _either(program: m.Program, one: str, other: str) -> bool:
    """Return whether a value of the first type may have a member that the second type declares."""
    if not one or not other:
        return bool(other) and not one
    return program.is_subtype(one, other) or program.is_subtype(other, one)


def _object(kind: m.ValueType) -> str:
    """Return the name of an object type or of a collection's element type; empty for others."""
    if isinstance(kind, m.CollectionType):
        return _object(kind.element)
    return kind.name if isinstance(kind, m.ObjectType) else ""


def _chain(tokens: list[Token]) -> list[str]:
    """Return the names of ``a.b.c`` at the end, without arguments; empty for other expressions."""
    found: list[str] = []
    place = len(tokens) - 1
    while place >= 0:
        if tokens[place].terminal == ")":
            depth = 0
            while place >= 0:
                depth += {")": 1, "(": -1}.get(tokens[place].terminal, 0)
                place -= 1
                if depth == 0:
                    break
        if place < 0 or not tokens[place].text[0].isalpha():
            return []
        found.insert(0, tokens[place].text)
        if place == 0 or tokens[place - 1].terminal != ".":
            return found
        place -= 2
    return []


def _type_of(chain: list[str], tokens: list[Token], program: m.Program) -> str:
    """Return the object type of a path; empty if it is not known."""
    if not chain:
        return ""
    return _along(chain, _locals(tokens, program), program)


def _along(chain: list[str], known: Mapping[str, str], program: m.Program) -> str:
    first, *rest = chain
    of = known.get(first, "")
    if first == program.actor_name and program.actor is not None:
        of = program.actor
    elif not of:
        objects = (one.of for one in program.objects.values() if one.name == first)
        of = next(objects, "") or _result(program, "", first)
    for name in rest:
        of = _result(program, of, name) if of else ""
    return of


def _result(program: m.Program, owner: str, name: str) -> str:
    """Return the object type of a member of a type, or of a fact with that name."""
    for fluent in program.fluents.values():
        first = _object(fluent.params[0].type) if fluent.params else ""
        if fluent.name == name and (not owner or _either(program, owner, first)):
            return _object(fluent.type)
        if name in (fluent.inverse, fluent.closure):
            end = fluent.params[-1].type if fluent.fluent_kind == "relation" else None
            return first if end is None else _object(end)
    derive = program.derives.get(name)
    return _object(derive.type) if derive is not None else ""


def _locals(tokens: list[Token], program: m.Program) -> dict[str, str]:
    """Return the names that an item binds before the cursor, with their types as far as written."""
    found: dict[str, str] = {}
    for place, token in enumerate(tokens[1:], 1):
        name, after = tokens[place - 1], tokens[place + 1 : place + 2]
        if not name.text[0].isalpha() or name.terminal in tables().reserved:
            continue
        if token.terminal in (":", "is") and after and after[0].terminal == "TYPE":
            found[name.text] = after[0].text
        elif (
            token.terminal == "in"
            and place > 1
            and tokens[place - 2].terminal in ("for", ",", "pick", "{")
        ) or (token.terminal == "=" and tokens[place - 2].terminal == "let"):
            found[name.text] = _along(_path(tokens[place + 1 :]), found, program)
    return found


def _path(tokens: list[Token]) -> list[str]:
    """Return the names of ``a.b.c`` at the beginning of some tokens."""
    found: list[str] = []
    for place, token in enumerate(tokens):
        if place % 2 == 0 and token.text[0].isalpha():
            found.append(token.text)
        elif token.terminal != ".":
            break
    return found or [""]
