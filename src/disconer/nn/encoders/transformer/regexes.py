"""Which regular expressions of a tokenizer are simple enough to trust: others may take time without end. No torch here.

Tokenizers split text with regexes such as ` ?\\p{L}+|\\s+(?!\\S)|\\s+`, in Oniguruma's syntax. One like `(a+)+$` takes
twice as long for each further letter. How long a regex takes is not computed here; it only has to look like those in
use: no repeated group, no reference to a group, few choices in a row.
"""

from __future__ import annotations

import re

LONGEST = 1000  # characters
MOST_REPEATED = 2  # parts of one alternative that match any number of characters
MOST_OPTIONAL = 6  # optional parts and groups of one alternative

_CHARACTER, _BETWEEN = "x", "^"  # what matches one character, or a place between two
_ESCAPE = re.compile(r"\\(?:[pP]\{\^?\w+\}|x\{\w+\}|[A-Za-fh-jl-z]|\W)")  # not \1, \g, \k: references to groups
_PLACES = ("\\b", "\\B", "\\A", "\\z", "\\Z", "\\G")
_CLASS = re.compile(r"\[[^\[\]\\]+\]")
_GROUP = re.compile(r"\(\?(?:[ims]*:|<?[=!])")
_POSSESSIVE = re.compile(r"(?<=[^*+?}][*+?])\+")  # takes no choice back, so it costs nothing
_REPEATED = re.compile(r"\)\??[*+{]|[*+?}][*+{]")  # groups, and what is repeated already
_BRACES = re.compile(r"\{(\d{1,2})(?:,\d{0,2})?\}")
_OTHER = re.compile(r"[\\\[\]{}]|\([?*]")
_ONCE = re.compile(r"[^()|?*+^$](?![?*])")


def is_simple_regex(pattern: str) -> bool:
    """Whether a regex takes little time for any text.

    >>> is_simple_regex(r" ?\\p{L}+| ?[^\\s\\p{L}]+[\\r\\n]*|\\s+(?!\\S)|(?i:'s|'t)?"), is_simple_regex(r"(a+)+$")
    (True, False)
    """
    plain = _plain(pattern)
    if len(pattern) > LONGEST or _REPEATED.search(plain) or _OTHER.search(_BRACES.sub("", plain)):
        return False
    return all(
        len(re.findall(r"[*+{]", alternative)) <= MOST_REPEATED
        and len(re.findall(r"[?(]", alternative)) <= MOST_OPTIONAL
        for alternative in _alternatives(plain)
    )


def may_match_nothing(pattern: str) -> bool:
    """Whether a regex may match between two characters. True if in doubt.

    >>> [may_match_nothing(pattern) for pattern in (r" {2,}", r"\\s+|x", "x*", "a|", "(a)")]
    [False, False, True, True, True]
    """
    plain = _BRACES.sub(lambda braces: "" if int(braces[1]) else "*", _plain(pattern))
    return "(" in plain or not all(_ONCE.search(alternative) for alternative in plain.split("|"))


def _plain(pattern: str) -> str:
    """The regex with a letter for each set of characters, and without the kinds of its groups."""
    plain = _ESCAPE.sub(lambda escape: _BETWEEN if escape[0] in _PLACES else _CHARACTER, pattern)
    while plain != (plain := _CLASS.sub(_CHARACTER, plain)):
        pass
    return _POSSESSIVE.sub("", _GROUP.sub("(", plain))


def _alternatives(plain: str) -> list[str]:
    """Those that are not within a group."""
    found, depth = [""], 0
    for character in plain:
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found
