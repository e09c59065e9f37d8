"""The lints pass: rules that are allowed and yet suspicious (TW09xx).

Refusals that explain nothing (TW0901) or are kept in the state (TW0902), unused declarations
(TW0904), duplicated and shadowed actions (TW0905), counters that only grow (TW0906), equality of
two values that may both be absent (TW0907), invisible characters in a file (TW0909), rules that
cannot matter (TW0903): actions without effect, rules that never apply. The proof of that is a
refutation: conditions never hold together if they leave some value no number, position or type.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations, groupby
from typing import Any, Final, assert_never

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import skeleton
from tokenworld.check.analysis.intervals import Facts, Translator, entry
from tokenworld.check.analysis.uses import (
    Mentions,
    all_mentions,
    effects_below,
    mentions,
    possible_values,
    program_parts,
    terms_below,
    written_slots,
)
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import assignable, can_equal
from tokenworld.diagnostics import Diagnostic, Edit, Fix, Related, Span, invisible
from tokenworld.model import bodies, conjuncts, copied, effects_in, is_optional, written_name
from tokenworld.syntax import nodes as syn


def check_lints(draft: Draft) -> None:
    """Run every lint on the root file. A `quirk` before an item silences those inside it.

    Modules are linted when they are checked themselves: who uses one cannot repair it.
    """
    before = len(draft.report)
    for lint in (*LINTS, *((check_absence,) if draft.pedantic else ())):
        lint(draft)
    if len(draft.report) == before:
        return
    quirks = [entry.item.span for entry in draft.entries if entry.quirk is not None]
    draft.report[before:] = [one for one in draft.report[before:] if _wanted(one, quirks, draft)]


def _wanted(found: Diagnostic, quirks: list[Span], draft: Draft) -> bool:
    span = found.span
    if span is None or (span.file not in draft.pieces and span.file != draft.root_name):
        return False
    return not any(
        quirk.file == span.file and quirk.start <= span.start and span.end <= quirk.end
        for quirk in quirks
    )


def check_absence(draft: Draft) -> None:
    """`==` and `!=` take two absent values for equal: say so where both sides may be absent.

    A rule that tests one of the two sides with `none` has thought of it.
    """
    for rule in _rules(draft):
        comparisons = [one for one in terms_below(rule, draft) if isinstance(one, m.Compare)]
        tested = {skeleton(side) for one in comparisons for side in _with_none(one)}
        for term in comparisons:
            sides = {skeleton(term.left), skeleton(term.right)}
            if term.op in ("==", "!=") and _both(term) and not sides & tested:
                _tell_absent(term, draft)


def _rules(draft: Draft) -> Iterator[object]:
    for part in program_parts(draft):
        yield from part if isinstance(part, tuple) else (part,)


def _tell_absent(term: m.Compare, draft: Draft) -> None:
    left, right = draft.text(term.left.span), draft.text(term.right.span)
    what = f"`{left}` and `{right}` may both be `none`, and then they are equal."
    hint = "Test one of them with `!= none` too, if that is not meant."
    draft.tell("TW0907", what, term.span, "both may be absent", hint)


def _both(term: m.Compare) -> bool:
    return _absent(term.left) and _absent(term.right)


def _absent(term: m.Term) -> bool:
    return is_optional(term.type) and not isinstance(term, m.NoneLiteral)


def _with_none(term: m.Compare) -> tuple[m.Term, ...]:
    """The side that is compared with `none`, if one is."""
    if isinstance(term.right, m.NoneLiteral):
        return (term.left,)
    return (term.right,) if isinstance(term.left, m.NoneLiteral) else ()


_CHANGES_DIRECTION = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def check_concealed(draft: Draft) -> None:
    """Controls, direction marks and zero-width characters in texts, names and comments.

    They make a rule look other than it is, steer the terminal that shows a text, or are part of
    a word that nobody can type. One finding for each line that has some.
    """
    if draft.root is None:
        return
    source = draft.root
    for _, line in groupby(_places(source.text), lambda at: source.line_and_column(at)[0]):
        places = tuple(line)
        shown, told = _told(source.text[places[0]])
        edits = tuple(Edit(source.span(at, at + 1), "") for at in places)
        more = f", and {len(places) - 1} more of the kind" if len(places) > 1 else ""
        draft.tell(
            "TW0909",
            f"This line holds {shown}{more}: readers do not see it.",
            edits[0].span,
            told,
            "Remove it.",
            fix=Fix("remove what cannot be seen", edits, safe=False),
        )


def _places(text: str) -> Iterator[int]:
    """The places of such characters; a carriage return at the end of a line is none."""
    return (at for at in invisible(text) if text[at] != "\r" or text[at + 1 : at + 2] != "\n")


def _told(one: str) -> tuple[str, str]:
    """A character with its number, its name and its effect."""
    name = unicodedata.name(one, "")
    shown = f"the character U+{ord(one):04X}" + (f" ({name.lower()})" if name else "")
    if unicodedata.category(one) == "Cc":
        return shown, "a control character"
    if unicodedata.bidirectional(one) in _CHANGES_DIRECTION:
        return shown, "turns the direction of what is shown"
    return shown, "invisible"


def check_growth(draft: Draft) -> None:
    """An `int` that laws increase, under no condition on it, and that nothing decreases."""
    fluents = draft.fluents
    endless = draft.memo.of(
        "endless", (fluents,), lambda: [one for one in fluents.values() if _has_no_end(one)]
    )
    if not endless:
        return
    actions, laws = tuple(draft.actions.values()), tuple(draft.laws.values())
    rules: tuple[m.Action | m.Law | m.Birth, ...] = (*actions, *laws, *draft.births)
    falls = draft.memo.each("falling", rules, lambda rule: _falling(rule, draft))
    falling = frozenset[str]().union(*falls)
    raised: dict[str, list[m.Law]] = {}
    for law, names in zip(laws, draft.memo.each("raised", laws, _raised), strict=True):
        for name in names:
            raised.setdefault(name, []).append(law)
    for fluent in endless:
        if fluent.id in raised and fluent.id not in falling:
            found = _increase(fluent, raised[fluent.id], draft)
            if found is not None:
                _tell_growth(*found, fluent, draft)


def _has_no_end(fluent: m.Fluent) -> bool:
    return isinstance(fluent.type, m.NumberType) and fluent.type.high is None and not fluent.scratch


def _raised(law: m.Law) -> frozenset[str]:
    """The fluents that a law adds to, under any condition."""
    changes = (one for one in effects_in(law.body) if isinstance(one, m.Assign))
    return frozenset(one.target.fluent for one in changes if _rises(one))


def _falling(rule: m.Action | m.Law | m.Birth, draft: Draft) -> frozenset[str]:
    """The fluents that a rule may set to less."""
    return frozenset(name for one in effects_below(rule) for name in _falls(one, draft))


def _tell_growth(law: m.Law, effect: m.Assign, fluent: m.Fluent, draft: Draft) -> None:
    what = f"`{fluent.name}` grows without bound: `{law.name}` adds to it and nothing takes away."
    hint = "Give it a range with `clamped`, a condition, or use `tick()` to count ticks."
    related = (Related(fluent.span, "it has no upper end"),)
    draft.tell("TW0906", what, effect.span, "adds in every tick", hint, related)


def _increase(fluent: m.Fluent, laws: list[m.Law], draft: Draft) -> tuple[m.Law, m.Assign] | None:
    """The first law that adds to the fluent at each value."""
    for law in laws:
        if _reads(law.when, fluent, draft):
            continue
        for effect in _unguarded(law.body, fluent, draft):
            if (
                isinstance(effect, m.Assign)
                and effect.target.fluent == fluent.id
                and _rises(effect)
            ):
                return law, effect
    return None


def _unguarded(body: m.Body, fluent: m.Fluent, draft: Draft) -> Iterator[m.Effect]:
    """The changes of a body that no test of the fluent guards."""
    for effect in body:
        if isinstance(effect, m.If) and _reads(effect.condition, fluent, draft):
            continue
        yield effect
        for inner in bodies(effect):
            yield from _unguarded(inner, fluent, draft)


def _reads(part: object, fluent: m.Fluent, draft: Draft) -> bool:
    return any(
        isinstance(term, m.Read) and term.fluent == fluent.id for term in terms_below(part, draft)
    )


def _rises(effect: m.Assign) -> bool:
    """`+=` of an amount that is never negative and sometimes positive."""
    kind = effect.value.type
    if effect.op != "+=" or not isinstance(kind, m.NumberType):
        return False
    return kind.low is not None and kind.low >= 0 and kind.high != 0


def _falls(effect: m.Effect, draft: Draft) -> Iterator[str]:
    """The fluents that a change may set to less."""
    if not isinstance(effect, m.Assign):
        yield from (write.fluent for write in written_slots(effect, draft))
    elif not _rises(effect) and not _still(effect):
        yield effect.target.fluent


def _still(effect: m.Assign) -> bool:
    kind = effect.value.type
    return effect.op != "=" and isinstance(kind, m.NumberType) and kind.low == kind.high == 0


_REFUSED: Final = frozenset({"refused", "refusal", "refusals", "rejected", "rejection", "denied"})
_FAILED: Final = frozenset({"error", "failed", "failure"})


def check_refusals(draft: Draft) -> None:
    """Requires without a reason, and writes that remember a refusal."""
    actions = tuple(draft.actions.values())
    draft.each("refusals", actions, lambda action: _action(action, draft))


def _action(action: m.Action, draft: Draft) -> None:
    _reasons(action, draft)
    _stored(action, draft)


def _reasons(action: m.Action, draft: Draft) -> None:
    """A require without label and text refuses without a reason (an import has none to give)."""
    if draft.pddl:
        return
    for require in action.requires:
        if not require.label and require.text is None:
            what = "This `require` refuses without a reason of its own."
            hint = 'Add `else label "text"`.'
            fix = _reason(action, require)
            draft.tell("TW0901", what, require.span, "no label, no text", hint, fix=fix)


def _reason(action: m.Action, require: m.Require) -> Fix:
    words = re.sub(r"[^A-Za-z0-9]+", " ", action.name).strip() or "that"
    label = "cannot_" + words.lower().replace(" ", "_")
    edit = Edit(require.span.after, f' else {label} "You cannot {words} now."')
    return Fix("give it a label and a text", (edit,))


# ---- refusals in the state --------------------------------------------------------------


def _stored(action: m.Action, draft: Draft) -> None:
    """A fact named after refusing, or one named after failing that a branch sets."""
    for assign, in_branch in _assigned(action.body):
        fluent = draft.fluents[assign.target.fluent]
        if not _remembers(fluent, in_branch):
            continue
        what = f"`{action.name}` keeps a refusal in the state, as `{fluent.name}`."
        hint = 'Write `require … else label "text"`: a refusal is an answer and changes nothing.'
        related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
        draft.tell("TW0902", what, assign.span, "a stored refusal", hint, related)
        return


def _assigned(body: m.Body, in_branch: bool = False) -> Iterator[tuple[m.Assign, bool]]:
    for effect in body:
        if isinstance(effect, m.Assign):
            yield effect, in_branch
        for inner in bodies(effect):
            yield from _assigned(inner, in_branch or isinstance(effect, m.If))


def _remembers(fluent: m.Fluent, in_branch: bool) -> bool:
    words = set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", fluent.name).lower().split("_"))
    told = isinstance(fluent.type, (m.BoolType, m.EnumType, m.TextType))
    return bool(words & _REFUSED) or (told and in_branch and bool(words & _FAILED))


def check_twins(draft: Draft) -> None:
    """Actions with the same requires and effects whose parameters are covered by another's.

    Names of parameters and of `let` do not count, nor do the words of a refusal. Actions that a
    rule tells apart with `did` differ; an import stays as it is written.
    """
    watched = watched_actions(draft)
    if draft.pddl:
        return
    acting = [one for one in draft.actions.values() if one.body and one.name not in watched]
    outlines = draft.memo.each("outlines", acting, _outline)
    alike = draft.memo.whole("alike", outlines, lambda: _alike(outlines))
    some = [acting[position] for position in alike]
    draft.whole("twins", (*some, *draft.conserves.values()), lambda: _compare(some, draft))


def _alike(outlines: list[object]) -> list[int]:
    """The positions of actions whose outline another one has too."""
    places: dict[object, list[int]] = {}
    for position, outline in enumerate(outlines):
        places.setdefault(outline, []).append(position)
    return sorted(one for some in places.values() if len(some) > 1 for one in some)


def _compare(acting: list[m.Action], draft: Draft) -> None:
    found: dict[object, list[m.Action]] = {}
    for later in acting:
        earlier = found.setdefault(_shape(later, draft), [])
        for one in earlier:
            if _tell_twins(one, later, draft):
                break
        earlier.append(later)


def _outline(action: m.Action) -> object:
    """A key that two actions of one shape share, computed without reading terms."""
    changes = tuple(
        (one.kind, one.target.fluent if isinstance(one, m.Assign) else "") for one in action.body
    )
    return len(action.params), len(action.guards), changes


def _tell_twins(earlier: m.Action, later: m.Action, draft: Draft) -> bool:
    """Report the narrower of two actions that do the same; the later one if they are equal."""
    if _covers(earlier, later, draft):
        first, second = earlier, later
    elif _covers(later, earlier, draft):
        first, second = later, earlier
    else:
        return False
    same = _covers(second, first, draft)
    what = f"`{second.name}` does the same as `{first.name}`."
    if not same:
        what = f"`{second.name}` does what `{first.name}` does already for more kinds of things."
    related = (Related(first.span, f"`{first.name}`"),)
    hint = "Remove it, and give its phrases to the other one with `or`."
    label = "a duplicate" if same else "shadowed"
    draft.tell("TW0905", what, second.span, label, hint, related)
    return True


def _covers(wide: m.Action, narrow: m.Action, draft: Draft) -> bool:
    pairs = zip(narrow.params, wide.params, strict=True)
    return all(
        assignable(draft.types, one.type, other.type) and _within(one.domain, other.domain)
        for one, other in pairs
    )


def _within(one: object, other: object) -> bool:
    low, high = getattr(one, "low", None), getattr(one, "high", None)
    if low is None or high is None:
        return True
    return bool(getattr(other, "low", low) <= low and high <= getattr(other, "high", high))


def _shape(action: m.Action, draft: Draft) -> object:
    """An action without its names, places and refusal words: equal for two that do the same."""
    names = [param.name for param in action.params]
    names += [guard.name for guard in action.guards if isinstance(guard, m.Let)]
    order = {name: f"\0{number}" for number, name in enumerate(names)}
    guards = tuple(
        guard.condition if isinstance(guard, m.Require) else guard.value for guard in action.guards
    )
    parts = (guards, action.takes, action.until, action.cost, action.body, action.cancelled)
    exempt = tuple(rule.name for rule in draft.conserves.values() if action.name in rule.exempt)
    kept = draft.memo.of("shape", (action,), lambda: skeleton(_renamed(parts, order)))
    return (len(action.params), exempt, kept)


def _renamed(part: object, order: dict[str, str]) -> object:
    """Any part of the model with its local names replaced."""

    def other(node: Any) -> Any:
        named = isinstance(node, m.Local) and node.name in order
        return replace(node, name=order[node.name]) if named else node

    return copied(part, other)


_Rule = m.Derive | m.Watch | m.Invariant


def check_usage(draft: Draft) -> None:
    """Unused parameters, `let` names, phases, events, params, effects, derives and facts."""
    used = _used(draft)
    _locals(draft)
    _effects(draft)
    phases = {law.phase for law in draft.laws.values()}
    for phase in draft.phases.values():
        if phase.name not in phases:
            what = f"No law runs in the phase `{phase.name}`."
            _tell_unused(draft, what, phase.span, "Remove it, or add `during` to a law.")
    for event in draft.events.values():
        if event.name not in used.events:
            _tell_unused(draft, f"Nothing emits the event `{event.name}`.", event.span,
                  "Remove it, or `emit` it.")  # fmt: skip
    for param in draft.params.values():
        if param.name not in used.params:
            what = f"Nothing reads the param `{param.name}`."
            _tell_unused(draft, what, param.span, "Remove it, or use it.")
    if not draft.pddl and any(_aims(world) for world in draft.worlds.values()):
        draft.once("facts", (used,), lambda: _facts(draft, used))


def _effects(draft: Draft) -> None:
    """Effects that no body calls: nothing in a rule is written where they are."""
    effects = [one for one in draft.effects.values() if one is not None]
    places = [one.span for part in _rules(draft) for one in effects_below(part)] if effects else []
    for effect in effects:
        _parameters(f"`{effect.name}`", effect.params, effect.body, draft)
        if effect.body and not any(_lies_in(place, effect.span) for place in places):
            what = f"Nothing calls the effect `{effect.name}`."
            _tell_unused(draft, what, effect.span, "Remove it, or call it in a rule.")


def _lies_in(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start < outer.end


def _aims(world: m.World) -> bool:
    """Whether something is made of the state: without an ending or a score, it is the result."""
    return bool(world.endings or world.awards or world.pays or world.score is not None)


def _tell_unused(draft: Draft, what: str, span: Span, hint: str, fix: Fix | None = None) -> None:
    draft.tell("TW0904", what, span, "unused", hint, fix=fix)


def _used(draft: Draft) -> Mentions:
    """Collect the names that terms and changes mention. Beliefs are not part of the model: their
    words count as uses of params."""
    used = all_mentions(draft)
    words = set[str]()
    for belief, _ in draft.items(syn.BelieveDecl):
        words |= set(draft.text(belief.span).replace("(", " ").split())
    return replace(used, params=used.params | words) if words else used


# ---- facts and derives ------------------------------------------------------------------


def _facts(draft: Draft, used: Mentions) -> None:
    """Facts and derives that nothing reads, in a program whose world has an ending or a score.

    A library may offer what only its users need. A static attribute may describe a thing for
    records alone, and a text derive may name it there; `sees` is read by the scope of commands.
    """
    for derive in draft.derives.values():
        if derive.name not in used.derives and not _by_convention(derive):
            what = f"Nothing uses the derive `{derive.name}`."
            _tell_unused(draft, what, derive.span, "Remove it, or use it.")
    described = _described(draft)
    for fluent in draft.fluents.values():
        if fluent.id in used.fluents or (fluent.static and fluent.fluent_kind == "attribute"):
            continue
        if fluent.id in used.written:
            what = f"Rules change `{fluent.name}`, and nothing reads it."
            _tell_unused(draft, what, fluent.span, "Remove it, or read it somewhere.")
        elif fluent.id not in described or draft.pedantic:
            what = f"Nothing reads `{fluent.name}`."
            _tell_unused(draft, what, fluent.span, "Remove it, or read it somewhere.")


def _by_convention(derive: m.Derive) -> bool:
    return isinstance(derive.type, m.TextType) or (
        derive.name == "sees" and len(derive.params) == 2
    )


def _described(draft: Draft) -> frozenset[str]:
    """The fluents that an object or a type gives a value: they describe the thing."""
    fields = {value.fluent for one in draft.objects.values() for value in one.fields}
    for kind in draft.types.values():
        fields |= {
            value.fluent
            for value in kind.defaults
            if value.fluent in draft.fluents and value.span != draft.fluents[value.fluent].span
        }
    return frozenset(fields)


# ---- local names ------------------------------------------------------------------------


def _locals(draft: Draft) -> None:
    watched = watched_actions(draft)
    actions, laws = tuple(draft.actions.values()), tuple(draft.laws.values())
    # Where a law may tell apart what was done, a parameter need not be used.
    draft.each("locals", actions, lambda a: _of_action(a, a.name in watched, draft), watched)
    draft.each("locals of laws", laws, lambda law: _of_law(law, draft))
    facts, watches = draft.derives.values(), draft.watches.values()
    rules: tuple[_Rule, ...] = (*facts, *watches, *draft.invariants.values())
    draft.each("locals of rules", rules, lambda rule: _of_rule(rule, draft))


def _of_action(action: m.Action, watched: bool, draft: Draft) -> None:
    if not watched:
        _parameters(f"`{action.name}`", action.params, action, draft)
    guards = (guard for guard in action.guards if isinstance(guard, m.Let))
    _lets((*guards, *_named_in(action.body)), action, draft)


def _of_law(law: m.Law, draft: Draft) -> None:
    _parameters(f"`{law.name}`", law.params, law, draft)
    _lets(_named_in(law.body), law, draft)


def _named_in(body: m.Body) -> tuple[m.Let, ...]:
    return tuple([one for one in effects_in(body) if isinstance(one, m.Let)])


def _of_rule(rule: _Rule, draft: Draft) -> None:
    part: object = rule
    if isinstance(rule, m.Derive):
        part = rule.value
    elif isinstance(rule, m.Invariant):
        part = rule.condition
    _parameters(f"`{rule.name}`", rule.params, part, draft)


def _parameters(owner: str, params: tuple[m.Binder, ...], part: object, draft: Draft) -> None:
    used = mentions(part, draft).names
    for position, param in enumerate(params):
        if param.name not in used:
            what = f"Nothing uses the parameter `{param.name}` of {owner}."
            fix = _without(params, position, draft)
            _tell_unused(draft, what, param.span, "Remove it, or use it.", fix)


def _without(params: tuple[m.Binder, ...], position: int, draft: Draft) -> Fix | None:
    """Take a parameter away with the comma beside it; its calls are left to their author."""
    span = params[position].span
    source = draft.source_of(span)
    if source is None:
        return None
    first, last = span.start, span.end
    if position + 1 < len(params):
        last = params[position + 1].span.start
    elif position:
        first = params[position - 1].span.end
    return Fix("remove the parameter", (Edit(source.span(first, last), ""),))


def _lets(lets: tuple[m.Let, ...], rule: m.Action | m.Law, draft: Draft) -> None:
    used = mentions(rule, draft).names
    for let in lets:
        if let.name not in used:
            what = f"Nothing uses `{written_name(let.name)}`."
            fix = Fix("remove the `let`", (Edit(let.span, ""),))
            _tell_unused(draft, what, let.span, "Remove it, or use it.", fix)


# ---- rules that cannot matter ---------------------------------------------------------------


def _never(facts: Facts, draft: Draft) -> bool:
    """Return whether the conditions contradict each other in every state."""
    return facts.impossible or _of_no_type(facts, draft)


def _of_no_type(facts: Facts, draft: Draft) -> bool:
    """Return whether some value is tested for two types that share no subtype."""
    tested: dict[object, list[m.ObjectType]] = {}
    for part in conjuncts(facts.true):
        if isinstance(part, m.IsType):
            tested.setdefault(skeleton(part.term), []).append(m.ObjectType(part.of))
    return any(
        not can_equal(draft.types, one, other)
        for kinds in tested.values()
        for one, other in combinations(kinds, 2)
    )


def check_applicability(draft: Draft) -> None:
    """Actions without effect, and actions, laws and watches that never apply."""
    watched = watched_actions(draft)
    actions = tuple(draft.actions.values())
    draft.each("applies", actions, lambda one: _applies(one, one.name in watched, draft), watched)
    draft.each("runs", _conditional(draft), lambda rule: _runs(rule, draft))
    if draft.pedantic:
        _unset(draft)


def _applies(action: m.Action, watched: bool, draft: Draft) -> None:
    if not _refused(action, draft):
        _effective(action, watched, draft)


def watched_actions(draft: Draft) -> frozenset[str]:
    """Actions that some rule names in `did` or `busy`: doing them is an effect."""
    if draft.watched is None:
        draft.watched = all_mentions(draft).watched
    return draft.watched


def _conditional(draft: Draft) -> tuple[m.Law | m.Watch, ...]:
    """The rules that run by themselves when their condition holds."""
    return (*draft.laws.values(), *draft.watches.values())


# ---- effects ----------------------------------------------------------------------------


def _effective(action: m.Action, watched: bool, draft: Draft) -> None:
    """An action changes or says something, or it is a plain wait (an import stays as it is)."""
    effects = (*action.body, *action.cancelled)
    if draft.pddl or watched or any(_matters(one, draft) for one in effects):
        return
    waits = not action.params and not action.requires and not action.body
    if waits and not _free(action):
        return
    what = f"`{action.name}` changes nothing and says nothing."
    hint = "Give it an effect, or remove it."
    draft.tell("TW0903", what, action.span, "no effect", hint)


def _free(action: m.Action) -> bool:
    return isinstance(action.takes, m.NumberLiteral) and action.takes.value == 0


def _matters(effect: m.Effect, draft: Draft) -> bool:
    for inner in effects_in((effect,)):
        match inner:
            case m.Let():
                pass
            case m.Assign(target=target, op="=", value=value):
                ordered = draft.fluents[target.fluent].ordered
                if ordered or skeleton(value) != skeleton(target):
                    return True
            case m.Assign(value=m.NumberLiteral(value=0)):
                pass
            case _ if inner.kind in ("if", "for", "chance", "pick"):
                pass  # `effects_in` also yields the effects inside them
            case m.WriteEffect() | m.NestedEffect() | m.LifeEffect() | m.OutputEffect():
                return True
            case _:
                assert_never(inner)
    return False


# ---- conditions -------------------------------------------------------------------------


def _refused(action: m.Action, draft: Draft) -> bool:
    """Report the first require that cannot hold together with those before it.

    `require false` in so many words is a deliberate refusal: an action that only explains.
    """
    facts = named = Facts(Translator(draft))
    if not _never(entry(action, facts.words), draft):
        return False
    for guard in action.guards:
        if isinstance(guard, m.Let):
            facts, named = facts.let(guard), named.let(guard)
            continue
        if isinstance(guard.condition, m.BoolLiteral):
            return not guard.condition.value
        facts = facts.given(guard.condition)
        if _never(facts, draft):
            alone = _never(named.given(guard.condition), draft)
            why = "never holds" if alone else "excluded by the requires before it"
            what = f"`{action.name}` is always refused: this `require` can never hold."
            if not alone:
                what = f"`{action.name}` is always refused: its requires exclude each other."
            hint = "Correct the condition, or write `require false` to refuse on purpose."
            draft.tell("TW0903", what, guard.span, why, hint)
            return True
    return False


def _runs(rule: m.Law | m.Watch, draft: Draft) -> None:
    """A law or watch whose condition can never hold is dead."""
    if rule.when is not None and _never(Facts(Translator(draft)).given(rule.when), draft):
        what = f"`{rule.name}` never runs: its condition can never hold."
        draft.tell("TW0903", what, rule.when.span, "never holds", "Correct or remove the rule.")


# ---- with --pedantic: values that nothing sets ---------------------------------------------


def _unset(draft: Draft) -> None:
    """Rules that wait for a value which nothing in the program ever sets."""
    known = possible_values(draft)

    def waits(conditions: Iterable[m.Term]) -> bool:
        """Return whether conditions hold for other values than those that are ever set."""
        limited, free = Facts(Translator(draft, known)), Facts(Translator(draft))
        for condition in conditions:
            limited, free = limited.given(condition), free.given(condition)
        return _never(limited, draft) and not _never(free, draft)

    for rule in _conditional(draft):
        if rule.when is not None and waits((rule.when,)):
            what = f"`{rule.name}` never runs: nothing sets the values that it waits for."
            hint = "Set them in a rule or in the world, or remove the rule."
            draft.tell("TW0903", what, rule.when.span, "never set so", hint)
    for action in draft.actions.values():
        if waits(entry(action, Translator(draft)).true):
            what = f"`{action.name}` is always refused: nothing sets the values that it needs."
            hint = "Set them in a rule or in the world, or remove the action."
            draft.tell("TW0903", what, action.requires[0].span, "never set so", hint)


LINTS: tuple[Callable[[Draft], None], ...] = (
    check_refusals,
    check_applicability,
    check_usage,
    check_twins,
    check_growth,
    check_concealed,
)
"""The lints of every check; `--pedantic` adds equality of absent values."""
