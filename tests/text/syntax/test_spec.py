from __future__ import annotations

import re

import pytest

from disconer.text.syntax.spec import PARSER_KINDS, parser_spec


@pytest.mark.parametrize(
    "line",
    [
        "none",
        "data",
        "spacy:en_core_web_sm",
        "spacy:../models/my parser",
        "stanza:en/craft",
        "corenlp:http://localhost:9000",
        "corenlp:https://nlp.hospital.example/corenlp",
        "conllu:C:\\parses\\train.conllu",
    ],
)
def test_lines_that_name_a_parser(line: str) -> None:
    assert str(parser_spec(line)) == line
    assert parser_spec(line).kind in PARSER_KINDS


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("spacey:en", "expected one of none, data, spacy:PIPELINE, stanza:LANG, corenlp:URL, conllu:PATH"),
        ("", "there is no parser ''"),
        ("spacy", "expected 'spacy:PIPELINE', as in 'spacy:en_core_web_sm'"),
        ("spacy:", "expected 'spacy:PIPELINE'"),
        ("data:heads", "expected 'data'"),
        ("corenlp:localhost:9000", "expected one such as 'corenlp:http://localhost:9000'"),
        ("corenlp:http://", "expected one such as"),
        ("corenlp:http://localhost:port", "expected one such as"),
        ("corenlp:file:///etc/passwd", "expected one such as"),
    ],
)
def test_lines_that_do_not(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parser_spec(line)
