"""Write the parse tables beside the grammar: `python -m tokenworld.syntax.grammar`.

A module of its own: no other module imports it, so Python can run it.
"""

from __future__ import annotations

from tokenworld.syntax.tables import compile_grammar, shipped_path, to_text


def main() -> None:
    """Compile `grammars/tw.lark` with lark and write `grammars/tw.tables.json`."""
    text = shipped_path().with_name("tw.lark").read_text(encoding="utf-8")
    shipped_path().write_text(to_text(compile_grammar(text)), encoding="utf-8")


if __name__ == "__main__":
    main()
