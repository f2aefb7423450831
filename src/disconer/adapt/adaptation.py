"""An adaptation, from an encoder and texts to the adapted encoder: measure, train, measure, save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from disconer.adapt.batches import Feed, Masker, Plan
from disconer.adapt.cache import Sequences, TokenCache, Tokens
from disconer.adapt.display import Display
from disconer.adapt.loop import (
    Budget,
    Clock,
    Loop,
    build_optimizer,
    by_first_process,
    perplexity,
    sequences_at_once,
    usual_rate,
)
from disconer.adapt.model import MaskedModel, Pretrained, load_pretrained
from disconer.adapt.prepare import TextSource, prepare, read_tokens
from disconer.adapt.saving import curve_page, encoder_card, save_encoder
from disconer.adapt.settings import AdaptResult, AdaptSettings
from disconer.adapt.state import AdaptFolder, Progress
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.ledger import Ledger
from disconer.core.version import __version__
from disconer.nn.encoders.transformer.pretrained import max_subwords
from disconer.runs.output_folder import Stateful, versions
from disconer.runs.processes import LONG_PATIENCE, alone_in, build_accelerator
from disconer.store.card import public_name

SAVING = 100e6  # bytes per second, a conservative estimate
SAFETY = 2.0  # seconds, for everything else


class Adaptation:
    """Trains an encoder on tokenised text, and saves it.

    base, texts: names, for the card.
    """

    def __init__(
        self,
        *,
        base: str,
        texts: Sequence[str],
        settings: AdaptSettings,
        pretrained: Pretrained,
        cache: TokenCache,
        folder: AdaptFolder,
        accelerator: Accelerator,
        display: Display,
        clock: Clock,
    ) -> None:
        self.base, self.texts, self.settings = base, texts, settings
        self.cache, self.folder, self.accelerator, self.display, self.clock = cache, folder, accelerator, display, clock
        self.pretrained, self.tokenizer, self.new_head = pretrained, pretrained.tokenizer, pretrained.new_head
        self.sequences = self._sequences(cache.train)
        self.model = MaskedModel(pretrained.language_model)
        self.rate = settings.rate or usual_rate(self.model.width)
        optimizer = build_optimizer(self.model, rate=self.rate, weight_decay=settings.weight_decay)
        self.network, self.optimizer = accelerator.prepare(self.model, optimizer)
        # Prepared before weights are loaded, so that they are loaded onto the right device.
        self.parts: dict[str, Stateful] = {"optimizer": self.optimizer}
        if accelerator.scaler is not None:
            self.parts["scaler"] = accelerator.scaler
        self.masker = Masker(
            probability=settings.mask,
            mask=self.tokenizer.mask_token_id,
            special=self.tokenizer.all_special_ids,
            vocabulary=len(self.tokenizer),
            device=accelerator.device,
        )

    def run(self) -> AdaptResult:
        progress = self._start()
        started = self.clock.elapsed()
        before = self._perplexity(progress)
        measuring = by_first_process(self.clock.elapsed() - started, self.accelerator)
        if not progress.step:
            progress.before = before
        self.display.before(progress.before, new_head=self.new_head)
        budget = self._budget(reserve=SAFETY + 2 * measuring + self.model.n_bytes / SAVING)
        self._train(progress, budget)
        return self._finish(progress)

    def _start(self) -> Progress:
        """The start, or the last saved state of an interrupted run."""
        if self.folder.can_resume:
            progress = self.folder.load(self.model, self.parts)
            self.clock.add(progress.elapsed)
        else:
            progress = Progress()
        n_processes = self.accelerator.num_processes
        if not progress.at_once or self.settings.batch % (progress.at_once * n_processes):
            progress.at_once = sequences_at_once(
                self.settings, self.network, self.masker, self.accelerator, mark=self.tokenizer.mask_token_id
            )
        return progress

    def _sequences(self, tokens: Tokens) -> Sequences:
        begin, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        return Sequences(tokens, length=self.settings.length, begin=begin, end=end)

    def _perplexity(self, progress: Progress) -> float | None:
        """Held-out perplexity, if there is enough text for a sequence."""
        if len(self.cache.held_out) < self.settings.length:
            return None
        held_out = self._sequences(self.cache.held_out)
        return perplexity(self.network, held_out, self.masker, self.accelerator, at_once=progress.at_once)

    def _budget(self, *, reserve: float) -> Budget:
        """reserve: seconds needed after the last step, to measure and to save."""
        steps, minutes = self.settings.steps, self.settings.minutes
        if steps is None and minutes is None:
            steps = -(-int(self.settings.epochs * len(self.sequences)) // self.settings.batch) or 1
        seconds = None if minutes is None else 60 * minutes - reserve
        if seconds is not None and seconds <= self.clock.elapsed():
            raise DisconerError(
                f"No time is left to train: reading and measuring took {self.clock.elapsed():.0f} s, and measuring and "
                f"saving at the end will take about {reserve:.0f} s",
                got=f"{minutes:g} minutes",
                fix="Give it more minutes; with --resume the text is not tokenised again.",
            )
        return Budget(steps, seconds)

    def _train(self, progress: Progress, budget: Budget) -> None:
        plan = Plan(
            len(self.sequences),
            batch=self.settings.batch,
            at_once=progress.at_once,
            seed=self.settings.seed,
            process=self.accelerator.process_index,
            n_processes=self.accelerator.num_processes,
        )
        loop = Loop(
            network=self.network,
            optimizer=self.optimizer,
            rate=self.rate,
            plan=plan,
            feed=Feed(self.sequences, self.accelerator.device),
            masker=self.masker,
            budget=budget,
            clock=self.clock,
            settings=self.settings,
            folder=self.folder,
            parts=self.parts,
            accelerator=self.accelerator,
            display=self.display,
        )
        done = budget.done(progress.step, self.clock.elapsed())
        with self.display.running(progress, step_size=self.settings.batch * self.settings.length, done=done):
            loop.run(progress)

    def _finish(self, progress: Progress) -> AdaptResult:
        """Save, then measure: if time runs out while measuring, the encoder is already saved."""
        result = self._result(progress)
        if self.accelerator.is_main_process:
            save_encoder(self.model, self.tokenizer, self.folder.path)
            self._describe(progress, result)
        after = self._perplexity(progress)
        result = replace(result, perplexity_after=after, seconds=round(self.clock.elapsed(), 1))
        if self.accelerator.is_main_process:
            self._describe(progress, result)
            self.folder.finish(result)
        self.accelerator.wait_for_everyone()
        self.display.result(result)
        return result

    def _result(self, progress: Progress) -> AdaptResult:
        n_sequences = progress.step * self.settings.batch
        return AdaptResult(
            folder=self.folder.path,
            steps=progress.step,
            subwords=n_sequences * self.settings.length,
            epochs=n_sequences / len(self.sequences),
            seconds=round(self.clock.elapsed(), 1),
            loss=progress.loss,
            perplexity_before=progress.before,
            perplexity_after=None,
            new_head=self.new_head,
        )

    def _describe(self, progress: Progress, result: AdaptResult) -> None:
        """Write the card and the curve."""
        card = encoder_card(
            base=self.base,
            texts=self.texts,
            cache=self.cache,
            pretrained=self.pretrained,
            result=result,
            settings=self.settings.to_dict() | {"rate": self.rate, "at_once": progress.at_once},
            version=__version__,
        )
        replace_file(self.folder.card, card.encode())
        self.folder.save_metrics(progress)
        facts = {"encoder": public_name(self.base), "steps": f"{result.steps:,}"}
        if result.perplexity_after is not None:
            facts["perplexity after"] = f"{result.perplexity_after:,.2f}"
        replace_file(self.folder.curve, curve_page(progress.history, facts).encode())


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
    """Continue pretraining an encoder on texts, and save it in `out`.

    encoder: as in a configuration: a folder, an installed package, a name on the Hub.
    format: of the texts; detected if None.
    tokens: a folder that keeps the tokenised text for later runs; if None, within `out` until the run is done.
    ledger: counts invalid input; without one the first error is raised.
    resume: continue the run in `out`, if there is one; the result is that of an uninterrupted run.
    """
    clock = Clock()
    settings = settings or AdaptSettings()
    accelerator = build_accelerator(settings.precision, patience=LONG_PATIENCE)
    display = display or Display(quiet=not accelerator.is_main_process)
    folder = AdaptFolder(Path(out))
    folder.check(resume=resume)
    accelerator.wait_for_everyone()  # before anything is written, so that all processes see the same
    if done := folder.result():
        display.note("this run is already done")
        return done
    torch.manual_seed(settings.seed)
    pretrained = load_pretrained(encoder)
    _check_length(settings, pretrained, encoder)
    folder.path.mkdir(parents=True, exist_ok=True)
    with alone_in(folder.path, accelerator):
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
    """What was run, without paths of the machine."""
    named = {"encoder": public_name(encoder), "texts": [public_name(str(text)) for text in texts]}
    return named | settings.to_dict() | {"versions": {"disconer": __version__, **versions()}}


def _check_length(settings: AdaptSettings, pretrained: Pretrained, encoder: str) -> None:
    limit = max_subwords(pretrained.language_model.base_model)
    if settings.length > limit:
        raise DisconerError(
            "Sequences are longer than this encoder's maximum",
            where=Where(encoder),
            got=f"length {settings.length}",
            expected=f"at most {limit}",
        )
