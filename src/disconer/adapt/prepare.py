"""What becomes of an encoder before it learns: it gets words, and eyes for case."""

from __future__ import annotations

from pathlib import Path

from accelerate import Accelerator

from disconer.adapt.case import add_case
from disconer.adapt.display import Display
from disconer.adapt.model import Pretrained
from disconer.adapt.read import TextSource
from disconer.adapt.settings import AdaptSettings
from disconer.adapt.state import AdaptFolder
from disconer.adapt.texts import iter_texts
from disconer.adapt.tokenize import is_held_out
from disconer.adapt.vocabulary import add_words, check_vocabulary
from disconer.adapt.words import RAREST, Choice, Vocabulary, best_words, count_words, listed_words
from disconer.core.ledger import Ledger


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
    """The encoder as settings want it.

    encoder: its name, for errors.
    folder: keeps the words; a resumed run takes those that it began with.
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
    unread = Ledger(skip_bad=source.ledger.skip_bad)  # faults are counted when the text is tokenised
    texts = iter_texts(source.paths, source.format, unread)
    learnt_from = (text for text in texts if not is_held_out(text, held_out))
    choice = best_words(count_words(learnt_from, vocabulary, display.counting), vocabulary, wanted)
    if len(choice.words) < wanted:
        found = f"{len(choice.words):,}, not {wanted:,}"
        display.note(f"words broken up and seen {RAREST} times or more: {found}; --words FILE takes rarer ones, too")
    return choice
