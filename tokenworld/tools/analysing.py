"""What `tw check` can show beyond findings: proofs of lines, and laws whose order matters."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.check.order import OrderPair, order_pairs
from tokenworld.check.proofs import Proof, proofs
from tokenworld.model import Program
from tokenworld.tools.output import Output

__all__ = ["Analyses", "analysed"]


@dataclass(frozen=True, slots=True)
class Analyses:
    """The proofs and the order-dependent pairs of one program, in written order."""

    proofs: tuple[Proof, ...]
    order: tuple[OrderPair, ...]

    def to_json(self) -> dict[str, object]:
        """Both lists, for machines."""
        lines = [
            {"kind": one.kind, "name": one.name, "answer": one.answer, "open": one.open_rules,
             "span": str(one.span)}
            for one in self.proofs
        ]  # fmt: skip
        pairs = [
            {"phase": one.phase, "first": one.first, "second": one.second, "what": one.what,
             "use": one.use, "write": str(one.write), "other": str(one.other)}
            for one in self.order
        ]  # fmt: skip
        return {"proofs": lines, "order": pairs}

    def tell_proofs(self, out: Output) -> None:
        """A line for each ``conserve`` and ``invariant``."""
        for one in self.proofs:
            open_rules = f" ({', '.join(one.open_rules)})" if one.open_rules else ""
            said = "proved" if one.answer == "proved" else f"checked at run time{open_rules}"
            out.line(f"  {one.kind} {one.name}: {said}")
        if not self.proofs:
            out.line("  no `conserve` or `invariant` line")

    def tell_order(self, out: Output) -> None:
        """A line for each pair of laws."""
        for one in self.order:
            pair = "itself" if one.first == one.second else f"`{one.second}`"
            verb = "writes it" if one.use == "writes" else "reads it"
            out.line(
                f"  phase {one.phase}: `{one.first}` writes `{one.what}` ({one.write}), "
                f"{pair} {verb} ({one.other})"
            )
        if not self.order:
            out.line("  no order-dependent laws")


def analysed(program: Program) -> Analyses:
    """Work both out."""
    return Analyses(proofs(program), order_pairs(program))
