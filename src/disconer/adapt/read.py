"""Texts to tokenised text, once for all processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accelerate import Accelerator

from disconer.adapt.cache import TokenCache, build_cache, has_cache, open_cache, origin_of, tokenizer_hash
from disconer.adapt.display import Display
from disconer.adapt.model import Pretrained
from disconer.adapt.settings import AdaptSettings
from disconer.adapt.texts import iter_texts
from disconer.adapt.tokenize import PieceMaker
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger


@dataclass(frozen=True, slots=True)
class TextSource:
    """Texts, and how to read them.

    format: recognised if None.
    ledger: keeps the account of bad input.
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
    """The tokenised text, from `folder` if it is there already."""
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
        maker = PieceMaker(pretrained.tokenizer, whole_words=settings.whole_words, case=pretrained.reads_case)
        build_cache(folder, texts, maker, origin, held_out=settings.held_out, seen=display.reading)
    accelerator.wait_for_everyone()
    cache = open_cache(folder, origin)
    if not len(cache.train):
        raise DisconerError(
            "There is no text here",
            where=Where(", ".join(map(str, source.paths))),
            fix="Check the paths and the format.",
        )
    display.text(cache, time.monotonic() - started)
    return cache
