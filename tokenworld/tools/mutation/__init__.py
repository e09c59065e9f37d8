"""Mutation testing: would the world's own tests notice a small mistake?"""

from __future__ import annotations

from tokenworld.tools.mutation.judge import Judge, Verdict
from tokenworld.tools.mutation.operators import Mutant, mutants
from tokenworld.tools.mutation.report import mutate

__all__ = ["Judge", "Mutant", "Verdict", "mutants", "mutate"]
