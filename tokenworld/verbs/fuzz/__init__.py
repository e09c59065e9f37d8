"""Random worlds, played by the engine and by the reference evaluator at once: `tw fuzz`."""

from __future__ import annotations
