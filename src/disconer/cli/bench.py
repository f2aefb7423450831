"""`disconer bench`: how fast a model is on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from disconer.bench.timing import PARTS, REPEATS, SENTENCES, ClockName, Part, Settings
from disconer.cli.console import show
from disconer.core.errors import DisconerError
from disconer.core.plugins import require_training
from disconer.predict.settings import RuntimeName
from disconer.store.names import default_model, find_model

if TYPE_CHECKING:
    from disconer.bench.measurements import Report  # imports torch
    from disconer.nn.runtime import AnyModel, Precision


def bench(
    model: str,
    settings: Settings,
    *,
    data: Path | None = None,
    from_format: str | None = None,
    encoder: str | None = None,
) -> Report:
    """Measure a model, on the demo's dev documents if no data is given."""
    require_training("The benchmark")
    from disconer.bench.measurements import bench as measure
    from disconer.demo import demo_config
    from disconer.formats import read
    from disconer.predict.loading import is_exported, load
    from disconer.predict.onnx.model import OnnxModel
    from disconer.store.graphs import StoredGraphs, read_graphs

    documents = read(data or demo_config().data.dev, from_format)
    standard = None if encoder is None else load(find_model(encoder), runtime="torch")
    folder = find_model(model)
    loaded = load(folder, runtime=settings.runtime, device=settings.device, precision=settings.precision)
    other: AnyModel | None = None
    if isinstance(loaded, OnnxModel):
        other = None if is_exported(folder) else load(folder, runtime="torch")
    elif settings.device == "cpu" and settings.precision == "fp32" and isinstance(read_graphs(folder), StoredGraphs):
        other = load(folder, runtime="onnx")
    return measure(loaded, documents, settings, encoder=standard, other=other, folder=folder)


def bench_cli(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="M", help="Folder or name of the model; default: clinical-trials."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="SRC", help="Corpus to measure on; default: the demo's dev documents."),
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    given: Annotated[
        bool, typer.Option("--given", help="Use the sentences, tokens and dependency heads of SRC.")
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", metavar="M", help="Model whose bare encoder is the baseline, if not M's own."),
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", help="cpu, cuda, cuda:1, …; default: a GPU if available.")
    ] = None,
    runtime: Annotated[
        RuntimeName | None,
        typer.Option("--runtime", help="onnx or torch; default: torch on a GPU, else ONNX Runtime."),
    ] = None,
    precision: Annotated[str, typer.Option("--precision", help="Precision of the model: fp32, bf16 or int8.")] = "fp32",
    encoder_precision: Annotated[
        str | None,
        typer.Option(
            "--encoder-precision",
            help="Precision of the bare encoder: fp32 or bf16; default: the model's, for int8 fp32.",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="CPU threads; default: as in predict.")
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Rounds, after one warm-up round.")] = REPEATS,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Approximate number of sentences; 0: all.")] = SENTENCES,
    only: Annotated[str | None, typer.Option("--only", metavar="A,B", help=f"Only some of {', '.join(PARTS)}.")] = None,
    training: Annotated[bool, typer.Option("--training/--no-training", help="Also measure a training step.")] = True,
    clock: Annotated[
        str,
        typer.Option("--clock", help="wall, or cpu: CPU time of this process, for busy machines."),
    ] = "wall",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Measure a model's speed against its bare encoder.

    Reports throughput and latency from text to entities, ONNX Runtime against torch, the time from the start of a
    process to its first answer, time per stage, memory, and the time of a training step. Everything but the start of
    processes runs in this process on the same sentences, and compared runs alternate, so that ratios hold on shared
    machines too. int8 runs in ONNX Runtime alone, and is compared with fp32 there.
    """
    bare = encoder_precision or ("fp32" if precision == "int8" else precision)
    settings = Settings(
        parts=_parts(only, training=training),
        device=device,
        runtime=runtime,
        precision=cast("Precision", _one_of("--precision", precision, ("fp32", "bf16", "int8"))),
        encoder_precision=cast("Precision", _one_of("--encoder-precision", bare, ("fp32", "bf16"))),
        threads=threads,
        repeats=repeats,
        limit=limit or None,
        given=given,
        clock=cast(ClockName, _one_of("--clock", clock, ("wall", "cpu"))),
    )
    name = model or default_model()
    report = bench(name, settings, data=data, from_format=from_format, encoder=encoder)
    if as_json:
        print(json.dumps({"model": name} | report.to_dict(), indent=1))
    else:
        _print(report, name)


def _parts(only: str | None, *, training: bool) -> tuple[Part, ...]:
    wanted = PARTS if only is None else tuple(_one_of("--only", part.strip(), PARTS) for part in only.split(","))
    return tuple(part for part in PARTS if part in wanted and (training or part != "training"))


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise DisconerError(f"Unknown value for {option}: {value!r}", expected=f"one of {', '.join(known)}")
    return value


def _print(report: Report, model: str) -> None:
    from disconer.bench.tables import heading, notes, tables

    for line in heading(report, model):
        print(line)
    for line in notes(report):
        print(f"note: {line}")
    for table in tables(report):
        print()
        show(table.title, table.columns, table.sections)
