"""The run log that cannot lie: recording, reading, checking, exporting."""

from __future__ import annotations

from tokenworld.store.chain import canonical
from tokenworld.store.check import Breach, Verification, check_file, verify_chain
from tokenworld.store.database import DEFAULT_PATH, Database, default_path
from tokenworld.store.divergence import Divergence, first_divergence, world_differs
from tokenworld.store.export import export_lines, write_export
from tokenworld.store.imports import Imported, import_file
from tokenworld.store.laws import LAWS, Law, broken_law
from tokenworld.store.log import SNAPSHOT_EVERY, RunHandle, RunStore
from tokenworld.store.read import (
    changes_of,
    find_run,
    find_tick,
    history,
    list_runs,
    run_with_link,
    snapshot_before,
    ticks_after,
    ticks_of,
)
from tokenworld.store.records import (
    INTENT_SOURCES,
    Ending,
    IntentSource,
    Origin,
    Parent,
    Reference,
    Run,
    RunHeader,
    SourceText,
    Tick,
    TickRecord,
    Timing,
)

__all__ = [
    "DEFAULT_PATH",
    "INTENT_SOURCES",
    "LAWS",
    "SNAPSHOT_EVERY",
    "Breach",
    "Database",
    "Divergence",
    "Ending",
    "Imported",
    "IntentSource",
    "Law",
    "Origin",
    "Parent",
    "Reference",
    "Run",
    "RunHandle",
    "RunHeader",
    "RunStore",
    "SourceText",
    "Tick",
    "TickRecord",
    "Timing",
    "Verification",
    "broken_law",
    "canonical",
    "changes_of",
    "check_file",
    "default_path",
    "export_lines",
    "find_run",
    "find_tick",
    "first_divergence",
    "history",
    "import_file",
    "list_runs",
    "run_with_link",
    "snapshot_before",
    "ticks_after",
    "ticks_of",
    "verify_chain",
    "world_differs",
    "write_export",
]
