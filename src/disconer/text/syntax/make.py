"""From the line of a configuration to a parser, and to all that gives sentences their heads."""

from __future__ import annotations

from disconer.core.errors import DisconerError
from disconer.text.syntax.attach import Missing, Syntax, Track, untracked
from disconer.text.syntax.cache import ParseCache, parses_folder
from disconer.text.syntax.parser import Parser
from disconer.text.syntax.spec import DATA, NONE, parser_spec


def make_parser(line: str, *, processes: int | None = None) -> Parser | None:
    """The parser that a line such as spacy:en_core_web_sm names; None where heads come with the data or not at all.

    What has to be installed and is not is said here.
    processes: for parsers that run in several; None: as many as there are cores.
    """
    try:
        kind, argument = parser_spec(line)
    except ValueError as error:
        raise DisconerError(f"This names no parser: {error}") from error
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
    """What gives documents their heads.

    cache: keep trees on disk, unless the user has switched that off.
    """
    made = make_parser(parser, processes=processes)
    return Syntax(made, cache=cache_of(made) if cache else None, missing=missing, track=track)


def cache_of(parser: Parser | None) -> ParseCache | None:
    """The cache of a parser; None if it needs none, or the user wants none."""
    folder = parses_folder()
    identity = parser.identity() if parser and folder else None
    return ParseCache(folder, identity) if folder and identity else None
