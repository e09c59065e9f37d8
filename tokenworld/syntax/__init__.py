"""Text to syntax tree: items, expressions and templates with spans."""

from tokenworld.syntax.nodes import File
from tokenworld.syntax.parse import docs_of, parse_source

__all__ = ["File", "docs_of", "parse_source"]
