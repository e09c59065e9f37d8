"""`frozen`: dataclasses that are cheap to define, for the hundreds of classes of values.

The standard ``@dataclass(frozen=True, slots=True)`` compiles six methods for every class, 0.4 ms
each; the program has some 400 classes that `tw audit` loads, and a small world takes less time than
they do. Here a method is made when it is first called, and most never are; its code is compiled
once for all classes with as many fields. Immutability is enforced by the type checker
(`dataclass_transform`), not at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform

ClassT = TypeVar("ClassT")
Lines = list[str]


def _show(self: object) -> str:
    names = type(self).__match_args__  # type: ignore[attr-defined]
    shown = (f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _init_text(of: tuple[Field[Any], ...], space: dict[str, Any]) -> Lines:
    """``__init__`` of fields that are called ``f0``, ``f1`` …, with their defaults in ``space``."""
    params, lines, given = ["self"], list[str](), list[Any]()
    for number, one in enumerate(of):
        name, value = f"f{number}", f"_{number}"
        made = name if one.init else value
        if one.default_factory is not MISSING:
            space[value], default = one.default_factory, MISSING
            made = f"{value}() if {name} is _MISSING else {name}" if one.init else f"{value}()"
        elif one.init or one.default is not MISSING:
            space[value] = default = one.default
        else:
            continue  # `__post_init__` gives it a value
        if one.init:
            params.append(name)
            optional = default is not MISSING or one.default_factory is not MISSING
            given += [default] if optional else []
        lines.append(f"  self.{name} = {made}")
    space["_given"] = tuple(given)
    return [f"def method({', '.join(params)}):", *(lines or ["  pass"])]


def _values_text(of: tuple[Field[Any], ...], whose: str) -> str:
    return "".join(f"{whose}.f{number}, " for number, one in enumerate(of) if one.compare)


def _text(made: type, of: tuple[Field[Any], ...], name: str, space: dict[str, Any]) -> Lines:
    if name == "__init__":
        lines = _init_text(of, space)
        return [*lines, "  self.__post_init__()"] if hasattr(made, "__post_init__") else lines
    if name == "__hash__":
        space["_named"] = made.__name__
        return ["def method(self):", f"  return hash((_named, {_values_text(of, 'self')}))"]
    return [
        "def method(self, other):",
        "  if self is other:",
        "    return True",
        "  if self.__class__ is not other.__class__:",
        "    return NotImplemented",
        f"  return ({_values_text(of, 'self')}) == ({_values_text(of, 'other')})",
    ]


@cache
def _compiled(text: str) -> CodeType:
    """The code of a method. Most classes with as many fields have the same but for their names."""
    space: dict[str, Any] = {}
    exec(text, space)
    return space["method"].__code__  # type: ignore[no-any-return]


def _method(made: type, name: str) -> FunctionType:
    """A method for the fields of a class."""
    space: dict[str, Any] = {"_MISSING": MISSING, "_given": None}
    of = fields(made)
    code = _compiled("\n".join(_text(made, of, name, space)))
    real = {f"f{number}": one.name for number, one in enumerate(of)}
    code = code.replace(
        co_name=name,
        co_qualname=f"{made.__qualname__}.{name}",
        co_names=tuple([real.get(one, one) for one in code.co_names]),
        co_varnames=tuple([real.get(one, one) for one in code.co_varnames]),
    )
    return FunctionType(code, space, name, space.pop("_given"))


def _on_first_use(made: type, name: str) -> Callable[..., Any]:
    """A method that is made when it is first called."""

    def method(self: object, *args: Any, **given: Any) -> Any:
        compiled = _method(made, name)
        setattr(made, name, compiled)
        return compiled(self, *args, **given)

    return method


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[ClassT]) -> type[ClassT]:
    """A slotted dataclass whose instances compare, hash and print by their fields.

    A method of these that the class has itself is kept.
    """
    own = vars(cls).keys()
    kept = [name for name in ("__init__", "__eq__", "__hash__") if name in own]
    shown = "__repr__" in own
    if cls.__doc__ is None:  # or the signature of `__init__` would be made for it
        cls.__doc__ = cls.__name__
    made = dataclass(slots=True, init=False, repr=False, eq=False)(cls)
    for name in ("__init__", "__eq__", "__hash__"):
        if name not in kept:
            setattr(made, name, _on_first_use(made, name))
    if not shown:
        made.__repr__ = _show  # type: ignore[method-assign]
    return made
