"""The likelihood of recorded transitions as factors of learned params, each factor once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log

from tokenworld.core import Rules, lowered
from tokenworld.core import nodes as core
from tokenworld.core.walk import statements_in, subterms
from tokenworld.diagnostics import Diagnostic, Failure, counted
from tokenworld.engine import Engine, State
from tokenworld.engine.outcomes.distribution import MOST, Evidence, SlotDifference
from tokenworld.engine.outcomes.partial import ForkLuck
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.ground import Json
from tokenworld.model import NumberType, Param, RealType
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.loading import OpenWorld
from tokenworld.verbs.learn.journal import Journal
from tokenworld.verbs.learn.learnt import Atoms, Learnt, NotFollowed, Weight, over, to_real
from tokenworld.verbs.records.rows import BadRow
from tokenworld.verbs.records.transitions import Transition


@dataclass(frozen=True, slots=True)
class Learned:
    """A param that is learned: its range, all in the unit of rules, and where it is drawn by."""

    param: Param
    value: float
    low: float
    high: float
    sites: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.param.name


@dataclass(frozen=True, slots=True)
class Impossible:
    """A transition that the rules cannot bring forth; ``other``: the place of a row that begins
    alike and ends otherwise."""

    place: str
    difference: SlotDifference | None
    other: str = ""

    def text(self) -> str:
        """As people read it."""
        why = "" if self.difference is None else f": {self.difference.text()}"
        also = f" ({self.other} begins alike and ends otherwise)" if self.other else ""
        return f"{self.place}{why}{also}"


@dataclass
class Collected:
    """The evidence of all transitions. ``factors`` counts the factors of the likelihood that hold
    learned params; ``fixed`` is the log probability of all others. ``informative`` counts the
    transitions that say something of a param."""

    atoms: Atoms
    factors: Counter[Weight] = field(default_factory=Counter)
    fixed: float = 0.0
    rows: int = 0
    bad: list[BadRow] = field(default_factory=list)
    impossible: list[Impossible] = field(default_factory=list)
    informative: Counter[str] = field(default_factory=Counter)

    def take(self, found: Evidence) -> None:
        """Add the evidence of a possible transition."""
        self.rows += 1
        told = set[str]()
        for weight in found.factors:
            for factor in _parts(weight):
                share = factor.products.get((), None)
                if share is not None and len(factor.products) == 1:
                    self.fixed += log(share.numerator) - log(share.denominator)
                    continue
                scaled, scale = _scaled(factor)
                self.fixed += log(scale.numerator) - log(scale.denominator)
                self.factors[scaled] += 1
                used = {at for product in factor.products for at in product}
                told |= {name for at in used for name in self.atoms.every[at].names}
        self.informative.update(told)


def _parts(weight: Weight) -> Iterable[Weight]:
    """A weight as factors: a product of atoms falls apart into them."""
    if len(weight.products) > 1:
        return (weight,)
    ((product, share),) = weight.products.items()
    return (Weight({(): share}), *(Weight({(at,): Fraction(1)}) for at in product))


def _scaled(weight: Weight) -> tuple[Weight, Fraction]:
    """A weight divided by its largest factor, so that equal evidence is equal, and that factor."""
    largest = max(weight.products.values())
    products = {x: y / largest for x, y in sorted(weight.products.items())}
    return Weight(products), largest


# ---- params -------------------------------------------------------------------------------------


def learned_params(world: OpenWorld) -> dict[str, Learned]:
    """The learned params of a world; `Failure` (TW1203) where there are none, or one is no number
    with bounds."""
    sites = _sites(world)
    found: dict[str, Learned] = {}
    for name, param in world.program.params.items():
        if param.learned:
            found[name] = _learned(world, param, tuple(sites.get(name, ())))
    if not found:
        what = f"`{world.world.name}` has no param that is learned."
        hint = "Mark one: `param hunt: 0% to 100% = 50% learned`."
        raise Failure(Diagnostic("TW1203", what, hint=hint))
    return found


def _learned(world: OpenWorld, param: Param, sites: tuple[str, ...]) -> Learned:
    kind, value = param.type, world.instance.params[param.name]
    if isinstance(kind, NumberType) and kind.low is not None and kind.high is not None:
        unit = 10**kind.decimals
        assert isinstance(value, int)
        return Learned(param, value / unit, kind.low / unit, kind.high / unit, sites)
    if isinstance(kind, RealType) and isinstance(value, float):
        return Learned(param, value, 0.0, 1.0, sites)  # it is a probability
    what = f"The learned param `{param.name}` is no number with bounds."
    hint = "Give it a range: `param hunt: 0% to 100% = 50% learned`."
    raise Failure(Diagnostic("TW1203", what, param.span, "this param", hint=hint))


def _sites(world: OpenWorld) -> dict[str, list[str]]:
    """The places of the draws whose probabilities name each param, derives included."""
    rules = lowered(world.program)
    bodies: list[core.Body] = [one.body for one in rules.actions.values()]
    bodies += [one.body for one in rules.laws.values()]
    bodies += [one.body for one in rules.births]
    found: dict[str, list[str]] = {}
    for one in (each for body in bodies for each in statements_in(body)):
        if isinstance(one, core.Let) and isinstance(one.value, core.BranchDraw):
            named = _named(rules, one.value.probabilities)
        elif isinstance(one, core.Let) and isinstance(one.value, core.PickDraw):
            weight = one.value.weight if one.value.key == "log" else None
            named = set() if weight is None else _named(rules, [weight])
        else:
            continue
        for name in sorted(named):
            found.setdefault(name, []).append(str(one.value.span))
    return found


def _named(rules: Rules, terms: Iterable[core.Term]) -> set[str]:
    """The params that terms name, or that derives do which they call."""
    names, called = set[str](), set[str]()
    todo = list(terms)
    for term in todo:  # grows while it is walked
        for part in subterms(term):
            if isinstance(part, core.ParamValue):
                names.add(part.name)
            elif isinstance(part, core.DeriveCall) and part.derive not in called:
                called.add(part.derive)
                todo.append(rules.derives[part.derive].value)
    return names


def _followed(learned: Learned) -> Learnt:
    """The number that rules calculate with in place of the param."""
    kind = learned.param.type
    unit = 10**kind.decimals if isinstance(kind, NumberType) else 1
    return Learnt({(learned.name,): Fraction(unit)})


# ---- rows ---------------------------------------------------------------------------------------


def collected(
    world: OpenWorld, rows: Iterable[Transition | BadRow], params: Mapping[str, Learned],
    say: Callable[[str], None], journal: Journal | None = None,
) -> Collected:  # fmt: skip
    """Collect the evidence of transitions; the journal keeps it row by row.

    Raises `Failure` (TW1204) if a learned number decides more than a probability.
    """
    journal = journal or Journal()
    instance = world.instance
    values = {**instance.params, **{name: _followed(one) for name, one in params.items()}}
    engine = Engine(replace(instance, params=values), EnglishProse())  # type: ignore[arg-type]
    found = Collected(Atoms({name: one.value for name, one in params.items()}))
    luck, log_type = found.atoms.luck(), found.atoms.log()
    begins: dict[tuple[str, str], tuple[str, str]] = {}
    known: dict[tuple[object, ...], Evidence] = {}
    for row in rows:
        if isinstance(row, BadRow):
            found.bad.append(row)
            continue

        def live(row: Transition = row) -> Evidence:
            return engine.on_row(row.state, lambda s, r: _of(s, r, row, luck, log_type))

        key = engine.hash(row.state), str(row.intent), engine.hash(row.seen), row.fields
        if key in known:  # the same transition again
            found.take(known[key])
            continue
        try:
            evidence = _kept(journal, found.atoms, live) if journal.keeps else live()
        except NotFollowed as lost:
            raise _not_followed(lost, params, row.place) from None
        except Failure as failure:
            found.bad.append(BadRow(row.place, failure.diagnostics[0].message.rstrip(".")))
            continue
        other = _begun(begins, world.engine, row)
        if evidence.possible:
            found.take(evidence)
            known[key] = evidence
        else:
            found.impossible.append(Impossible(row.place, evidence.difference, other))
        say(f"{counted(found.rows, 'transition')}, {len(found.impossible)} impossible")
    return found


def _kept(journal: Journal, atoms: Atoms, live: Callable[[], Evidence]) -> Evidence:
    """The evidence of a row from the journal, or worked out now; an impossible row always is."""
    first, made = len(atoms.every), list[Evidence]()

    def work() -> dict[str, Json]:
        try:
            made.append(live())
        except Failure:
            return {"possible": False}
        factors: list[Json] = [one.shown() for one in made[0].factors]
        return {"possible": made[0].possible, "factors": factors, "atoms": atoms.shown(first)}

    shown = journal.once("row", work)
    if made or not shown["possible"]:
        return made[0] if made else live()
    atoms.take(shown["atoms"])
    return Evidence(True, tuple(map(Weight.of, shown["factors"])), (), None)


def _of(
    stepper: RowStepper, row: Row, one: Transition, luck: type[ForkLuck], log_type: type[Log]
) -> Evidence:
    stepper.says = False  # a text may show a learned number
    stepper.code.space.update(over=over, to_real=to_real)
    return Evidence.of(
        stepper, row, one.state, one.intent, one.seen, one.fields, MOST, luck, log_type
    )


def _begun(begins: dict[tuple[str, str], tuple[str, str]], engine: Engine, row: Transition) -> str:
    """The place of an earlier row with the same state and intent, and another end."""
    key, end = (engine.hash(row.state), str(row.intent)), _ended(engine, row.seen)
    place, first = begins.setdefault(key, (row.place, end))
    return place if first != end else ""


def _ended(engine: Engine, seen: State) -> str:
    return engine.hash(seen)


def _not_followed(lost: NotFollowed, params: Mapping[str, Learned], place: str) -> Failure:
    param = params[lost.names[0]].param
    what = f"`{param.name}` decides more than a probability ({place}), so it cannot be fitted."
    hint = "Use a learned param only in `chance`, in sums and products."
    return Failure(Diagnostic("TW1204", what, param.span, "this param", hint=hint))
