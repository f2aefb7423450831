"""An adaptation, from an encoder and texts to the adapted encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from disconer.adapt.adaptation import Adaptation
from disconer.adapt.budget import Clock
from disconer.adapt.display import Display
from disconer.adapt.model import Pretrained, load_pretrained
from disconer.adapt.prepare import prepare
from disconer.adapt.read import TextSource, read_tokens
from disconer.adapt.result import AdaptResult
from disconer.adapt.settings import AdaptSettings
from disconer.adapt.state import AdaptFolder
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.version import __version__
from disconer.nn.encoders.transformer.pretrained import max_pieces
from disconer.runs.accelerator import LONG_PATIENCE, build_accelerator
from disconer.runs.versions import versions
from disconer.store.card import public_name


def adapt(
    encoder: str,
    texts: Sequence[str | Path],
    out: str | Path,
    settings: AdaptSettings | None = None,
    *,
    format: str | None = None,
    tokens: str | Path | None = None,
    ledger: Ledger | None = None,
    resume: bool = False,
    display: Display | None = None,
) -> AdaptResult:
    """Continue an encoder's training on texts, and leave it in `out`.

    encoder: as in a configuration: a folder, an installed package, a name on the Hub.
    format: of the texts; recognised if None.
    tokens: a folder to keep the tokenised text in, for further runs; within `out`, until all is done, if None.
    ledger: keeps the account of bad input; without one the first fault is raised.
    resume: continue the run that is in `out`, if one is, to the result that it would have had unbroken.
    """
    clock = Clock()
    settings = settings or AdaptSettings()
    accelerator = build_accelerator(settings.precision, patience=LONG_PATIENCE)
    display = display or Display(quiet=not accelerator.is_main_process)
    folder = AdaptFolder(Path(out))
    folder.check(resume=resume)
    accelerator.wait_for_everyone()  # before anything is written, so that all processes found the same
    if done := folder.result():
        display.note("this run is done already")
        return done
    torch.manual_seed(settings.seed)
    pretrained = load_pretrained(encoder)
    _check_length(settings, pretrained, encoder)
    facts = _facts(encoder, texts, settings)
    if folder.can_resume:
        folder.check_facts(facts)
    elif accelerator.is_main_process:
        folder.write_facts(facts)
    source = TextSource([Path(text) for text in texts], format, ledger or Ledger())
    pretrained = prepare(
        pretrained, settings, source, encoder=encoder, folder=folder, accelerator=accelerator, display=display
    )
    token_folder = Path(tokens) if tokens else folder.tokens
    cache = read_tokens(source, pretrained, settings, token_folder, accelerator, display)
    return Adaptation(
        base=encoder,
        texts=[str(text) for text in texts],
        settings=settings,
        pretrained=pretrained,
        cache=cache,
        folder=folder,
        accelerator=accelerator,
        display=display,
        clock=clock,
    ).run()


def _facts(encoder: str, texts: Sequence[str | Path], settings: AdaptSettings) -> dict[str, Any]:
    """What was run, by names that say nothing about the machine."""
    named = {"encoder": public_name(encoder), "texts": [public_name(str(text)) for text in texts]}
    return named | settings.to_dict() | {"versions": {"disconer": __version__, **versions()}}


def _check_length(settings: AdaptSettings, pretrained: Pretrained, encoder: str) -> None:
    limit = max_pieces(pretrained.language_model.base_model)
    if settings.length > limit:
        raise DisconerError(
            "Sequences are longer than what this encoder takes",
            where=Where(encoder),
            got=f"length {settings.length}",
            expected=f"at most {limit}",
        )
