"""Grounding: numbered objects, raw values, and the protocols that join the back-ends."""

from __future__ import annotations

from tokenworld.ground.constants import *
from tokenworld.ground.draws import draw as draw
from tokenworld.ground.influence import changed_in_play as changed_in_play
from tokenworld.ground.influence import written as written
from tokenworld.ground.instance import *
from tokenworld.ground.narrowing import *
from tokenworld.ground.outcome import *
from tokenworld.ground.protocols import *
from tokenworld.ground.values import *
