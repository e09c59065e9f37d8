"""Grounding: numbered objects, raw values, and the protocols that join the back-ends."""

from __future__ import annotations

from tokenworld.ground.constants import (
    NotConstant,
    constant,
    param_values,
)
from tokenworld.ground.instance import (
    MANY,
    GroundObject,
    Instance,
    bindings,
    count_bindings,
    domain_of,
    instantiate,
    parameter_domains,
    slots,
)
from tokenworld.ground.narrowing import (
    Pattern,
    conjuncts,
    joined,
    patterns_of,
)
from tokenworld.ground.outcome import (
    PASS,
    STATUSES,
    Change,
    Command,
    LuckyDraw,
    NoMatch,
    NoMatchKind,
    Outcome,
    Refusal,
    RequireReport,
    Status,
)
from tokenworld.ground.protocols import (
    Prose,
    Simulator,
    Speaker,
    StateT,
    Successor,
    Way,
    moves_of,
    ways_of,
)
from tokenworld.ground.size import refuse_huge
from tokenworld.ground.values import (
    Json,
    Raw,
    read_value,
    scaled_text,
    show_value,
    value_text,
    values_text,
)
from tokenworld.ground.writes import changed_in_play, written

__all__ = [
    "Change",
    "Command",
    "GroundObject",
    "Instance",
    "Json",
    "LuckyDraw",
    "NoMatch",
    "NoMatchKind",
    "NotConstant",
    "Outcome",
    "PASS",
    "Pattern",
    "Prose",
    "Raw",
    "Refusal",
    "RequireReport",
    "STATUSES",
    "Simulator",
    "Speaker",
    "StateT",
    "Status",
    "Successor",
    "Way",
    "moves_of",
    "ways_of",
    "bindings",
    "changed_in_play",
    "conjuncts",
    "constant",
    "domain_of",
    "instantiate",
    "joined",
    "param_values",
    "MANY",
    "count_bindings",
    "parameter_domains",
    "patterns_of",
    "read_value",
    "refuse_huge",
    "scaled_text",
    "show_value",
    "slots",
    "value_text",
    "values_text",
    "written",
]
