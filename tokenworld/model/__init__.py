"""The checked model: a program whose names and types are resolved.

The modules below hold the classes by subject; their public names are imported from here.
"""

from __future__ import annotations

from tokenworld.model.effects import *
from tokenworld.model.program import *
from tokenworld.model.rules import *
from tokenworld.model.scenarios import *
from tokenworld.model.terms import *
from tokenworld.model.types import *
from tokenworld.model.vocabulary import *
from tokenworld.model.walk import *
from tokenworld.model.worlds import *
