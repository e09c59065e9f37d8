"""The Pygments lexer of `.tw` texts: for docs, notebooks, and terminals by way of Rich."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pygments import token as pygments
from pygments.lexer import RegexLexer, include

from tokenworld.verbs.grammars.colours import ARTICLE, Kind, rules

TOKENS: Final[dict[Kind, Any]] = {
    "doc": pygments.String.Doc,
    "comment": pygments.Comment.Single,
    "string": pygments.String.Double,
    "raw": pygments.Name.Variable,
    "number": pygments.Number,
    "constant": pygments.Keyword.Constant,
    "primitive": pygments.Keyword.Type,
    "fold": pygments.Name.Builtin,
    "operator": pygments.Operator.Word,
    "declaration": pygments.Keyword.Declaration,
    "keyword": pygments.Keyword,
    "type": pygments.Name.Class,
    "name": pygments.Name,
    "brace": pygments.Punctuation,
    "mark": pygments.Operator,
}
"""The Pygments token of each kind of token."""

_SLOT: Final = pygments.String.Interpol


class TwLexer(RegexLexer):
    """Colours `.tw` texts as the TextMate grammar does."""

    name = "Token World"
    aliases: ClassVar = ["tw"]
    filenames: ClassVar = ["*.tw"]
    mimetypes: ClassVar = ["text/x-tw"]
    tokens: ClassVar = {
        "root": [(r"\s+", pygments.Whitespace), ('"', TOKENS["string"], "text"), include("plain")],
        "plain": [(one.pattern, TOKENS[one.kind]) for one in rules() if one.kind != "string"],
        "text": [
            (r"\\.", pygments.String.Escape),
            (r"\{", _SLOT, "slot"),
            ('"', TOKENS["string"], "#pop"),
            (r'[^"\\{\n]+', TOKENS["string"]),
            (r"\n", pygments.Whitespace, "#pop"),
        ],
        "slot": [
            (r"\}", _SLOT, "#pop"),
            (r'(?=["\n])', _SLOT, "#pop"),
            (r"[ \t]+", pygments.Whitespace),
            (ARTICLE, TOKENS["keyword"]),
            include("plain"),
        ],
    }
