"""Makes the code of the console smaller, as browsers need no comments, indentation and line breaks."""

import re
from typing import Final

_COMMENT_LINES: Final = re.compile(rb"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
_TRAILING_COMMENT: Final = re.compile(rb"(?<=[;,{(\[]) // [^\n]*$", re.MULTILINE)
_INDENTATION: Final = re.compile(rb"^[ \t]+", re.MULTILINE)
# Next to these characters, a line break has no meaning.
_LINE_BREAK: Final = re.compile(rb"(?<=[;,{(\[>=?:&|\n])\n+|\n(?=[)\]}.?:&|])")


def _template_pattern(expression: bytes) -> bytes:
    """Return the pattern of a template string with expressions, which can contain templates themselves."""
    return rb"`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*\}|" + expression + rb")*\})*`"


_NEVER: Final = rb"(?!)"
_TEMPLATE: Final = _template_pattern(_template_pattern(_template_pattern(_NEVER)))
_STRING: Final = rb""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
# A division has a space behind it.
_REGULAR_EXPRESSION: Final = rb"/(?! )(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/"
_LITERAL: Final = re.compile(rb"(" + rb"|".join((_STRING, _TEMPLATE, _REGULAR_EXPRESSION)) + rb")", re.DOTALL)
# Next to these, a space has no meaning. It has between two signs, which can be another operator without it.
_OPERATORS: Final = (b"=>", b"===", b"!==", b"&&", b"||", b"??", *(bytes([byte]) for byte in b"=,;:?(){}<>"))


def compact_style(code: bytes) -> bytes:
    """Remove comments, indentation and line breaks. Compressed, they are a sixth of the source."""
    for pattern in (_COMMENT_LINES, _TRAILING_COMMENT, _INDENTATION, _LINE_BREAK):
        code = pattern.sub(b"", code)
    return code


def compact_script(code: bytes) -> bytes:
    """Also remove the spaces around operators, but not in strings, templates and regular expressions."""
    parts = _LITERAL.split(compact_style(code))
    # Literals are at the odd positions. No script contains the separator.
    rest = b"\0".join(parts[::2])
    for operator in _OPERATORS:
        rest = rest.replace(b" " + operator, operator).replace(operator + b" ", operator)
    parts[::2] = rest.split(b"\0")
    return b"".join(parts)
