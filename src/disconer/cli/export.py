"""`disconer export`: a trained model in another form: for another runtime, or compact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import report, show
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.plugins import require_training
from disconer.core.types import Kind
from disconer.formats import read
from disconer.formats.source import Source
from disconer.formats.target import new_folder, refuse_existing

if TYPE_CHECKING:
    from disconer.evaluate.comparison import Comparison

MEGABYTE = 1e6


def export_cli(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder or name of the model, or folder of a training run.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the exported model; also as -o OUT.")],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="As ONNX graphs with their weights, which other programs can run.")
    ] = False,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="ONNX graphs that compute in 8 bits: smaller, and faster on CPUs with VNNI."),
    ] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="A quarter of the size on disk: quantised weights, computed in 32 bits.")
    ] = False,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="GOLD", help="Compare both models on annotated documents."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Replace OUT.")] = False,
) -> None:
    """Export a trained model. predict, evaluate and serve accept the result like any other model."""
    if (onnx or int8) == compact:
        raise DisconerError("No single export format given", expected="--compact, --int8 or --onnx", fix="Give one.")
    require_training("Exporting")
    refuse_existing(out, force)
    ledger = Ledger()
    gold = None if check is None else list(read(Source(check), None, ledger))
    report(ledger)
    export(model, out, compact=compact, int8=int8)
    print(f"{out}: {_size(out) / MEGABYTE:.1f} MB")
    if gold is not None and check is not None:
        from disconer.evaluate.comparison import compare
        from disconer.predict.recognizer import Recognizer
        from disconer.store.checkpoint import record_comparison

        before, after = (Recognizer.from_pretrained(one, device="cpu") for one in (model, out))
        comparison = compare(before, after, gold, check.name)
        record_comparison(out, comparison)
        show_comparison(comparison)


def export(model: str, out: Path, *, compact: bool = False, int8: bool = False) -> None:
    """Export a model into a new folder, which is written atomically.

    compact: in a quarter of the size. Otherwise as ONNX graphs with their weights; int8: with weights of 8 bits.
    """
    from disconer.predict.loading import is_exported
    from disconer.store.checkpoint import load_model
    from disconer.store.names import find_model

    folder = find_model(model)
    if is_exported(folder):
        raise DisconerError(
            "This model is already an export", where=Where(model), fix="Give the model that it was exported from."
        )
    loaded = load_model(folder)
    with new_folder(out) as staging:
        if compact:
            from disconer.export.compact import save_compact
            from disconer.export.stored import with_graphs

            save_compact(with_graphs(loaded), staging)
        else:
            from disconer.export.onnx import export_model

            export_model(loaded, staging, int8=int8)


def show_comparison(comparison: Comparison) -> None:
    """Print what the export changed."""
    runs = comparison.before, comparison.after
    n_documents = len(comparison.before.documents)
    rows = [["F1", *(f"{100 * run.f1():.2f}" for run in runs)]]
    rows += [[f"F1, {kind.value}", *(f"{100 * run.f1(kind):.2f}" for run in runs)] for kind in Kind]
    rows.append(["documents/s", *(f"{n_documents / run.seconds:,.1f}" for run in runs)])
    show(f"{comparison.source}: {counted(n_documents, 'documents')}", ["", "before", "after"], [rows])
    print(f"{comparison.same:,} of {n_documents:,} documents have the same entities.")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
