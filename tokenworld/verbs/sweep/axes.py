"""The values that a sweep gives to the params of a world: ``laying=1..9``, ``bite=10%,25%``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite

from tokenworld.diagnostics import Diagnostic, Failure, Span, did_you_mean
from tokenworld.ground import Raw, read_value, scaled_text
from tokenworld.model import BoolType, EnumType, NumberType, Param, RealType, ValueType
from tokenworld.session.loading import OpenWorld

__all__ = ["Axis", "MOST_CELLS", "axes_of"]


MOST_CELLS = 1_000_000
"""So many values, and so many cells, a sweep has at most."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A param and the values it takes, in the order given; ``shown`` are these as authors write."""

    name: str
    values: tuple[Raw, ...]
    shown: tuple[str, ...]


def axes_of(world: OpenWorld, given: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of ``name=values`` options; `Failure` (TW0006) with the place of the param.

    Values are parted by commas: constants as in the world's file, and ranges of numbers
    ``low..high`` or ``low..high..step``. The step is one unit of the last declared decimal.
    """
    axes: list[Axis] = []
    for one in given:
        axis = _axis(world, one)
        if any(axis.name == other.name for other in axes):
            what = f"The param `{axis.name}` is given twice."
            raise _refused(what, "Give all its values in one `--param`, parted by commas.")
        axes.append(axis)
    return tuple(axes)


def _axis(world: OpenWorld, given: str) -> Axis:
    name, equals, values = given.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        hint = "Write `--param NAME=VALUES`: `laying=1..9`, `bite=10%,25%`."
        raise _refused(f"`{given}` gives no param its values.", hint)
    param = _declared(world, name)
    words = [word.strip() for word in values.split(",")]
    found = [value for word in words for value in _Values(world, param).of(word)]
    seen: set[Raw] = set()
    for value in found:
        if value in seen:
            what = f"`{name}` takes the value {_shown(world, param, value)} twice."
            raise _refused(what, "Give each value once.", param.span)
        seen.add(value)
    return Axis(name, tuple(found), tuple(_shown(world, param, one) for one in found))


def _refused(message: str, hint: str, span: Span | None = None) -> Failure:
    label = "" if span is None else "declared here"
    return Failure(Diagnostic("TW0006", message, span, label, hint=hint))


def _declared(world: OpenWorld, name: str) -> Param:
    params = world.program.params
    if name in params:
        return params[name]
    known = ", ".join(f"`{one}`" for one in params)
    hint = did_you_mean(name, params) or (
        f"Its params are {known}." if known else "Declare one: `param bite: 0 to 9 = 3`."
    )
    what = f"The world `{world.world.name}` has no param `{name}`."
    raise Failure(Diagnostic("TW0006", what, world.world.span, "this world", hint=hint))


@dataclass(frozen=True, slots=True)
class _Values:
    """Reads the values of one param."""

    world: OpenWorld
    param: Param

    def of(self, word: str) -> Iterator[Raw]:
        """The values of one part between commas."""
        parts = [part.strip() for part in word.split("..")]
        if len(parts) == 1 or not isinstance(self.param.type, NumberType):
            yield self._one(word)
        elif len(parts) > 3:
            hint = "Write `low..high` or `low..high..step`."
            raise _refused(f"`{word}` is no range.", hint, self.param.span)
        else:
            yield from self._range(word, parts, self.param.type)

    def _range(self, word: str, parts: Sequence[str], kind: NumberType) -> range:
        low, high = self._number(parts[0]), self._number(parts[1])
        step = self._number(parts[2], free=kind) if len(parts) == 3 else 1
        if step < 1 or low > high:
            what = f"The range `{word}` of `{self.param.name}` is empty."
            hint = "Begin with the smaller number, and let the step be above 0."
            raise _refused(what, hint, self.param.span)
        found = range(low, high + 1, step)
        if len(found) > MOST_CELLS:
            what = f"The range `{word}` has {len(found):,} values."
            raise _refused(what, f"Take at most {MOST_CELLS:,}, with a step.", self.param.span)
        return found

    def _number(self, word: str, free: NumberType | None = None) -> int:
        """An end of a range, or with ``free`` its step, which no bounds hold."""
        kind = self.param.type
        if free is not None:
            kind = NumberType(None, None, free.decimals, free.unit)
        value = self._one(word, kind)
        assert isinstance(value, int)  # what is read as a NumberType
        return value

    def _one(self, word: str, kind: ValueType | None = None) -> Raw:
        try:
            return self._read(word, kind or self.param.type)
        except ValueError as reason:
            what = f"`{word}` does not fit the param `{self.param.name}`: {reason}."
            raise _refused(what, self._hint(), self.param.span) from None

    def _read(self, word: str, kind: ValueType) -> Raw:
        program, value = self.world.program, word if word != "none" else None
        match kind:
            case _ if value is None:
                return read_value(program, {}, kind, None)
            case NumberType():
                return read_value(program, {}, kind, _bare(word, kind))
            case BoolType() if word in ("true", "false"):
                return word == "true"
            case RealType() if isfinite(float(word)):
                return float(word)
            case _:
                return read_value(program, self.world.instance.numbers, kind, word)

    def _hint(self) -> str:
        match self.param.type:
            case NumberType(low=int(low), high=int(high)) as kind:
                ends = f"{_number_text(low, kind)} to {_number_text(high, kind)}"
                return f"Give numbers from {ends}."
            case EnumType(name=enum):
                return f"Give some of {', '.join(self.world.program.enums[enum].members)}."
            case BoolType():
                return "Give `true`, `false` or both, parted by a comma."
            case _:
                return "Give values as the declaration has them."


def _bare(word: str, kind: NumberType) -> str:
    """The digits of a number: without its unit, a percentage as a part of one."""
    if kind.unit == "%" and word.endswith("%"):
        try:
            return str(Decimal(word[:-1]).scaleb(-2))
        except InvalidOperation:
            raise ValueError(f"{word!r} is not a number") from None
    return word.removesuffix(kind.unit) if kind.unit else word


def _shown(world: OpenWorld, param: Param, value: Raw) -> str:
    """A value as authors write it."""
    match param.type:
        case _ if value is None:
            return "none"
        case NumberType() as kind if isinstance(value, int):
            return _number_text(value, kind)
        case EnumType(name=enum) if isinstance(value, int):
            return world.program.enums[enum].members[value]
        case BoolType():
            return "true" if value else "false"
        case _ if isinstance(value, str | float):
            return str(value)
        case _:
            assert isinstance(value, int)  # an object
            return world.instance.names[value]


def _number_text(value: int, kind: NumberType) -> str:
    if kind.unit == "%" and kind.decimals >= 2:
        return f"{scaled_text(value, kind.decimals - 2)}%"
    return f"{scaled_text(value, kind.decimals)}{kind.unit}"
