"""One tick of many runs through an automaton as vector instructions, for numba to compile."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokenworld.engine.rollout.abreast import SIDE
from tokenworld.engine.rollout.striding import REWARD_BIT, STATE_MASK

__all__ = ["has_gather", "pace"]

WIDTH = 8
"""So many numbers of 64 bits are in a vector; LLVM splits it where registers are smaller."""


class _Vectors:
    """The instructions of `pace`."""

    def __init__(self, context: Any, builder: Any, arrays: tuple[Any, ...]) -> None:
        self.ir: Any = import_module("llvmlite.ir")
        self.builder = builder
        self.word = self.ir.IntType(64)
        self.kind = self.ir.VectorType(self.word, WIDTH)
        self.data = [context.make_array(kind)(context, builder, one).data for kind, one in arrays]

    def spread(self, value: Any) -> Any:
        """A number in every place of a vector."""
        ir, builder = self.ir, self.builder
        zero = ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(ir.Constant(self.kind, ir.Undefined), value, zero)
        places = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(one, ir.Constant(self.kind, ir.Undefined), places)

    def constant(self, value: int) -> Any:
        return self.ir.Constant(self.kind, [value] * WIDTH)

    def number(self, value: int) -> Any:
        return self.ir.Constant(self.word, value)

    def address(self, array: int, at: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data[array], [at]), kind.as_pointer())

    def load(self, array: int, at: Any) -> Any:
        return self.builder.load(self.address(array, at, self.kind), align=8)

    def store(self, value: Any, array: int, at: Any) -> None:
        self.builder.store(value, self.address(array, at, self.kind), align=8)

    def codes(self, array: int, at: Any) -> Any:
        """Bytes, widened."""
        kind = self.ir.VectorType(self.ir.IntType(8), WIDTH)
        found = self.builder.load(self.address(array, at, kind), align=1)
        return self.builder.zext(found, self.kind)

    def gathered(self, array: int, places: Any, *, at_once: bool) -> Any:
        """The numbers of an array at these places, by one instruction or one by one."""
        if at_once:
            return self._gathered(array, places)
        ir, builder = self.ir, self.builder
        found = ir.Constant(self.kind, ir.Undefined)
        for lane in range(WIDTH):
            place = ir.Constant(ir.IntType(32), lane)
            at = builder.extract_element(places, place)
            found = builder.insert_element(
                found, builder.load(builder.gep(self.data[array], [at])), place
            )
        return found

    def _gathered(self, array: int, places: Any) -> Any:
        ir, builder = self.ir, self.builder
        pointers = ir.VectorType(ir.PointerType(self.word), WIDTH)
        mask = ir.VectorType(ir.IntType(1), WIDTH)
        kind = ir.FunctionType(self.kind, [pointers, mask, self.kind])
        cgutils: Any = import_module("numba.core.cgutils")
        name = f"llvm.masked.gather.v{WIDTH}i64.v{WIDTH}p0"
        gather = cgutils.get_or_insert_function(builder.module, kind, name)
        base = self.spread(builder.ptrtoint(self.data[array], self.word))
        where = builder.add(base, builder.shl(places, self.constant(3)))
        nothing = ir.Constant(self.kind, ir.Undefined)
        every = ir.Constant(mask, [1] * WIDTH)
        return builder.call(gather, [builder.inttoptr(where, pointers), every, nothing])

    def play(self, shift: Any, at: Any, *, at_once: bool) -> Any:
        """All `SIDE` runs; the edges of all of them or-ed."""
        builder, by, every = self.builder, self.spread(shift), self.constant(0)
        for block in range(0, SIDE, WIDTH):
            here, codes = self.number(block), builder.add(at, self.number(block))
            paid = self.number(SIDE + block)
            state = self.load(1, here)
            places = builder.add(builder.shl(state, by), self.codes(2, codes))
            edge = self.gathered(0, places, at_once=at_once)
            self.store(edge, 1, self.number(2 * SIDE + block))
            every = builder.or_(every, edge)
            odd = builder.trunc(edge, self.ir.VectorType(self.ir.IntType(1), WIDTH))
            after = builder.and_(builder.lshr(edge, self.constant(1)), self.constant(STATE_MASK))
            self.store(builder.select(odd, state, after), 1, here)
            more = builder.ashr(edge, self.constant(REWARD_BIT))
            reward = self.load(1, paid)
            more = builder.select(odd, reward, builder.add(reward, more))
            self.store(more, 1, paid)
        return every


def has_gather() -> bool:
    """Whether LLVM is one whose instruction for this is written as here: that changed in 22."""
    binding: Any = import_module("llvmlite.binding")
    return bool(binding.llvm_version_info[0] >= 22)


def pace(at_once: bool | None = None) -> Any:
    """The function `pace(edge, shift, lanes, rows, at)` that `abreast` tells of."""
    from numba import types
    from numba.extending import intrinsic

    gather = has_gather() if at_once is None else at_once

    @intrinsic
    def pace(typing, edge, shift, lanes, rows, at):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            pairs = tuple((signature.args[i], args[i]) for i in (0, 2, 3))
            do = _Vectors(context, builder, pairs)
            every, found = do.play(args[1], args[4], at_once=gather), do.number(0)
            for lane in range(WIDTH):
                place = do.ir.Constant(do.ir.IntType(32), lane)
                found = builder.or_(found, builder.extract_element(every, place))
            return builder.and_(found, do.number(1))

        return types.int64(edge, types.int64, lanes, rows, types.int64), code

    return pace
