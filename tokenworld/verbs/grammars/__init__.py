"""``tw grammar``: the language for parsers and for constrained decoding, whole or narrowed.

`narrowing` restricts the grammar to the names of a program, or makes one of the commands of a
state; both are lark's notation. `dialects` and `gbnf` write it for a decoder.
"""
