"""Measurements as lines and tables. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from disconer.bench.timing import Ratio

if TYPE_CHECKING:
    from disconer.bench.measurements import Report
    from disconer.bench.prediction import Latency, Runtimes, Startup, Throughput
    from disconer.bench.stages import Stages
    from disconer.bench.timing import Timing
    from disconer.bench.training import Training

Row = tuple[str, ...]
BARE = "bare encoder"


class Table(NamedTuple):
    title: str
    columns: Row
    sections: list[list[Row]]


def heading(report: Report, model: str) -> Iterator[str]:
    """Where and on what it was measured."""
    where, how, sample = report.environment, report.settings, report.sample
    yield f"model {model}, {how.precision}, on {where['device']}: {where['processor']}, {where['threads']} threads"
    yield (
        f"torch {where['torch']}, disconer {where['disconer']}, Python {where['python']}, {where['system']}; "
        f"{where['cores']} cores, load {where['load']}"
    )
    counts = ", ".join(f"{count:,} {what}" for what, count in sample.items())
    source = "sentences as given" if how.given else "text alone"
    yield f"{counts}; {source}; median of {how.repeats} rounds by {how.clock} clock, lowest and highest in brackets"


def notes(report: Report) -> Iterator[str]:
    """Caveats: where results look better than they are, and what they include."""
    if report.throughput and not report.throughput.n_entities:
        yield "the model finds no entities here, so the cost of pairs and their decoding is not measured"
    if report.settings.precision == "int8":
        yield (
            "int8 is ONNX Runtime's alone: it is compared with fp32 there, the bare encoder is in fp32, and training "
            "and torch are not measured"
        )


def tables(report: Report) -> Iterator[Table]:
    """A table per measured part."""
    if report.throughput:
        yield _throughput(report.throughput)
    if report.latency:
        yield _latency(report.latency)
    if report.runtimes:
        yield _runtimes(report.runtimes)
    if report.startup:
        yield _startup(report.startup)
    if report.stages:
        yield _stages(report.stages, report.sample["sentences"])
    if report.training:
        yield _training(report.training)
    if memory := report.memory:
        kinds = (("whole process", memory.process), ("GPU", memory.cuda))
        rows: list[Row] = [(name, f"{size:,.0f}") for name, size in kinds if size is not None]
        yield Table("Memory", ("", "MB at most"), [rows])


def _throughput(measured: Throughput) -> Table:
    def row(name: str, timing: Timing, ratio: object) -> Row:
        return (name, f"{measured.per_second(timing):,.1f}", _spread(timing, 1), str(ratio))

    rows = [
        row("text to entities", measured.end_to_end, ""),
        row(f"{BARE}, sorted, by 32", measured.encoder, measured.ratio),
        row(f"{BARE}, same batches", measured.encoder_own_batches, measured.ratio_own_batches),
    ]
    return Table("Many sentences", ("", "sentences/s", "seconds", "text to entities, relative"), [rows])


def _latency(measured: Latency) -> Table:
    scale = 1000 / measured.n_sentences
    rows: list[Row] = [
        ("text to entities", _spread(measured.end_to_end, scale), ""),
        (BARE, _spread(measured.encoder, scale), str(measured.ratio)),
    ]
    return Table("One sentence at a time", ("", "ms per sentence", "text to entities, relative"), [rows])


def _runtimes(measured: Runtimes) -> Table:
    first = next(iter(measured.many))
    rows: list[Row] = []
    for runtime in measured.many:
        many, single = measured.many[runtime], measured.single[runtime]
        rows.append(
            (
                runtime,
                f"{measured.n_sentences / many.median:,.1f}",
                str(Ratio.of(many, measured.many[first])),
                _spread(single, 1000 / measured.n_single),
                str(Ratio.of(single, measured.single[first])),
            )
        )
    columns = ("", "sentences/s", f"{first}, relative", "ms per single sentence", f"{first}, relative")
    return Table("Runtime against runtime", columns, [rows])


def _startup(measured: Mapping[str, Startup]) -> Table:
    rows: list[Row] = [
        (runtime, _spread(found.seconds, 1), "" if found.memory is None else f"{found.memory:,.0f}")
        for runtime, found in measured.items()
    ]
    return Table("Start of a process to its first answer", ("", "seconds", "MB at most"), [rows])


def _stages(measured: Stages, n_sentences: int) -> Table:
    def row(name: str, seconds: float) -> Row:
        return (name, f"{1000 * seconds / n_sentences:.3f}", f"{seconds / measured.sum:.1%}")

    stages = [row(stage, seconds) for stage, seconds in measured.seconds.items()]
    whole = [row("sum", measured.sum), row("run without stages", measured.unpipelined.median)]
    return Table("Stages, not overlapping", ("", "ms per sentence", "share"), [stages, whole])


def _training(measured: Training) -> Table:
    scale = 1000 / measured.n_steps
    rows: list[Row] = [
        ("step", _spread(measured.step, scale), str(measured.ratio)),
        (f"{BARE}, forward and backward", _spread(measured.encoder, scale), ""),
    ]
    return Table("Training", ("", "ms a step", "times the bare encoder"), [rows])


def _spread(timing: Timing, scale: float) -> str:
    low, middle, high = (scale * seconds for seconds in (min(timing.seconds), timing.median, max(timing.seconds)))
    return f"{middle:,.2f} ({low:,.2f} to {high:,.2f})"
