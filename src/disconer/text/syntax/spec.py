"""The setting that names a parser, and the parser made from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from disconer.core.errors import DisconerError
from disconer.text.syntax.attach import Missing, Syntax, Track, untracked
from disconer.text.syntax.cache import ParseCache, parses_folder
from disconer.text.syntax.parser import Parser

# What follows the colon; empty if nothing does.
PARSER_KINDS = {"none": "", "data": "", "spacy": "PIPELINE", "stanza": "LANG", "corenlp": "URL", "conllu": "PATH"}
FORMS = ", ".join(f"{kind}:{argument}" if argument else kind for kind, argument in PARSER_KINDS.items())

NONE, DATA = "none", "data"
BIOMEDICAL = "spacy:en_disconer_biomedical"  # the bundled parser


class ParserSpec(NamedTuple):
    """A kind of parser, and its argument."""

    kind: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


def parser_spec(line: str) -> ParserSpec:
    """Parse the setting. Raises `ValueError` with the reason.

    >>> parser_spec("spacy:en_core_web_sm")
    ParserSpec(kind='spacy', argument='en_core_web_sm')
    """
    kind, _, argument = (part.strip() for part in line.partition(":"))
    if kind not in PARSER_KINDS:
        raise ValueError(f"there is no parser {line!r}, expected one of {FORMS}")
    wanted = PARSER_KINDS[kind]
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
    except ValueError:  # a port that is not a number
        sound = False
    if not sound:
        raise ValueError(f"got the address {url!r}, expected one such as {_EXAMPLES['corenlp']!r}")


def make_parser(line: str, *, processes: int | None = None) -> Parser | None:
    """The parser that a line such as spacy:en_core_web_sm names; None where heads come with the data or not at all.

    Raises an error that says what has to be installed.
    processes: for parsers that run in several; None: as many as there are cores.
    """
    try:
        kind, argument = parser_spec(line)
    except ValueError as error:
        raise DisconerError(f"This is not a parser: {error}") from error
    if kind in (NONE, DATA):
        return None
    if kind == "spacy":
        from disconer.text.syntax.spacy import SpacyParser

        return SpacyParser(argument, processes=processes)
    if kind == "stanza":
        from disconer.text.syntax.stanza import StanzaParser

        return StanzaParser(argument)
    if kind == "corenlp":
        from disconer.text.syntax.corenlp import CoreNlpParser

        return CoreNlpParser(argument)
    from disconer.text.syntax.conllu import ConlluParser

    return ConlluParser(argument)


def make_syntax(
    parser: str,
    *,
    missing: Missing = "skip",
    cache: bool = True,
    processes: int | None = None,
    track: Track = untracked,
) -> Syntax:
    """What adds heads to documents.

    cache: keep trees on disk, unless the user has disabled that.
    """
    made = make_parser(parser, processes=processes)
    return Syntax(made, cache=cache_of(made) if cache else None, missing=missing, track=track)


# Parsers that a model's configuration may name: installed packages and models; no path, no address.
_INSTALLED = {"none": "", "data": "", "spacy": r"[^\W\d]\w*", "stanza": r"[\w-]+(?:/[\w-]+)?"}
_DANGERS = {"corenlp": "sends every text to that address"}


class UnaskedParser(DisconerError):
    """The files of a model or pipeline name a parser that only the user may name."""


def model_syntax(parser: str, *, missing: Missing = "skip", cache: bool = True) -> Syntax:
    """What adds heads to documents, as the files of a model specify it.

    Whoever made a model must not decide where texts are sent or which files are read: other parsers than installed ones
    are refused, until the user asks for them.
    """
    refuse_unasked(parser)
    return make_syntax(parser, missing=missing, cache=cache)


def chosen_syntax(parser: str | None, own: str | None, *, missing: Missing, cache: bool) -> Syntax | None:
    """What adds heads to documents: the parser that the user asked for, or else the model's own.

    own: None if the model uses no heads. Returns None where nothing is to be parsed.
    """
    if parser is not None:
        return None if parser == NONE else make_syntax(parser, missing=missing, cache=cache)
    return None if own is None or own == NONE else model_syntax(own, missing=missing, cache=cache)


def refuse_unasked(parser: str) -> None:
    """Stop unless a model may name this parser."""
    kind, argument = parser_spec(parser)
    allowed = _INSTALLED.get(kind)
    if allowed is not None and re.fullmatch(allowed, argument) and not (argument and Path(argument).exists()):
        return
    raise UnaskedParser(
        f"The configuration of this model names the parser {str(ParserSpec(kind, argument))!r}, which "
        f"{_DANGERS.get(kind, 'reads files outside the folder of the model')}",
        fix=f"If that is what you want, ask for it yourself: parser={parser!r} in Python and in spaCy (after loading a "
        f"saved pipeline: as `parser` of the component), --parser {parser} of predict, serve and evaluate. "
        "parser='none' (--parser none) goes without dependency heads.",
    )


def cache_of(parser: Parser | None) -> ParseCache | None:
    """The cache of a parser; None if it needs none, or the user wants none."""
    folder = parses_folder()
    identity = parser.identity() if parser and folder else None
    return ParseCache(folder, identity) if folder and identity else None
