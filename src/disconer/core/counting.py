"""Numbers of things in messages."""

from __future__ import annotations

import re

_CLAUSE = re.compile(r" (?:that|which) |, as theirs|, kept as they")  # its verb or pronoun would have to change
_PLURAL = re.compile(r"((?:\w+ ){0,2}?)(\w+?)(ies|(?<![su])s)(?=[ ,'(:]|$)")


def counted(number: int, things: str) -> str:
    """A number of things, in the singular if it is one; of phrases, the first noun.

    >>> counted(1, "entities"), counted(1204, "files"), counted(1, "fragments out of order")
    ('1 entity', '1,204 files', '1 fragment out of order')
    >>> counted(1, "documents' brat extras"), counted(1, "entity ids that are not whole numbers")
    ("1 document's brat extras", '1 entity ids that are not whole numbers')
    """
    return f"{number:,} {_singular(things) if number == 1 else things}"


def _singular(things: str) -> str:
    found = None if _CLAUSE.search(things) else _PLURAL.match(things)
    if found is None:
        return things
    before, noun, ending = found.groups()
    rest = things[found.end() :]
    if rest.startswith("'"):
        rest = f"'s{rest[1:]}"
    return f"{before}{noun}{'y' if ending == 'ies' else ''}{rest}"
