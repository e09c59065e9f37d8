"""The names of operators, folds and built-in functions, as they are written."""

from __future__ import annotations

from typing import Literal

__all__ = ["ArithmeticOp", "BuiltinName", "CompareOp", "FoldKind"]

CompareOp = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOp = Literal["+", "-", "*", "/", "div", "mod"]
FoldKind = Literal["any", "all", "count", "sum", "min", "max", "first", "last"]
BuiltinName = Literal[
    "abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "sqrt", "sin", "cos",
    "exp", "log", "pow", "pi", "next", "prev", "tick", "id", "busy", "did", "score", "number",
]  # fmt: skip
