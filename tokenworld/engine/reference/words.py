"""Prose: templates, the names of things, what `describe` says (language.md §11)."""

from __future__ import annotations

from typing import Any, assert_never

from tokenworld import model as m
from tokenworld.core import StatementVisitor
from tokenworld.core import nodes as core
from tokenworld.core.desugar import Desugarer
from tokenworld.core.rules import Called
from tokenworld.engine.reference.terms import Terms
from tokenworld.engine.reference.values import Env, Known
from tokenworld.ground import Prose, Raw
from tokenworld.ground.secrets import Secrets


class Words(Terms):
    """Evaluates terms, and renders templates."""

    def __init__(self, known: Known, prose: Prose) -> None:
        super().__init__(known)
        self.prose = prose
        public, sugar = Secrets(self.program).public, Desugarer(self.program)
        self.describes = tuple(sugar.description(public(one)) for one in self.program.describes)

    # ---- templates --------------------------------------------------------------------------

    def rendered(self, template: core.Template, env: Env) -> str:
        return "".join(
            self.shown(part.term, env, part.article) if isinstance(part, core.Hole) else part.text
            for part in template.parts
        )

    def shown(self, term: core.Term, env: Env, article: str = "") -> str:
        """The value of a term as a reader sees it."""
        value = self.term(term, env)
        kind = term.type
        if isinstance(kind, m.CollectionType):
            things = isinstance(kind.element, m.ObjectType)
            listed = [one for one in value if not (things and one == env.me)]
            words = [self.word(kind.element, one, env) for one in listed]
            return self.prose.listing(words, article)
        return self.word(kind, value, env, article)

    def word(self, kind: m.ValueType, value: Any, env: Env, article: str = "") -> str:
        """One value as a reader sees it."""
        if isinstance(kind, m.BoolType):
            return "true" if value else "false"
        if value is None:
            return "nothing"
        match kind:
            case m.ObjectType():
                return self.prose.named(self.name(value, env), article)
            case m.EnumType(name=enum):
                member = self.program.enums[enum].members[value]
                return self.prose.named(self.prose.identifier(member), article)
            case m.NumberType(decimals=decimals, unit=unit):
                return self.prose.number(value, decimals, unit)
            case m.RealType():
                return self.prose.real(value)
            case m.TextType() | m.NoneType() | m.CollectionType():
                return str(value)
            case _:
                assert_never(kind)

    # ---- names ------------------------------------------------------------------------------

    def name(self, number: int, env: Env) -> str:
        """The title, else the most specific `called`, else the identifier."""
        decl = self.declared(number, env)
        if decl is not None and decl.title is not None:
            return decl.title
        rule = self.called(number, env)
        if rule is not None:
            return self.shown(rule.name, env.only({rule.param.name: number}))
        return self.prose.identifier(env.state.names[number])

    def declared(self, number: int, env: Env) -> m.ObjectDecl | None:
        """The line that declares an object, if it was not created."""
        objects, name = self.instance.objects, env.state.names[number]
        known = number < len(objects) and objects[number].name == name
        return objects[number].decl if known else None

    def called(self, number: int, env: Env) -> Called | None:
        """The most specific `called` rule for an object."""
        return self._nearest(self.rules.called, number, env)  # type: ignore[no-any-return]

    def words(self, number: int, env: Env) -> tuple[str, ...]:
        """The present name of an object, then everything else it is known by."""
        found = [self.name(number, env)]
        rule = self.called(number, env)
        if rule is not None:
            inner = env.only({rule.param.name: number})
            found += [self.shown(word, inner) for word in rule.aka]
        decl = self.declared(number, env)
        if decl is not None:
            aka = self.rules.objects[decl.world or "", decl.name].aka
            found += [str(self.term(word, env)) for word in aka]
        found.append(env.state.names[number])
        return tuple(dict.fromkeys(found))

    def _nearest(self, rules: tuple[Any, ...], number: int, env: Env) -> Any:
        """The rule whose parameter has the most specific type."""
        kind = env.state.kind(number)
        for ancestor in self.program.types[kind].ancestors if kind is not None else ():
            for rule in rules:
                if rule.param.type == m.ObjectType(ancestor):
                    return rule
        return None

    def in_scope(self, number: int, env: Env) -> bool:
        """Return whether the acting object may name this one: `scope`, else `sees`, else all."""
        kind = env.state.kinds.get(number)
        if kind is None:
            return False
        rule = self._nearest(self.rules.scopes, number, env)
        if rule is not None:
            return self.holds(rule.condition, env.only({rule.param.name: number}))
        sees = self.program.derives.get("sees")
        if sees is None or len(sees.params) != 2 or not isinstance(sees.type, m.BoolType):
            return True
        second = sees.params[1].type
        if not isinstance(second, m.ObjectType) or not self.program.is_subtype(kind, second.name):
            return True
        return bool(self.derived("sees", [env.me, number], env))

    # ---- descriptions -------------------------------------------------------------------------

    def described(self, number: Raw, env: Env) -> str:
        """The text of `describe x`, lines joined; empty for `none`."""
        if number is None or env.state.kind(number) is None:
            return ""
        assert isinstance(number, int)
        rule = self._nearest(self.describes, number, env)
        if rule is None:
            return ""
        return "\n".join(self.said(rule.body, env.only({rule.param.name: number})))

    def said(self, body: core.Body, env: Env) -> list[str]:
        """The lines of a body that only speaks, on the state it is evaluated on."""
        spoken = _Spoken(self)
        for statement in body:
            env = spoken.statement(statement, env)
        return spoken.lines

    def slot_text(self, term: core.Term, env: Env) -> str:
        """The text of a phrase slot that is no bare parameter."""
        return self.shown(term, env)


class _Spoken(StatementVisitor[Env, Env]):
    """Gathers the lines of a body that only speaks; a statement makes the environment after it."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.lines: list[str] = []

    def let(self, statement: core.Let, env: Env) -> Env:
        assert not isinstance(statement.value, core.Draw)  # nothing is drawn where one only speaks
        return env.bind(statement.names[0], self.words.term(statement.value, env))

    def choose(self, statement: core.If, env: Env) -> Env:
        taken = self.words.holds(statement.condition, env)
        self.lines += self.words.said(statement.then if taken else statement.otherwise, env)
        return env

    def loop(self, statement: core.For, env: Env) -> Env:
        for inner in self.words.bindings(statement.binders, statement.where, env):
            self.lines += self.words.said(statement.body, inner)
        return env

    def say(self, statement: core.Say, env: Env) -> Env:
        self.lines.append(self.words.rendered(statement.template, env))
        return env

    def describe(self, statement: core.Describe, env: Env) -> Env:
        self.lines.append(self.words.described(self.words.term(statement.target, env), env))
        return env

    def _silent(self, statement: core.Statement, env: Env) -> Env:
        return env

    write = create = destroy = require = emit = reward = _silent
