"""`disconer evaluate`: precision, recall and F1 of predictions, and their errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, report, show_evaluation
from disconer.cli.model_options import PrecisionOption, RuntimeOption, ThresholdOption
from disconer.core.corpus import labels_named, with_labels, with_scores_from
from disconer.core.errors import DisconerError, Where, listed
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.formats import read
from disconer.formats.target import new_file, refuse_existing
from disconer.predict.settings import Precision, RuntimeName

if TYPE_CHECKING:
    from disconer.evaluate import Evaluation  # loaded when the command runs, so that --help is fast

_SHOWN = 10  # labels in a message


def evaluate_files(
    gold: Path,
    *,
    model: str | None = None,
    runtime: RuntimeName | None = None,
    precision: Precision = "fp32",
    parser: str | None = None,
    predictions: Path | None = None,
    from_format: str | None = None,
    predictions_format: str | None = None,
    missing_as_empty: bool = False,
    labels: Collection[str] | None = None,
    threshold: float | None = None,
    html: Path | None = None,
    force: bool = False,
    ledger: Ledger | None = None,
) -> Evaluation:
    """Compare gold documents with a model's predictions, or with predictions from a file.

    labels: only entities with these count, gold or predicted; None: all.
    threshold: minimum score of predicted entities; of a model, see `Recognizer`.
    html: file for a report with all metrics and every wrong sentence.
    """
    if (model is None) == (predictions is None):
        raise DisconerError(
            "Evaluation needs either a model or predictions", fix="Give one of --model and --predictions."
        )
    if html:
        refuse_existing(html, force)
    documents = progress(read(gold, from_format, ledger), "documents")
    shown = None if labels is None else ", ".join(labels)
    compared = {
        "gold": str(gold), "model": model, "predictions": predictions, "labels": shown, "threshold": threshold
    }  # fmt: skip
    if predictions is not None:
        predicted: Iterable[Document] = read(predictions, predictions_format, ledger)
        if threshold is not None:
            predicted = (with_scores_from(document, threshold) for document in predicted)
        return _compare(_pairs(documents, predicted, labels, missing_as_empty), html, compared, labels)
    from disconer.predict.recognizer import Recognizer

    recognizer = Recognizer.from_pretrained(
        str(model), runtime=runtime, precision=precision, parser=parser, keep_parses=True, threshold=threshold
    )
    documents, texts = tee(documents)
    predicted = recognizer.annotate(document.replace(entities=()) for document in texts)
    unsure = None if labels is None else [label for label in labels if label not in recognizer.labels]
    evaluation = _compare(_pairs(documents, predicted, labels, missing_as_empty), html, compared, unsure)
    _warn_of_other_labels(evaluation, recognizer.labels)
    return evaluation


def _pairs(
    gold: Iterable[Document], predicted: Iterable[Document], labels: Collection[str] | None, missing_as_empty: bool
) -> Iterable[tuple[Document, Document]]:
    from disconer.evaluate import paired

    pairs = paired(gold, predicted, missing_as_empty=missing_as_empty)
    return pairs if labels is None else ((with_labels(one, labels), with_labels(other, labels)) for one, other in pairs)


def _check_labels(evaluation: Evaluation, labels: Collection[str], gold: str) -> None:
    """A label that no entity has is a typo."""
    if unknown := [label for label in labels if label not in evaluation.labels]:
        raise DisconerError(
            f"Neither gold nor predicted entities have the label{'s' * (len(unknown) > 1)} {listed(unknown, _SHOWN)}",
            where=Where(gold),
            fix="Correct --labels. `disconer stats` counts the labels of the gold documents.",
        )


def _warn_of_other_labels(evaluation: Evaluation, known: Sequence[str]) -> None:
    """Say which gold labels the model does not have, as when it was trained on another corpus."""
    other = {label: counts.gold for label, counts in sorted(evaluation.labels.items()) if label not in known}
    if other:
        print(
            f"warning: the model does not have {len(other)} of the gold labels, so their {sum(other.values()):,} "
            f"entities count as missed: {listed(list(other), _SHOWN)}. It has {listed(known, _SHOWN)}. "
            "--labels evaluates some labels alone.",
            file=sys.stderr,
        )


def _compare(
    pairs: Iterable[tuple[Document, Document]],
    html: Path | None,
    compared: Mapping[str, object | None],
    labels: Collection[str] | None,
) -> Evaluation:
    """compared: what is compared, by name; shown on the page. labels: those that some entity must have."""
    from disconer.evaluate import Evaluation
    from disconer.render.report import Report, learning_curve

    evaluation, report = Evaluation(), Report()
    for pair in pairs:
        evaluation.add(*pair)
        if html:
            report.add(*pair)
    _check_labels(evaluation, labels or (), str(compared["gold"]))
    if not evaluation.overall.gold:  # perhaps a wrong path
        print(f"warning: {compared['gold']} has no entities, so all figures are 0", file=sys.stderr)
    if html:
        facts = {name: str(value) for name, value in compared.items() if value is not None}
        epochs = learning_curve(facts["model"]) if "model" in facts else []
        with new_file(html) as stream:
            report.write(stream, evaluation, facts=facts | {"disconer": __version__}, epochs=epochs)
    return evaluation


def evaluate_cli(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Annotated documents: file, folder, .zip or .gz.")],
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="M", help="Model to evaluate.")] = None,
    precision: PrecisionOption = "fp32",
    runtime: RuntimeOption = None,
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
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="A,B", help="Only entities with these labels, gold and predicted."),
    ] = None,
    threshold: ThresholdOption = None,
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
        precision=precision,
        parser=parser,
        predictions=predictions,
        from_format=from_format,
        predictions_format=predictions_format,
        missing_as_empty=missing_as_empty,
        labels=None if labels is None else labels_named(labels),
        threshold=threshold,
        html=html,
        force=force,
        ledger=ledger,
    )
    report(ledger)
    if as_json:
        print(json.dumps(evaluation.to_dict(), indent=2, ensure_ascii=False))
    else:
        show_evaluation(evaluation)
