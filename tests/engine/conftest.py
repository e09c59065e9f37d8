"""Make `tiny`, the small worlds of these tests, importable from each of them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
