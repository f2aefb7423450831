"""A `Document` as a spaCy `Doc`, and back, without loss of any offset, sentence or head."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from spacy.tokens import Doc
from spacy.tokens import Token as SpacyToken
from spacy.vocab import Vocab

from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Fragment
from disconer.formats.docbin.groups import KEY, Mention, is_ours, mentions_of, place, write_group
from disconer.formats.entities import build_entity
from disconer.formats.native import from_record, to_record
from disconer.text import Splitter, segment


@dataclass(slots=True)
class Words:
    """Words in order; `starts` are their offsets."""

    texts: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


def cover(text: str, tokens: Iterable[Token], fragments: Iterable[Fragment]) -> Words:
    """Cut a text into words: its tokens, what stands between them, and a cut wherever a fragment begins or ends.

    A single space after a word belongs to it, as spaCy has it, unless a fragment begins or ends with this space.
    """
    begins: set[int] = set()
    ends: set[int] = set()
    for start, end in fragments:
        begins.add(start)
        ends.add(end)
    kept = {start for start, _ in tokens}
    cuts = kept | {end for _, end in tokens} | begins | ends | {0, len(text)}
    words = Words()
    for start, end in pairwise(sorted(cuts)):
        free = start not in kept and start not in begins and start + 1 not in ends
        if free and text[start] == " " and words.texts:
            words.spaces[-1] = True
            start += 1
        if start < end:
            words.texts.append(text[start:end])
            words.spaces.append(False)
            words.starts.append(start)
    return words


def has_sentences(doc: Doc) -> bool:
    """Whether a pipeline marked sentences in a Doc. spaCy calls a Doc of one token annotated, whatever it is."""
    return len(doc) > 1 and bool(doc.has_annotation("SENT_START"))


def sentences_of(doc: Doc, splitter: Splitter | None = None) -> tuple[Sentence, ...] | None:
    """The sentences that `splitter` finds in a Doc; without one, those that a pipeline marked; None if it did not.

    Tokens that are only whitespace are left out. Heads are included if the Doc is parsed.
    """
    if splitter is not None:
        stretches: Iterable[Iterable[SpacyToken]] = _split(doc, splitter)
    elif has_sentences(doc):
        stretches = doc.sents
    else:
        return None
    parsed = doc.has_annotation("DEP")
    found = []
    for stretch in stretches:
        words = [token for token in stretch if token.text.strip()]
        if words:
            found.append(_sentence(words, parsed))
    return tuple(found)


def _split(doc: Doc, splitter: Splitter) -> list[list[SpacyToken]]:
    """The tokens of each sentence. A token that reaches into the next sentence stays with the one it begins in."""
    ends = [end for _, end in splitter(doc.text)]
    stretches: list[list[SpacyToken]] = [[] for _ in [*ends, None]]
    number = 0
    for token in doc:
        while number < len(ends) and token.idx >= ends[number]:
            number += 1
        stretches[number].append(token)
    return stretches


def _sentence(words: Sequence[SpacyToken], parsed: bool) -> Sentence:
    tokens = tuple([Token(word.idx, word.idx + len(word)) for word in words])
    start, end = tokens[0].start, tokens[-1].end
    if not parsed:
        return Sentence(start, end, tokens)
    places = {word.i: place for place, word in enumerate(words)}
    heads = tuple([-1 if word.head.i == word.i else places.get(word.head.i, -1) for word in words])
    return Sentence(start, end, tokens, heads, tuple([word.dep_ for word in words]))


SPANCAT_KEY = "sc"  # where spaCy's span categorizer puts its spans by default
UNNAMED_RELATION = "dep"


def to_doc(document: Document, vocab: Vocab, *, key: str = KEY) -> Doc:
    """A Doc of the document's tokens, cut where an entity begins or ends inside one; its entities in `doc.spans[key]`.

    Sentences and heads become spaCy's own where possible. The id, extras, and sentences that spaCy cannot represent are
    stored with the span group, so that `to_document` returns the same document.
    """
    tokens = [token for sentence in segment(document).sentences or () for token in sentence.tokens]
    fragments = [fragment for entity in document.entities for fragment in entity.fragments]
    words = cover(document.text, tokens, fragments)
    doc = _doc(words, document.sentences, vocab)
    beside = to_record(document.replace(entities=()))
    del beside["text"], beside["entities"]
    if sentences_of(doc) == document.sentences:
        beside.pop("sentences", None)
    write_group(doc, place(doc, document.entities), key, document=json.dumps(beside))
    return doc


def _doc(words: Words, sentences: Sequence[Sentence] | None, vocab: Vocab) -> Doc:
    if sentences is None:
        return Doc(vocab, words=words.texts, spaces=words.spaces)
    openings = [sentence.tokens[0].start for sentence in sentences if sentence.tokens]
    parse = _parse(words, sentences)
    if parse:
        heads, relations = parse
        doc = Doc(vocab, words=words.texts, spaces=words.spaces, heads=heads, deps=relations)
        if [sentence.start for sentence in sentences_of(doc) or ()] == openings:  # spaCy begins one at every root
            return doc
    begin = set(openings)
    starts: list[bool | int | None] = [start in begin for start in words.starts]
    return Doc(vocab, words=words.texts, spaces=words.spaces, sent_starts=starts)


def _parse(words: Words, sentences: Sequence[Sentence]) -> tuple[list[int], list[str]] | None:
    """The head of each word, by position in the text, and its relation; None if some sentence has no heads."""
    places = {start: place for place, start in enumerate(words.starts)}
    heads: dict[int, int] = {}
    relations: dict[int, str] = {}
    for sentence in sentences:
        if sentence.heads is None:
            return None
        own = [places[token.start] for token in sentence.tokens]
        heads |= {word: word if head < 0 else own[head] for word, head in zip(own, sentence.heads, strict=True)}
        relations |= dict(zip(own, sentence.relations or [UNNAMED_RELATION] * len(own), strict=True))
    if not heads:
        return None
    nearest = min(heads)
    for word in range(len(words.texts)):
        if word in heads:
            nearest = word
        else:
            heads[word] = nearest  # anything but a token is attached to the token before it
    every = range(len(heads))
    return [heads[word] for word in every], [relations.get(word, UNNAMED_RELATION) for word in every]


def to_document(
    doc: Doc, *, key: str | None = None, id: str = "doc", ledger: Ledger | None = None, path: str = ""
) -> Document:
    """The document of a Doc: its text, its sentences where they are marked, and its entities.

    key: the span group that holds the entities, spans of one id being one entity. None: the group that disconer
        wrote; without one, the spans of spaCy's span categorizer, each by itself; without these, `doc.ents`.
    id: of the document, unless the Doc was made by `to_doc`.
    ledger, path: for readers, which count and name what is bad or not taken.
    """
    ledger = ledger or Ledger()
    key = key or _key(doc)
    own = doc.spans[key].attrs.get(KEY, {}) if key else {}
    beside = {"id": id} | json.loads(own.get("document", "{}"))
    text = doc.text  # joined from all tokens at each access
    document = from_record(beside | {"text": text, "entities": []}, ledger=ledger, path=path)
    entities = []
    for mention in _mentions(doc, key):
        entity = build_entity(
            mention.label,
            mention.pairs,
            text,
            ledger=ledger,
            path=path,
            document=document.id,
            id=mention.id,
            score=mention.score,
        )
        if entity is not None:
            entities.append(entity)
    sentences = document.sentences if document.sentences is not None else sentences_of(doc)
    document = document.replace(entities=tuple(entities), sentences=sentences)
    _note_others(doc, key, document, ledger)
    return document


def _key(doc: Doc) -> str | None:
    """The span group that holds a Doc's entities; None: they are in `doc.ents`."""
    ours = (name for name, group in doc.spans.items() if name == KEY or is_ours(group))
    return next(ours, SPANCAT_KEY if SPANCAT_KEY in doc.spans else None)


def _mentions(doc: Doc, key: str | None) -> list[Mention]:
    if key and (key != SPANCAT_KEY or is_ours(doc.spans[key])):
        return mentions_of(doc.spans[key])
    # An id that other components gave is not a mention's but a pattern's, which many mentions share.
    spans = doc.spans[key] if key else doc.ents
    return [Mention(span.label_, [(span.start_char, span.end_char)]) for span in spans]


def _note_others(doc: Doc, key: str | None, document: Document, ledger: Ledger) -> None:
    """Count what the Doc has beside the entities that were taken."""
    ledger.lost("spans of other groups", sum(len(group) for name, group in doc.spans.items() if name != key))
    taken = {entity.key for entity in document.entities}
    ents = [(ent.label_, ((ent.start_char, ent.end_char),)) for ent in doc.ents]
    ledger.lost("doc.ents besides the span group", sum(ent not in taken for ent in ents))
