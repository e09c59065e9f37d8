"""A domain from its file: sections in any order, several of a kind joined."""

from __future__ import annotations

from tokenworld.diagnostics import Related, Severity, Source
from tokenworld.planning.reader.faults import Faults, Skip
from tokenworld.planning.reader.frame import FileReader, framed
from tokenworld.planning.reader.parts import show
from tokenworld.planning.reader.sexpr import Group, Item, Word
from tokenworld.planning.reader.tree import (
    ActionDecl,
    DerivedDecl,
    Domain,
    FunctionDecl,
    Name,
    PredicateDecl,
    Truth,
    Typed,
)

__all__ = ["read_domain"]


class _Reader(FileReader):
    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.requirements: list[Name] = []
        self.types: list[Typed] = []
        self.constants: list[Typed] = []
        self.predicates: list[PredicateDecl] = []
        self.functions: list[FunctionDecl] = []
        self.derived: list[DerivedDecl] = []
        self.actions: list[ActionDecl] = []

    def _requirements(self, item: Group) -> None:
        for part in item.items[1:]:
            if not isinstance(part, Word) or not part.text.startswith(":") or len(part.text) == 1:
                message = f"`{show(part)[:40]}` is no requirement."
                raise self.faults.unexpected(message, part.span, "Write a word such as `:strips`.")
            self.requirements.append(Name(part.text[1:], part.span))

    def _types(self, item: Group) -> None:
        self.types += self.typed(item.items[1:], variables=False)

    def _declared_types(self) -> tuple[Typed, ...]:
        """The types without declarations that say nothing: below `object`, and elsewhere too."""
        below = {one.name.key: one for one in self.types if not _below_root(one)}
        if "object" in (one.name.key for one in self.types):
            return tuple(self.types)  # it is a type like any other there
        for one in self.types:
            if _below_root(one) and one.name.key in below:
                again = Related(below[one.name.key].name.span, "this one counts")
                what = f"The type `{one.name.text}` is declared twice, once below `object`."
                hint = "Remove this one: every type is below `object`."
                self.faults.tell("TW0203", what, one.name.span, hint=hint, related=(again,),
                                 severity=Severity.WARNING)  # fmt: skip
        return tuple(one for one in self.types if not (_below_root(one) and one.name.key in below))

    def _constants(self, item: Group) -> None:
        self.constants += self.typed(item.items[1:], variables=False)

    def _predicates(self, item: Group) -> None:
        for part in item.items[1:]:
            try:
                name, params = self._signature(part, "predicate")
                if name.text != "=":  # built in, and yet declared by some
                    self.predicates.append(PredicateDecl(name, params))
            except Skip:
                continue

    def _signature(self, item: Item, what: str) -> tuple[Name, tuple[Typed, ...]]:
        if not isinstance(item, Group):
            message = f"`{item.text}` stands where a {what} should be declared."
            raise self.faults.unexpected(message, item.span, f"Write `({item.text})`.")
        name = self.name(item.items[0] if item.items else None, f"{what}'s name", item.span)
        return name, self.typed(item.items[1:], variables=True)

    def _functions(self, item: Group) -> None:
        """Like a typed list, whose names are signatures and whose types are results."""
        waiting: list[tuple[Name, tuple[Typed, ...]]] = []
        parts, index = item.items[1:], 0
        while index < len(parts):
            part = parts[index]
            if isinstance(part, Word) and part.text == "-":
                of = self.type_name(parts[index + 1] if index + 1 < len(parts) else None, part.span)
                self._declare(waiting, None if of.key == "number" else of)
                waiting = []
                index += 2
                continue
            waiting.append(self._signature(part, "function"))
            index += 1
        self._declare(waiting, None)

    def _declare(self, signatures: list[tuple[Name, tuple[Typed, ...]]], of: Name | None) -> None:
        self.functions += [FunctionDecl(name, params, of) for name, params in signatures]

    def _derived(self, item: Group) -> None:
        head, condition = self.exactly(item, 2, "a predicate and a condition")
        name, params = self._signature(head, "derived predicate")
        self.derived.append(DerivedDecl(name, params, self.condition(condition), item.span))

    def _action(self, item: Group) -> None:
        name = self.name(item.items[1] if len(item.items) > 1 else None, "action's name", item.span)
        fields = self._fields(item, name)
        params = fields.get(":parameters")
        bound = () if params is None else self.params(params, name.span)
        before, after = fields.get(":precondition"), fields.get(":effect")
        condition = Truth(True, name.span) if before is None else self.attempt_condition(before)
        effects = () if after is None else self.effects(after)
        if condition is None:
            raise Skip
        self.actions.append(ActionDecl(name, bound, condition, effects, item.span))

    def _fields(self, item: Group, name: Name) -> dict[str, Item]:
        """The keywords of an action with what follows each."""
        fields: dict[str, Item] = {}
        parts, index = item.items[2:], 0
        while index < len(parts):
            word = parts[index]
            key = word.key if isinstance(word, Word) else ""
            if key not in (":parameters", ":precondition", ":effect"):
                known = (":parameters", ":precondition", ":effect")
                self.unknown_word(word, key, known)
            if key in fields:
                message = f"`{key}` stands twice in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Join the two with `and`.")
            value = parts[index + 1] if index + 1 < len(parts) else None
            if value is None or (isinstance(value, Word) and value.text.startswith(":")):
                message = f"Nothing follows `{key}` in action `{name.text}`."
                raise self.faults.unexpected(message, word.span, "Write `()` for nothing.")
            fields[key] = value
            index += 2
        return fields

    def read(self, source: Source, name: Name, items: tuple[Item, ...]) -> Domain:
        self.sections(
            items,
            {
                ":requirements": self._requirements,
                ":types": self._types,
                ":constants": self._constants,
                ":predicates": self._predicates,
                ":functions": self._functions,
                ":derived": self._derived,
                ":action": self._action,
            },
        )
        return Domain(
            source,
            name,
            tuple(self.requirements),
            self._declared_types(),
            tuple(self.constants),
            tuple(self.predicates),
            tuple(self.functions),
            tuple(self.derived),
            tuple(self.actions),
            tuple(self.choices.values()),
        )


def _below_root(of: Typed) -> bool:
    return of.type is None or of.type.key == "object"


def read_domain(source: Source, faults: Faults) -> Domain | None:
    """The domain of a text as written, as far as it could be read; names are not looked up.

    ``None`` where the text is no domain at all. Everything wrong has been told to ``faults``.
    """
    reader = _Reader(faults)
    frame = framed(source, faults, reader, "domain", "Name the domain file first.")
    return None if frame is None else reader.read(source, *frame)
