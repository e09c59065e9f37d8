"""``tw publish``: one HTML file that plays a world in any browser, without a server.

The page holds Pyodide (CPython as WebAssembly), the modules of this project that play needs, and
the sources of the world. So the published game is the interpreter itself, state hash by state hash.
"""

from __future__ import annotations
