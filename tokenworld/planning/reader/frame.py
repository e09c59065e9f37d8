"""The frame that domains and problems share: ``(define (domain n) section …)``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from tokenworld.diagnostics import Source, closest, has_errors
from tokenworld.planning.reader.expressions import show
from tokenworld.planning.reader.sexpr import Faults, Group, Item, Skip, Word, read_items
from tokenworld.planning.reader.trajectories import Trajectories

_LATER = {
    ":process": ("A process", "Write it as a law in the `.tw` file."),
    ":event": ("An event", "Write it as a law in the `.tw` file."),
    ":axiom": ("An old-style axiom", "Write `(:derived (p ?x) condition)`."),
    ":task": ("A task network", "Write the methods as actions."),
    ":method": ("A task network", "Write the methods as actions."),
    ":observe": ("A sensing action", "Leave the observation out."),
    ":duration": ("A duration", "Use an action without duration."),
    ":condition": ("A timed condition", "Write `:precondition`."),
}


class FileReader(Trajectories):
    """The reader that domains and problems share: the frame and the sections."""

    def sections(self, items: tuple[Item, ...], known: dict[str, Callable[[Group], None]]) -> None:
        """Hand each section to its reader; one that fails does not stop the others."""
        for item in items:
            with suppress(Skip):
                self._section(item, known)

    def _section(self, item: Item, known: dict[str, Callable[[Group], None]]) -> None:
        if isinstance(item, Word):
            message = f"`{item.text}` stands where a section should be."
            raise self.faults.unexpected(message, item.span, "Write it inside a section.")
        if item.head in known:
            known[item.head](item)
            return
        self.unknown_word(item, item.head, tuple(known))

    def unknown_word(self, item: Item, word: str, known: tuple[str, ...]) -> None:
        """Report a keyword that is not read: an unsupported part of PDDL, or a mistake."""
        if word in _LATER:
            what, hint = _LATER[word]
            raise self.faults.unsupported(what, item.span, hint)
        span = item.items[0].span if isinstance(item, Group) and item.items else item.span
        near = closest(word, known)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known are {', '.join(known)}."
        shown = word or show(item)[:40]
        raise self.faults.unexpected(f"`{shown}` has no meaning here.", span, hint)

    def framed(
        self, source: Source, kind: str, otherwise: str
    ) -> tuple[Word, tuple[Item, ...]] | None:
        """The name of the file's ``kind`` (``domain``, ``problem``) and the sections after it.

        ``None`` if the text is something else; ``otherwise`` is the next step in that case.
        """
        items = read_items(source, self.faults)
        if has_errors(self.faults.found):
            return None  # with other parentheses, everything means something else
        frame = _define(items, source, self.faults)
        if frame is None:
            return None
        whole, head = frame
        if head.head != kind:
            what = f"This is a {head.head}, and a {kind} is needed."
            self.faults.tell("TW0101", what, head.span, hint=otherwise)
            return None
        try:
            name = self.name(second(head), f"{kind}'s name", head.span)
        except Skip:
            name = Word("unnamed", head.span)
        return name, whole.items[2:]


def _define(items: tuple[Item, ...], source: Source, faults: Faults) -> tuple[Group, Group] | None:
    """The ``(define …)`` list and its first part ``(domain n)``; ``None`` if there is none."""
    place = source.span(0, 0) if not items else items[0].span
    first = items[0] if items else None
    if not isinstance(first, Group) or first.head != "define":
        what = "The text does not begin with `(define …)`."
        faults.tell("TW0101", what, place, hint="Name a PDDL domain or problem.")
        return None
    for extra in items[1:2]:
        what = "Something follows after the end of `(define …)`."
        hint = "Remove a `)` before it, or remove what follows."
        faults.tell("TW0101", what, extra.span, hint=hint)
    head = second(first)
    if not isinstance(head, Group) or head.head not in ("domain", "problem"):
        what = "`(domain name)` or `(problem name)` is missing."
        span = first.items[0].span if head is None else head.span
        faults.tell("TW0101", what, span, hint="Write it right after `define`.")
        return None
    return first, head


def second(head: Group) -> Item | None:
    return head.items[1] if len(head.items) > 1 else None
