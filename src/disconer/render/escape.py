"""Escaping text for markup, character by character."""

from __future__ import annotations

import re
from html import escape as _escape

# Errors in HTML and forbidden in XML: control characters, lone surrogates, noncharacters.
_UNFIT = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_PICTURES = 0x2400  # Unicode's pictures of the control characters begin here
_DELETE = "\x7f"


def escaped(text: str) -> str:
    """Safe as content and in a quoted attribute; control characters are replaced by their symbols, others by U+FFFD.

    >>> escaped("<b>&\\x01")
    '&lt;b&gt;&amp;␁'
    """
    return _escape(_UNFIT.sub(_stand_in, text))


def _stand_in(match: re.Match[str]) -> str:
    character = match.group()
    if character == _DELETE:
        return "␡"
    return chr(_PICTURES + ord(character)) if character < " " else "\ufffd"
