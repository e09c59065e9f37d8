"""The page says what is true: its client runs, and its table has every tool."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_the_client_of_the_page_plays_the_cellar(tmp_path: Path) -> None:
    program = tmp_path / "tw"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c "
        '"from tokenworld.cli import main; main()" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout == "['rich']\n", done.stderr


async def test_every_tool_stands_in_the_table(in_memory: Any) -> None:
    async with in_memory(write=True) as caller:
        tools = {one.name for one in (await caller.client.list_tools()).tools}
    cells = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == tools
