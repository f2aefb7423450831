"""GENIA 3.02: abstracts with nested terms of five types and, in coordinations, discontinuous ones.

As Yan et al. (2023, "An Embarrassingly Easy but Strong Baseline for Nested NER") have it, with the same counts of
sentences, entities and nested entities in every split: each `cons` whose `sem` is a plain type is an entity, also
inside coordinations; the same type at the same place counts once; titles are sentences; of the two annotations of
MEDLINE:97218353 the later is taken.

The literature leaves out the terms of all other classes, among them half of all coordinations. With `--types all` the
training documents keep them, for a model to learn from (`data.labels`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

from disconer.core.corpus import Corpus
from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Fragment
from disconer.corpora import genia_lex
from disconer.corpora.genia_lex import Piece, is_coordination
from disconer.corpora.recipe import (
    SPLITS,
    Option,
    Recipe,
    files_of,
    missing_document,
    not_the_source,
    split_ids,
    unique,
)
from disconer.formats.entities import build_entity
from disconer.formats.source import Member
from disconer.formats.xml import iter_xml
from disconer.text import TOKENIZERS

FILE = "GENIAcorpus3.02.xml"
CONTINUOUS, FULL = "continuous", "full"
FIVE, ALL = "five", "all"
# Classes that the literature leaves out, with some 500 terms or more in the training documents; the rest are OTHER.
FREQUENT = frozenset(
    [
        "amino_acid_monomer", "cell_component", "lipid", "multi_cell", "other_name", "other_organic_compound", "tissue",
        "virus",
    ]
)  # fmt: skip
OTHER = "other"
_SOURCE = f"GENIAcorpus3.02.tgz as downloaded, or its {FILE}, or a folder that holds it"

Mention = tuple[str, tuple[Fragment, ...]]  # label, fragments


@dataclass(frozen=True, slots=True)
class Term:
    """A `cons` element: where it stands in the document, its attributes ("" if absent), the terms inside it."""

    span: Fragment
    lex: str
    sem: str
    inside: tuple[Term, ...]

    def members(self, text: str) -> Iterator[tuple[genia_lex.Member, tuple[Fragment, ...] | None]]:
        """The members of a coordination, each with its fragments; None if they cannot be determined."""
        pieces = [Piece(*term.span, term.lex) for term in self.inside if not is_coordination(term.sem)]
        members = genia_lex.read_members(self.lex, self.sem)
        return zip(members, genia_lex.find_members(members, text, self.span, pieces), strict=True)


def label_of(sem: str) -> str | None:
    """The type of the literature's five that an ontology class belongs to.

    >>> label_of("G#DNA_domain_or_region"), label_of("G#cell_line"), label_of("G#virus")
    ('DNA', 'cell_line', None)
    """
    name = sem.removeprefix("G#")
    family = name.split("_")[0]
    if family in ("DNA", "RNA", "protein"):
        return family
    return name if name in ("cell_line", "cell_type") else None


def any_label_of(sem: str) -> str | None:
    """The same, with the classes that the literature leaves out.

    >>> any_label_of("G#cell_line"), any_label_of("G#virus"), any_label_of("G#atom"), any_label_of("(AND G#a G#b)")
    ('cell_line', 'virus', 'other', None)
    """
    name = sem.removeprefix("G#")
    if not name or is_coordination(sem):
        return None
    return label_of(sem) or (name if name in FREQUENT else OTHER)


LabelOf = Callable[[str], str | None]


def read_terms(article: Element) -> tuple[str, list[Fragment], list[Term]]:
    """The text of an article, one sentence per line, the ranges of the sentences, and the terms in them."""
    parts: list[str] = []
    terms: list[Term] = []

    def walk(element: Element, start: int) -> int:
        first = len(terms)
        parts.append(element.text or "")
        end = start + len(parts[-1])
        for child in element:
            end = walk(child, end)
            parts.append(child.tail or "")
            end += len(parts[-1])
        if element.tag == "cons":
            span = Fragment(start, end)
            terms.append(Term(span, element.get("lex", ""), element.get("sem", ""), tuple(terms[first:])))
        return end

    sentences: list[Fragment] = []
    start = 0
    for sentence in article.iter("sentence"):
        end = walk(sentence, start)
        parts.append("\n")
        sentences.append(Fragment(start, end))
        start = end + 1
    return "".join(parts[:-1]), sentences, terms


def _plain_mentions(terms: Iterable[Term], named: LabelOf) -> Iterator[Mention]:
    for term in terms:
        label = named(term.sem)
        if label:
            yield label, (term.span,)


def _member_mentions(terms: Iterable[Term], text: str, named: LabelOf, ledger: Ledger) -> Iterator[Mention]:
    for term in terms:
        for member, fragments in term.members(text) if is_coordination(term.sem) else ():
            label = named(member.sem)
            if label and fragments:
                yield label, fragments
            elif label:
                ledger.lost("members of coordinations that are not in the text")


def _n_members(terms: Iterable[Term], named: LabelOf) -> int:
    members = [genia_lex.read_members(term.lex, term.sem) for term in terms if is_coordination(term.sem)]
    return sum(named(member.sem) is not None for some in members for member in some)


def _document(article: Element, id: str, setting: str, named: LabelOf, ledger: Ledger, where: Where) -> Document:
    text, spans, terms = read_terms(article)
    mentions = list(_plain_mentions(terms, named))
    if setting == FULL:
        mentions += _member_mentions(terms, text, named, ledger)
    else:
        ledger.lost("members of coordinations, which --setting full keeps", _n_members(terms, named))
    mentions.sort(key=lambda mention: (mention[1][0].start, -mention[1][-1].end, mention))
    entities: list[Entity] = []
    for label, fragments in mentions:
        entity = build_entity(label, fragments, text, ledger=ledger, path=where.path or "", line=where.line)
        if entity is not None:
            entities.append(entity)
    words = TOKENIZERS["words"]
    sentences = tuple(Sentence(start, end, words(text, start, end)) for start, end in spans)
    return Document(id, text, unique(entities, ledger), sentences)


def _corpus_file(source: Path) -> Member:
    for member in files_of(source, lambda name: PurePosixPath(name).name in (FILE, source.name)):
        return member
    raise not_the_source(source, f"There is no {FILE} in it", _SOURCE)


def _articles(file: Member, ledger: Ledger) -> dict[str, tuple[Where, Element]]:
    """The articles by id, each with its place; of two annotations of one article the later."""
    articles: dict[str, tuple[Where, Element]] = {}
    with file.open() as stream:
        for line, article in iter_xml(stream, {"article"}, file.origin):
            id = article.findtext("articleinfo/bibliomisc", "").strip()
            where = Where(file.origin, line, document=id)
            if not id:
                ledger.error(BadInput("bad-syntax", "This article has no id", where=where, expected="a <bibliomisc>"))
                continue
            if id in articles:
                if read_terms(article)[0] != read_terms(articles[id][1])[0]:
                    problem = "Another article with a different text has the same id"
                    ledger.error(BadInput("duplicate-id", problem, where=where, fix="Rename one of them."))
                    continue
                ledger.repaired("documents annotated twice, the later annotation used")
            articles[id] = where, article
    return articles


def read_documents(
    source: Path, setting: str, ledger: Ledger, *, with_others: Collection[str] = ()
) -> Iterator[Document]:
    """The documents of the corpus file, in its order. with_others: ids of those that keep terms of other classes."""
    for id, (where, article) in _articles(_corpus_file(source), ledger).items():
        yield _document(article, id, setting, any_label_of if id in with_others else label_of, ledger, where)


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    with_others = set(split_ids("genia", "train")) if options["types"] == ALL else ()
    read = read_documents(source, options["setting"], ledger, with_others=with_others)
    documents = {document.id: document for document in read}
    splits: dict[str, tuple[Document, ...]] = {}
    for split in SPLITS:
        ids = split_ids("genia", split)
        for id in ids:
            if id not in documents:
                ledger.error(missing_document(source, id, f"There is no such article in {FILE}", _SOURCE))
        splits[split] = tuple(documents.pop(id) for id in ids if id in documents)
    ledger.lost("documents not in any split", len(documents))
    return Corpus(splits)


RECIPE = Recipe(
    name="genia",
    about="GENIA 3.02: 1,999 MEDLINE abstracts, nested and discontinuous terms of 5 types; CC BY 3.0, GENIA project",
    source=_SOURCE,
    build=_build,
    options=(
        Option(
            "setting",
            (CONTINUOUS, FULL),
            "continuous: as in the literature, without the members of coordinations; "
            "full: with them, rebuilt as (mostly discontinuous) entities",
        ),
        Option(
            "types",
            (FIVE, ALL),
            "five: those of the literature; all: the training documents also have terms of other types, to learn from",
        ),
    ),
    paper=(1599, 200, 200),
    remark="Those are 80, 10 and 10 % of 1,999; this is the split of Yan et al. (2023), whose counts of sentences "
    "(15,038/1,765/1,732) and entities (46,203/4,714/5,119) `continuous` has exactly.",
)
