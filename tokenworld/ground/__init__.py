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
)
from tokenworld.ground.values import (
    Json,
    Raw,
    read_value,
    scaled_text,
    show_value,
    value_text,
    values_text,
)

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
    "bindings",
    "constant",
    "domain_of",
    "instantiate",
    "param_values",
    "MANY",
    "count_bindings",
    "parameter_domains",
    "read_value",
    "scaled_text",
    "show_value",
    "slots",
    "value_text",
    "values_text",
]
