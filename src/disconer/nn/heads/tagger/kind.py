"""The settings of the tagger, what it can express, and what else the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field

from disconer.config.section import Fraction, HeadSettings, Sizes
from disconer.evaluate.check import Reach, WordEntity
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import HeadGraphs, HeadKind, Proposal, RunGraph, ScoreReader
from disconer.nn.heads.tagger.multilabel import MULTILABEL, TagSetReader
from disconer.nn.heads.tagger.reading import TagReader
from disconer.nn.heads.tagger.schemes import SCHEMES
from disconer.text.alignment import TokenEntity, words_of

if TYPE_CHECKING:
    from disconer.nn.heads.tagger.head import TaggerHead
    from disconer.nn.heads.tagger.multilabel_head import MultilabelHead


class TaggerSettings(HeadSettings):
    """The tagger: one tag per word, by a linear-chain CRF; or several, each decided by itself."""

    kind: Literal["tagger"] = "tagger"
    scheme: Literal["BIO", "BIOHD", "BIOHD1234", "multilabel"] = Field(
        default="BIOHD1234",
        description="Tags: BIO (continuous entities), BIOHD or BIOHD1234; multilabel: several per word, without a CRF.",
    )
    hidden: Sizes = Field(
        default=(150,), description="Hidden units of each layer between word vectors and tags; []: none."
    )
    dropout: Fraction = Field(default=0.4, description="Dropout of the hidden units.")


OTHER_LABEL = "shares words with an entity of another label, and a word has one tag"


class Coding(Protocol):
    """A scheme of any kind, with one tag per word or several."""

    @property
    def name(self) -> str: ...

    def tags(self, labels: Sequence[str]) -> tuple[str, ...]: ...

    def encode(self, entities: Iterable[WordEntity], n_words: int) -> Any: ...

    def decode(self, tags: Any) -> list[WordEntity]: ...


CODINGS: Mapping[str, Coding] = {**SCHEMES, MULTILABEL.name: MULTILABEL}


def tag_reach(entities: Sequence[TokenEntity], n_words: int, scheme: Coding) -> Reach:
    """What can be found of the entities of a sentence."""
    keys = list(dict.fromkeys(entity.key for entity in entities))
    encoded = scheme.encode(keys, n_words)
    found = frozenset(scheme.decode(encoded.tags))
    return Reach(found, {key: _why_lost(key, keys, scheme.name) for key in encoded.lost})


def _why_lost(key: WordEntity, keys: Sequence[WordEntity], scheme: str) -> str:
    words = set(words_of(key[1]))
    sharing = {label for label, ranges in keys if (label, ranges) != key and words & set(words_of(ranges))}
    if scheme == MULTILABEL.name:
        sharing &= {key[0]}
    if sharing - {key[0]}:
        return OTHER_LABEL
    if not sharing:
        return f"is discontinuous in a way that {scheme} cannot express (head.scheme)"
    return f"shares words with another entity in a way that {scheme} cannot express (head.scheme)"


def propose_scheme(survey: Survey, settings: TaggerSettings) -> Proposal[TaggerSettings]:
    """Of the schemes with a CRF, the one that loses the fewest entities; ties: the one with the fewest tags."""
    total = sum(len(_keys(sentence.entities)) for sentence in survey.sentences)
    lost = {
        name: sum(len(scheme.encode(_keys(own), n_words).lost) for n_words, own in survey.sentences)
        for name, scheme in SCHEMES.items()
    }
    best = min(lost, key=lost.__getitem__)
    shares = ", ".join(f"{name} {1 - count / max(1, total):.1%}" for name, count in lost.items())
    return Proposal(
        settings.model_copy(update={"scheme": best}), [f"Tags: {best}. Entities that each scheme expresses: {shares}."]
    )


def _keys(entities: Sequence[TokenEntity]) -> list[WordEntity]:
    return list(dict.fromkeys(entity.key for entity in entities))


NUMBERS_PER_CELL = 128  # `HeadKind.cells` counts hundreds of numbers; the tagger keeps single scores
_LIMITS = {
    "BIO": "All of them are continuous, and no two share words.",
    "BIOHD": "Of each label and sentence, either one is discontinuous, or some share one run of words.",
    "BIOHD1234": "They have at most two fragments.",
    "multilabel": "They have at most two fragments.",
}
_ONE_TAG = "None has all its words in another of its label, and none shares a word with one of another label."
_SEVERAL_TAGS = "Of continuous ones of a label that share words, it finds only those that end together."


class TaggerKind(HeadKind[TaggerSettings]):
    """See `HeadKind`."""

    name = "tagger"
    about = "each word gets one tag, by a linear-chain CRF, or several, and entities are decoded from the tags"
    settings = TaggerSettings
    variants = tuple(f"scheme={name}" for name in CODINGS)

    def build(self, settings: TaggerSettings, labels: Sequence[str], *, word_size: int) -> TaggerHead | MultilabelHead:
        from disconer.nn.heads.tagger.head import build_multilabel, build_tagger

        if settings.scheme == MULTILABEL.name:
            return build_multilabel(
                labels=labels, word_size=word_size, hidden=settings.hidden, dropout=settings.dropout
            )
        return build_tagger(
            labels=labels,
            scheme=SCHEMES[settings.scheme],
            word_size=word_size,
            hidden=settings.hidden,
            dropout=settings.dropout,
        )

    def scores_labels_apart(self, settings: TaggerSettings) -> bool:
        return settings.scheme == MULTILABEL.name

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: TaggerSettings) -> Reach:
        return tag_reach(entities, n_words, CODINGS[settings.scheme])

    def cells(self, n_words: int, settings: TaggerSettings, labels: Sequence[str]) -> int:
        n_tags = _n_tags(settings.scheme, len(labels))
        return (n_words + n_tags) * n_tags // NUMBERS_PER_CELL + 1  # emissions, and a step from tags to tags

    def propose(self, survey: Survey, settings: TaggerSettings) -> Proposal[TaggerSettings]:
        return propose_scheme(survey, settings)

    def limits(self, settings: TaggerSettings, labels: Sequence[str]) -> Iterator[str]:
        yield _LIMITS[settings.scheme]
        yield _SEVERAL_TAGS if settings.scheme == MULTILABEL.name else _ONE_TAG

    def graphs(self, head: TaggerHead | MultilabelHead) -> HeadGraphs:
        from disconer.nn.heads.tagger.head import TaggerHead, tagger_graphs
        from disconer.nn.heads.tagger.multilabel_head import multilabel_graphs

        return tagger_graphs(head) if isinstance(head, TaggerHead) else multilabel_graphs(head)

    def reader(self, settings: TaggerSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> ScoreReader:
        if settings.scheme == MULTILABEL.name:
            return TagSetReader(MULTILABEL.tags(labels))
        scheme = SCHEMES[settings.scheme]
        return TagReader(scheme, scheme.tags(labels))


@lru_cache
def _n_tags(scheme: str, n_labels: int) -> int:
    return len(CODINGS[scheme].tags([str(number) for number in range(n_labels)]))


TAGGER = TaggerKind()
