"""The line of a configuration that names a parser."""

from __future__ import annotations

from typing import NamedTuple

# What stands after the colon; empty where nothing does.
KINDS = {"none": "", "data": "", "spacy": "PIPELINE", "stanza": "LANG", "corenlp": "URL", "conllu": "PATH"}
FORMS = ", ".join(f"{kind}:{argument}" if argument else kind for kind, argument in KINDS.items())

NONE, DATA = "none", "data"
BIOMEDICAL = "spacy:en_disconer_biomedical"  # the parser that comes with disconer


class ParserSpec(NamedTuple):
    """A kind of parser, and which of that kind."""

    kind: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


def parser_spec(line: str) -> ParserSpec:
    """Read the line. `ValueError` says what is wrong with it.

    >>> parser_spec("spacy:en_core_web_sm")
    ParserSpec(kind='spacy', argument='en_core_web_sm')
    """
    kind, _, argument = (part.strip() for part in line.partition(":"))
    if kind not in KINDS:
        raise ValueError(f"there is no parser {line!r}, expected one of {FORMS}")
    wanted = KINDS[kind]
    if bool(argument) != bool(wanted):
        expected = f"{kind}:{wanted}" if wanted else kind
        raise ValueError(f"got {line!r}, expected {expected!r}" + (f", as in {_EXAMPLES[kind]!r}" if wanted else ""))
    if kind == "corenlp":
        _check_address(argument)
    return ParserSpec(kind, argument)


_EXAMPLES = {
    "spacy": "spacy:en_core_web_sm",
    "stanza": "stanza:en",
    "corenlp": "corenlp:http://localhost:9000",
    "conllu": "conllu:parses/train.conllu",
}


def _check_address(url: str) -> None:
    from urllib.parse import urlsplit  # only here: the command's --help needs this module, and no addresses

    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        sound = False
    if not sound:
        raise ValueError(f"got the address {url!r}, expected one such as {_EXAMPLES['corenlp']!r}")
