"""`disconer adapt`: an encoder goes on learning from unlabelled text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from disconer.adapt.settings import AdaptResult, AdaptSettings, Precision
from disconer.cli.console import report
from disconer.cli.processes import end_process, is_first, one_voice, say_stopped
from disconer.cli.train import INTERRUPTED
from disconer.core.ledger import Ledger

USUAL = AdaptSettings()


def adapt_cli(
    encoder: Annotated[str, typer.Argument(metavar="ENCODER", help="A folder, or a name as in encoder.name.")],
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT", help="Files, folders, .zip, .gz or .xz to read.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the adapted encoder.")],
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="Time for all, from reading to the saved encoder.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Steps of the optimizer.")] = None,
    epochs: Annotated[
        float, typer.Option("--epochs", help="Passes over the text, without --minutes and --steps.")
    ] = USUAL.epochs,
    length: Annotated[int, typer.Option("--length", help="Pieces of a sequence.")] = USUAL.length,
    batch: Annotated[int, typer.Option("--batch", help="Sequences of a step, over all processes.")] = USUAL.batch,
    at_once: Annotated[
        int | None, typer.Option("--at-once", help="Sequences that one device takes at once; as many as fit.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", help="Highest learning rate; 5e-4 for encoders up to 512 units wide, else 1e-4."),
    ] = None,
    warmup: Annotated[float, typer.Option("--warmup", help="Share of the run in which the rate rises.")] = USUAL.warmup,
    weight_decay: Annotated[float, typer.Option("--weight-decay", help="Pull on weights.")] = USUAL.weight_decay,
    mask: Annotated[float, typer.Option("--mask", help="Share of pieces to be guessed.")] = USUAL.mask,
    whole_words: Annotated[
        bool, typer.Option("--whole-words", help="Mask all pieces of a word, or none of them.")
    ] = False,
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            metavar="N|FILE",
            help="Give N frequent words that the tokenizer breaks up, or those of a file, pieces of their own.",
        ),
    ] = None,
    case: Annotated[
        bool, typer.Option("--case", help="Teach an encoder whose tokenizer drops capitals to see them.")
    ] = False,
    dropout: Annotated[bool, typer.Option("--dropout", help="Keep the encoder's dropout on.")] = False,
    held_out: Annotated[
        float, typer.Option("--held-out", help="Share of documents to measure perplexity on, not to learn from.")
    ] = USUAL.held_out,
    precision: Annotated[
        Precision,
        typer.Option("--precision", help="Number format; auto takes bf16 where the hardware has it."),
    ] = USUAL.precision,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.")] = USUAL.seed,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of TEXT; recognised if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad input out and count it.")] = False,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="Folder to keep the tokenised text in, for further runs.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in OUT, to the result that it would have had unbroken.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Continue a transformer's training on unlabelled text: it learns to guess masked pieces of it.

    OUT is an ordinary encoder folder, to be named as encoder.name in a configuration. Any format is read, annotations
    are not looked at; a file of plain text over 1 MiB holds many documents, with blank lines between them.

    On several processors: torchrun --nproc-per-node 4 -m disconer adapt ENCODER TEXT OUT.
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
    from accelerate import PartialState

    from disconer.adapt import adapt

    result = adapt(encoder, texts, out, settings, format=from_format, tokens=tokens, ledger=ledger, resume=resume)
    PartialState().destroy_process_group()  # processes part when all are done
    return result


def _words(given: str | None) -> int | Path | None:
    """A number of words, or the file that lists them."""
    if given is None:
        return None
    return int(given) if given.isdecimal() else Path(given)


def _how_to_go_on(out: Path) -> str:
    from disconer.adapt.state import AdaptFolder

    if AdaptFolder(out).can_resume:
        return f"the last state kept is in {out}: the same command with --resume goes on after it."
    return "nothing was kept yet."
