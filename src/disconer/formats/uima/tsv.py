r"""WebAnno TSV 3, of WebAnno and INCEpTION: one document per file.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
    #T_SP=webanno.custom.Discontinuous|value|ROLE_webanno.custom.Discontinuous:fragments_…Link|webanno.custom.Fragment
    #T_SP=webanno.custom.Fragment|


    #Text=Pain in arms and legs
    1-1	0-4	Pain	*[1]	Symptom[1]	Symptom[2]	fragment	1-5	_
    1-2	5-7	in	*[1]	Symptom[1]	_	_	_	_
    …
    1-5	17-21	legs	_	_	_	_	_	*

A line is a token, or a part of one (1-2.1); a column, a feature. Annotations of several lines, or several of one line,
have a number in brackets. Sentences and tokens are the document's own, or made by rules. Each `#Text=` goes up to the
next sentence, so that no whitespace is lost but that before the first word.
"""

from __future__ import annotations

from collections.abc import Iterator

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import without_halves
from disconer.formats.format import Format, file_writer, member_reader
from disconer.formats.source import Member
from disconer.formats.uima.layers import note_losses
from disconer.formats.uima.tsv_reading import read_tsv
from disconer.formats.uima.tsv_writing import tsv_text

SUFFIXES = (".tsv",)
REPLACED = "lone surrogates, which text files cannot store, replaced"


def content(document: Document, ledger: Ledger) -> bytes:
    """The file of a document."""
    note_losses(document, ledger)
    document, n_halves = without_halves(document)
    ledger.lost(REPLACED, n_halves)
    return tsv_text(document, ledger).encode()


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    yield read_tsv(member.lines(), member.stem, member.origin, ledger)


def _sniff(name: str, head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").startswith(b"#FORMAT=WebAnno TSV 3")


FORMAT = Format(
    name="webanno-tsv",
    about="WebAnno TSV 3 of INCEpTION and WebAnno, one document per file; fragments are linked spans",
    holds="all entities, sentences, tokens",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=file_writer(".tsv", content, "WebAnno TSV"),
    writes_folder=True,
)
