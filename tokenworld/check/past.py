"""What rules read and write: `was` that never differs (TW0504)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenworld.check.draft import Draft
from tokenworld.check.rulebook import Vocabulary
from tokenworld.model import (
    Action,
    Birth,
    Body,
    ClosureOf,
    Create,
    DeriveCall,
    InverseOf,
    Law,
    Read,
    Term,
    Watch,
    effects_in,
    fluents_read,
    subterms,
    terms_of,
)

__all__ = ["check_was", "fluents_written", "written_by"]

Rule = Action | Law | Birth


def fluents_written(bodies: Iterable[Body], words: Vocabulary) -> frozenset[str]:
    """The fluents that bodies change; a new object changes everything that objects of it have."""
    from tokenworld.check.writes import written_slots

    found: set[str] = set()
    for body in bodies:
        for effect in effects_in(body):
            found |= {write.fluent for write in written_slots(effect, words)}
            if isinstance(effect, Create) and effect.of in words.types:
                found |= set(words.types[effect.of].attributes)
    return frozenset(found)


def written_by(rule: Rule, draft: Draft) -> frozenset[str]:
    """The fluents that a rule may change."""
    found = (rule.body, rule.cancelled) if isinstance(rule, Action) else (rule.body,)
    return draft.memo.of("written", (rule,), lambda: fluents_written(found, draft))


def check_was(draft: Draft) -> None:
    """`was` of what nothing writes before it is read is always what is there already (TW0504)."""
    rows = draft.memo.each("past of laws", tuple(draft.laws.values()), _past_of)
    laws = [(law, past) for law, past in zip(draft.laws.values(), rows, strict=True) if past]
    rows = draft.memo.each("past of watches", tuple(draft.watches.values()), _past_of)
    watches = [past for past in rows if past]
    if not laws and not watches:
        return
    rules: tuple[Rule, ...] = (*draft.actions.values(), *draft.births)
    everywhere = frozenset[str]().union(*(written_by(rule, draft) for rule in rules))
    for law, past in laws:
        earlier = [other for other in draft.laws.values() if _before(other, law, draft)]
        _tell(past, everywhere.union(*(written_by(other, draft) for other in earlier)), draft)
    always = everywhere.union(*(written_by(law, draft) for law in draft.laws.values()))
    for past in watches:
        _tell(past, always, draft)


def _past_of(rule: Law | Watch) -> tuple[Term, ...]:
    """What a rule reads of the start of the tick."""
    return tuple(_reads_of_past(rule))


def _reads_of_past(rule: Law | Watch) -> Iterator[Term]:
    if rule.when is not None:
        yield from _past(rule.when)
    if isinstance(rule, Law):
        for effect in effects_in(rule.body):
            for term in terms_of(effect):
                yield from _past(term)


def _before(other: Law, law: Law, draft: Draft) -> bool:
    """Whether a law may have acted before another one reads, in one tick."""
    order = [*draft.phases, ""]
    if other.phase == law.phase:
        return law.phase in draft.phases and draft.phases[law.phase].order != "simultaneous"
    return order.index(other.phase) < order.index(law.phase)


def _tell(past: tuple[Term, ...], written: frozenset[str], draft: Draft) -> None:
    for part in past:
        read = fluents_read([part], draft.derives)
        if read and not (read & written):
            name = draft.text(part.span).removeprefix("was ")
            what = f"Nothing changes `{name}` before this, so `was` never differs from it."
            draft.tell("TW0504", what, part.span, "never changes", "Leave out `was`.")


def _past(term: Term) -> Iterator[Term]:
    """The outermost parts of a term that read the start of the tick."""
    for part in subterms(term):
        if isinstance(part, (Read, InverseOf, ClosureOf, DeriveCall)) and part.was:
            yield part
