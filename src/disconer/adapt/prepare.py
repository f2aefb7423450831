"""Tokenise the texts once for all processes, and prepare the encoder: new words, letter case."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accelerate import Accelerator

from disconer.adapt.cache import TokenCache, build_cache, has_cache, open_cache, origin_of, tokenizer_hash
from disconer.adapt.display import Display
from disconer.adapt.model import Pretrained, add_case
from disconer.adapt.settings import AdaptSettings
from disconer.adapt.state import AdaptFolder
from disconer.adapt.texts import SubwordMaker, is_held_out, iter_texts
from disconer.adapt.vocabulary import (
    RAREST,
    Choice,
    Vocabulary,
    add_words,
    best_words,
    check_vocabulary,
    count_words,
    listed_words,
)
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger


@dataclass(frozen=True, slots=True)
class TextSource:
    """Texts, and how to read them.

    format: detected if None.
    ledger: counts invalid input.
    """

    paths: Sequence[Path]
    format: str | None
    ledger: Ledger


def read_tokens(
    source: TextSource,
    pretrained: Pretrained,
    settings: AdaptSettings,
    folder: Path,
    accelerator: Accelerator,
    display: Display,
) -> TokenCache:
    """The tokenised text, from `folder` if it is already there."""
    started = time.monotonic()
    facts = {
        "tokenizer": tokenizer_hash(pretrained.tokenizer),
        "held_out": settings.held_out,
        "whole_words": settings.whole_words,
        "case": pretrained.reads_case,
    }
    origin = origin_of(source.paths, source.format, facts)
    if accelerator.is_main_process and not has_cache(folder):
        texts = iter_texts(source.paths, source.format, source.ledger)
        maker = SubwordMaker(pretrained.tokenizer, whole_words=settings.whole_words, case=pretrained.reads_case)
        build_cache(folder, texts, maker, origin, held_out=settings.held_out, seen=display.reading)
    accelerator.wait_for_everyone()
    cache = open_cache(folder, origin)
    if not len(cache.train):
        raise DisconerError(
            "No text found",
            where=Where(", ".join(map(str, source.paths))),
            fix="Check the paths and the format.",
        )
    display.text(cache, time.monotonic() - started)
    return cache


def prepare(
    pretrained: Pretrained,
    settings: AdaptSettings,
    source: TextSource,
    *,
    encoder: str,
    folder: AdaptFolder,
    accelerator: Accelerator,
    display: Display,
) -> Pretrained:
    """The encoder with the settings applied.

    encoder: its name, for error messages.
    folder: stores the new words; a resumed run uses the same ones.
    """
    if settings.case:
        add_case(pretrained, encoder)
    if settings.words is None:
        return pretrained
    check_vocabulary(pretrained.tokenizer, encoder)
    if accelerator.is_main_process and not folder.can_resume:
        choice = _chosen(settings.words, pretrained, source, settings.held_out, display)
        folder.write_words(choice.words)
        display.words(choice)
    accelerator.wait_for_everyone()
    return add_words(pretrained, folder.read_words())


def _chosen(
    wanted: int | Path, pretrained: Pretrained, source: TextSource, held_out: float, display: Display
) -> Choice:
    vocabulary = Vocabulary(pretrained.tokenizer)
    if isinstance(wanted, Path):
        return listed_words(wanted, vocabulary)
    unread = Ledger(skip_bad=source.ledger.skip_bad)  # errors are counted when the text is tokenised
    texts = iter_texts(source.paths, source.format, unread)
    trained_on = (text for text in texts if not is_held_out(text, held_out))
    choice = best_words(count_words(trained_on, vocabulary, display.counting), vocabulary, wanted)
    if len(choice.words) < wanted:
        found = f"{len(choice.words):,}, not {wanted:,}"
        display.note(f"words of several subwords seen {RAREST} times or more: {found}; --words FILE can add rarer ones")
    return choice
