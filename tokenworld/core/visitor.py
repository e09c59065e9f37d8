"""The one way to read core: a method for each class of node, and no default.

A reader that lacks a method cannot be instantiated, so a new node is never ignored.
``EnvT`` is the environment that a reader passes on (bindings, a state), ``ResultT`` its result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, Generic, TypeVar

from tokenworld.core import nodes as core

EnvT = TypeVar("EnvT")
ResultT = TypeVar("ResultT")


class TermVisitor(ABC, Generic[EnvT, ResultT]):
    """Makes a result of a term and an environment."""

    def term(self, term: core.Term, env: EnvT) -> ResultT:
        """The result of one term. `KeyError` for a class that is no term of core."""
        method: Any = getattr(self, _TERMS[type(term)])
        result: ResultT = method(term, env)
        return result

    @abstractmethod
    def constant(self, term: core.Constant, env: EnvT) -> ResultT: ...
    @abstractmethod
    def object_name(self, term: core.ObjectName, env: EnvT) -> ResultT: ...
    @abstractmethod
    def param_value(self, term: core.ParamValue, env: EnvT) -> ResultT: ...
    @abstractmethod
    def variable(self, term: core.Variable, env: EnvT) -> ResultT: ...
    @abstractmethod
    def actor(self, term: core.Actor, env: EnvT) -> ResultT: ...
    @abstractmethod
    def read(self, term: core.Read, env: EnvT) -> ResultT: ...
    @abstractmethod
    def members(self, term: core.Members, env: EnvT) -> ResultT: ...
    @abstractmethod
    def call(self, term: core.Call, env: EnvT) -> ResultT: ...
    @abstractmethod
    def fold(self, term: core.Fold, env: EnvT) -> ResultT: ...
    @abstractmethod
    def choice(self, term: core.Choice, env: EnvT) -> ResultT: ...
    @abstractmethod
    def type_test(self, term: core.TypeTest, env: EnvT) -> ResultT: ...
    @abstractmethod
    def derive_call(self, term: core.DeriveCall, env: EnvT) -> ResultT: ...
    @abstractmethod
    def text(self, term: core.Text, env: EnvT) -> ResultT: ...


class StatementVisitor(ABC, Generic[EnvT, ResultT]):
    """Makes a result of a statement and an environment."""

    def statement(self, statement: core.Statement, env: EnvT) -> ResultT:
        """The result of one statement. `KeyError` for a class that is no statement of core."""
        method: Any = getattr(self, _STATEMENTS[type(statement)])
        result: ResultT = method(statement, env)
        return result

    @abstractmethod
    def let(self, statement: core.Let, env: EnvT) -> ResultT: ...
    @abstractmethod
    def write(self, statement: core.Write, env: EnvT) -> ResultT: ...
    @abstractmethod
    def choose(self, statement: core.If, env: EnvT) -> ResultT: ...
    @abstractmethod
    def loop(self, statement: core.For, env: EnvT) -> ResultT: ...
    @abstractmethod
    def create(self, statement: core.Create, env: EnvT) -> ResultT: ...
    @abstractmethod
    def destroy(self, statement: core.Destroy, env: EnvT) -> ResultT: ...
    @abstractmethod
    def require(self, statement: core.Require, env: EnvT) -> ResultT: ...
    @abstractmethod
    def emit(self, statement: core.Emit, env: EnvT) -> ResultT: ...
    @abstractmethod
    def say(self, statement: core.Say, env: EnvT) -> ResultT: ...
    @abstractmethod
    def describe(self, statement: core.Describe, env: EnvT) -> ResultT: ...
    @abstractmethod
    def reward(self, statement: core.Reward, env: EnvT) -> ResultT: ...


_TERMS: Final[dict[type, str]] = {
    core.Constant: "constant", core.ObjectName: "object_name", core.ParamValue: "param_value",
    core.Variable: "variable", core.Actor: "actor", core.Read: "read", core.Members: "members",
    core.Call: "call", core.Fold: "fold", core.Choice: "choice", core.TypeTest: "type_test",
    core.DeriveCall: "derive_call", core.Text: "text",
}  # fmt: skip
_STATEMENTS: Final[dict[type, str]] = {
    core.Let: "let", core.Write: "write", core.If: "choose", core.For: "loop",
    core.Create: "create", core.Destroy: "destroy", core.Require: "require", core.Emit: "emit",
    core.Say: "say", core.Describe: "describe", core.Reward: "reward",
}  # fmt: skip
