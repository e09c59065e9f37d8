"""``tw conform``: recorded transitions, replayed and scored."""

from __future__ import annotations
