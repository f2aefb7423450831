"""`disconer adapt`: continue pretraining an encoder on unlabelled text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from disconer.adapt.settings import AdaptResult, AdaptSettings, Precision
from disconer.cli.console import report
from disconer.cli.processes import end_process, is_first, one_voice, say_stopped
from disconer.core.errors import INTERRUPTED
from disconer.core.ledger import Ledger
from disconer.core.places import ADAPTATION_STATE
from disconer.core.plugins import require_training

USUAL = AdaptSettings()


def adapt_cli(
    encoder: Annotated[str, typer.Argument(metavar="ENCODER", help="A folder, or a name as in encoder.name.")],
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT", help="Files, folders, .zip, .gz or .xz to read.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the adapted encoder; also as -o OUT.")],
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Time limit for the whole run, from reading text to saving.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Number of optimizer steps.")] = None,
    epochs: Annotated[
        float, typer.Option("--epochs", help="Passes over the text, if neither --minutes nor --steps is given.")
    ] = USUAL.epochs,
    length: Annotated[int, typer.Option("--length", help="Subwords per sequence.")] = USUAL.length,
    batch: Annotated[
        int, typer.Option("--batch", "--batch-size", help="Sequences per optimizer step, over all processes.")
    ] = USUAL.batch,
    at_once: Annotated[
        int | None, typer.Option("--at-once", help="Sequences per forward pass on one device; default: what fits.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", "--lr", help="Peak learning rate; default: 5e-4 for hidden sizes up to 512, else 1e-4."),
    ] = None,
    warmup: Annotated[
        float, typer.Option("--warmup", help="Fraction of the run used for learning rate warm-up.")
    ] = USUAL.warmup,
    weight_decay: Annotated[float, typer.Option("--weight-decay", help="Weight decay.")] = USUAL.weight_decay,
    mask: Annotated[float, typer.Option("--mask", help="Masking probability.")] = USUAL.mask,
    whole_words: Annotated[
        bool, typer.Option("--whole-words", help="Whole-word masking: mask all subwords of a word, or none.")
    ] = False,
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            metavar="N|FILE",
            help="Add words to the vocabulary: the N that save the most subwords, or those listed in a file.",
        ),
    ] = None,
    case: Annotated[
        bool, typer.Option("--case", help="Feed letter case to an uncased encoder, as token types.")
    ] = False,
    dropout: Annotated[bool, typer.Option("--dropout", help="Keep the encoder's dropout on during training.")] = False,
    held_out: Annotated[
        float, typer.Option("--held-out", help="Fraction of documents held out to measure perplexity.")
    ] = USUAL.held_out,
    precision: Annotated[
        Precision,
        typer.Option("--precision", help="Number format; auto uses bf16 if the hardware supports it."),
    ] = USUAL.precision,
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = USUAL.seed,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of TEXT; detected if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="Folder that keeps the tokenised text for later runs.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in OUT; the result is that of an uninterrupted run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Continue pretraining a transformer on unlabelled text, with masked language modelling.

    OUT is an ordinary encoder folder: use it as encoder.name in a configuration. TEXT can be in any format; annotations
    are ignored. In a plain text file of more than 1 MiB, blank lines separate documents.

    On several GPUs or CPUs: torchrun --nproc-per-node 4 -m disconer adapt ENCODER TEXT OUT.
    """
    ledger = Ledger(skip_bad=skip_bad)
    try:
        with one_voice():
            settings = AdaptSettings(
                steps=steps,
                minutes=minutes,
                epochs=epochs,
                length=length,
                batch=batch,
                at_once=at_once,
                rate=rate,
                warmup=warmup,
                weight_decay=weight_decay,
                mask=mask,
                whole_words=whole_words,
                words=_words(words),
                case=case,
                dropout=dropout,
                held_out=held_out,
                precision=precision,
                seed=seed,
            )
            result = _adapt(encoder, texts, out, settings, ledger, from_format, tokens, resume=resume)
    except KeyboardInterrupt:
        say_stopped(_how_to_go_on(out))
        raise typer.Exit(INTERRUPTED) from None
    if is_first():
        report(ledger)
        if as_json:
            print(json.dumps(result.to_dict(), indent=2))
    end_process()


def _adapt(
    encoder: str,
    texts: list[Path],
    out: Path,
    settings: AdaptSettings,
    ledger: Ledger,
    from_format: str | None,
    tokens: Path | None,
    *,
    resume: bool,
) -> AdaptResult:
    require_training("Adapting an encoder")
    from accelerate import PartialState

    from disconer.adapt import adapt

    result = adapt(encoder, texts, out, settings, format=from_format, tokens=tokens, ledger=ledger, resume=resume)
    PartialState().destroy_process_group()  # only when all processes are done
    return result


def _words(given: str | None) -> int | Path | None:
    """A number of words, or the file that lists them."""
    if given is None:
        return None
    return int(given) if given.isdecimal() else Path(given)


def _how_to_go_on(out: Path) -> str:
    if (out / ADAPTATION_STATE).is_file():  # asked without torch, whose import may be what was interrupted
        return f"the last saved state is in {out}: run the same command with --resume to continue."
    return "nothing was saved yet."
