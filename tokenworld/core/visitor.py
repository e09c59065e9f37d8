"""The one way to read core: a method for each class of node, and no default.

A reader that lacks a method cannot be instantiated, so a new node is never passed over in silence.
``EnvT`` is what a reader carries along (bindings, a state); ``ResultT`` is what it makes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, Generic, TypeVar

from tokenworld.core.nodes import (
    Actor,
    Call,
    Choice,
    Constant,
    Create,
    DeriveCall,
    Describe,
    Destroy,
    Emit,
    Fold,
    For,
    If,
    Let,
    Members,
    ObjectName,
    ParamValue,
    Read,
    Require,
    Reward,
    Say,
    Statement,
    Term,
    Text,
    TypeTest,
    Variable,
    Write,
)

__all__ = ["StatementVisitor", "TermVisitor"]

EnvT = TypeVar("EnvT")
ResultT = TypeVar("ResultT")


class TermVisitor(ABC, Generic[EnvT, ResultT]):
    """Makes a result of a term and an environment."""

    def term(self, term: Term, env: EnvT) -> ResultT:
        """The result of one term. `KeyError` for a class that is no term of core."""
        method: Any = getattr(self, _TERMS[type(term)])
        result: ResultT = method(term, env)
        return result

    @abstractmethod
    def constant(self, term: Constant, env: EnvT) -> ResultT: ...
    @abstractmethod
    def object_name(self, term: ObjectName, env: EnvT) -> ResultT: ...
    @abstractmethod
    def param_value(self, term: ParamValue, env: EnvT) -> ResultT: ...
    @abstractmethod
    def variable(self, term: Variable, env: EnvT) -> ResultT: ...
    @abstractmethod
    def actor(self, term: Actor, env: EnvT) -> ResultT: ...
    @abstractmethod
    def read(self, term: Read, env: EnvT) -> ResultT: ...
    @abstractmethod
    def members(self, term: Members, env: EnvT) -> ResultT: ...
    @abstractmethod
    def call(self, term: Call, env: EnvT) -> ResultT: ...
    @abstractmethod
    def fold(self, term: Fold, env: EnvT) -> ResultT: ...
    @abstractmethod
    def choice(self, term: Choice, env: EnvT) -> ResultT: ...
    @abstractmethod
    def type_test(self, term: TypeTest, env: EnvT) -> ResultT: ...
    @abstractmethod
    def derive_call(self, term: DeriveCall, env: EnvT) -> ResultT: ...
    @abstractmethod
    def text(self, term: Text, env: EnvT) -> ResultT: ...


class StatementVisitor(ABC, Generic[EnvT, ResultT]):
    """Makes a result of a statement and an environment."""

    def statement(self, statement: Statement, env: EnvT) -> ResultT:
        """The result of one statement. `KeyError` for a class that is no statement of core."""
        method: Any = getattr(self, _STATEMENTS[type(statement)])
        result: ResultT = method(statement, env)
        return result

    @abstractmethod
    def let(self, statement: Let, env: EnvT) -> ResultT: ...
    @abstractmethod
    def write(self, statement: Write, env: EnvT) -> ResultT: ...
    @abstractmethod
    def choose(self, statement: If, env: EnvT) -> ResultT: ...
    @abstractmethod
    def loop(self, statement: For, env: EnvT) -> ResultT: ...
    @abstractmethod
    def create(self, statement: Create, env: EnvT) -> ResultT: ...
    @abstractmethod
    def destroy(self, statement: Destroy, env: EnvT) -> ResultT: ...
    @abstractmethod
    def require(self, statement: Require, env: EnvT) -> ResultT: ...
    @abstractmethod
    def emit(self, statement: Emit, env: EnvT) -> ResultT: ...
    @abstractmethod
    def say(self, statement: Say, env: EnvT) -> ResultT: ...
    @abstractmethod
    def describe(self, statement: Describe, env: EnvT) -> ResultT: ...
    @abstractmethod
    def reward(self, statement: Reward, env: EnvT) -> ResultT: ...


_TERMS: Final[dict[type, str]] = {
    Constant: "constant", ObjectName: "object_name", ParamValue: "param_value",
    Variable: "variable", Actor: "actor", Read: "read", Members: "members", Call: "call",
    Fold: "fold", Choice: "choice", TypeTest: "type_test", DeriveCall: "derive_call", Text: "text",
}  # fmt: skip
_STATEMENTS: Final[dict[type, str]] = {
    Let: "let", Write: "write", If: "choose", For: "loop", Create: "create", Destroy: "destroy",
    Require: "require", Emit: "emit", Say: "say", Describe: "describe", Reward: "reward",
}  # fmt: skip
