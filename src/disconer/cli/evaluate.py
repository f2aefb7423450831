"""`disconer evaluate`: precision, recall and F1 of predictions, and their errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, report, show_evaluation
from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.formats import read
from disconer.formats.target import new_file, refuse_existing
from disconer.predict.settings import RuntimeName

if TYPE_CHECKING:
    from disconer.evaluate import Evaluation  # loaded when the command runs, so that --help is fast


def evaluate_files(
    gold: Path,
    *,
    model: str | None = None,
    runtime: RuntimeName | None = None,
    parser: str | None = None,
    predictions: Path | None = None,
    from_format: str | None = None,
    predictions_format: str | None = None,
    missing_as_empty: bool = False,
    html: Path | None = None,
    force: bool = False,
    ledger: Ledger | None = None,
) -> Evaluation:
    """Compare gold documents with a model's predictions, or with predictions from a file.

    html: file for a report with all metrics and every wrong sentence.
    """
    from disconer.evaluate import paired

    if (model is None) == (predictions is None):
        raise DisconerError(
            "Evaluation needs either a model or predictions", fix="Give one of --model and --predictions."
        )
    if html:
        refuse_existing(html, force)
    documents = progress(read(gold, from_format, ledger), "documents")
    if predictions is not None:
        predicted: Iterable[Document] = read(predictions, predictions_format, ledger)
    else:
        documents, texts = tee(documents)
        predicted = _predict(str(model), runtime, parser, texts)
    pairs = paired(documents, predicted, missing_as_empty=missing_as_empty)
    return _compare(pairs, html, {"gold": str(gold), "model": model, "predictions": predictions})


def _predict(
    model: str, runtime: RuntimeName | None, parser: str | None, documents: Iterable[Document]
) -> Iterator[Document]:
    from disconer.predict.recognizer import Recognizer

    recognizer = Recognizer.from_pretrained(model, runtime=runtime, parser=parser, keep_parses=True)
    return recognizer.annotate(document.replace(entities=()) for document in documents)


def _compare(
    pairs: Iterable[tuple[Document, Document]], html: Path | None, compared: Mapping[str, object | None]
) -> Evaluation:
    """compared: what is compared, by name; shown on the page."""
    from disconer.evaluate import Evaluation
    from disconer.render.report import Report, learning_curve

    evaluation, report = Evaluation(), Report()
    for pair in pairs:
        evaluation.add(*pair)
        if html:
            report.add(*pair)
    if html:
        facts = {name: str(value) for name, value in compared.items() if value is not None}
        epochs = learning_curve(facts["model"]) if "model" in facts else []
        with new_file(html) as stream:
            report.write(stream, evaluation, facts=facts | {"disconer": __version__}, epochs=epochs)
    return evaluation


def evaluate_cli(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Annotated documents: file, folder, .zip or .gz.")],
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="M", help="Model to evaluate.")] = None,
    runtime: Annotated[
        RuntimeName | None,
        typer.Option("--runtime", help="onnx or torch; default: torch on a GPU, else ONNX Runtime."),
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option("--parser", metavar="P", help="Dependency parser to use instead of the model's own."),
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="P", help="Predicted documents, matched by id.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of GOLD; detected if not given.")] = None,
    predictions_format: Annotated[
        str | None, typer.Option("--predictions-from", help="Format of P; detected if not given.")
    ] = None,
    missing_as_empty: Annotated[
        bool,
        typer.Option(
            "--missing-as-empty", help="Treat gold documents without a prediction as having no predicted entities."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all metrics as JSON.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write an HTML report: plots and every wrong sentence."),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite FILE.")] = False,
) -> None:
    """Compare predictions with gold: precision, recall and F1 by kind and label, error classes, calibration."""
    ledger = Ledger(skip_bad=skip_bad)
    evaluation = evaluate_files(
        gold,
        model=model,
        runtime=runtime,
        parser=parser,
        predictions=predictions,
        from_format=from_format,
        predictions_format=predictions_format,
        missing_as_empty=missing_as_empty,
        html=html,
        force=force,
        ledger=ledger,
    )
    report(ledger)
    if as_json:
        print(json.dumps(evaluation.to_dict(), indent=2, ensure_ascii=False))
    else:
        show_evaluation(evaluation)
