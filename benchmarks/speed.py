"""disconer's speed targets: measured values, and whether each is met.

    OMP_NUM_THREADS=2 python benchmarks/speed.py --data data/chia/dev.jsonl --plain models/chia-plain \
        --both models/chia-both --both-data data/chia/dev-heads.jsonl --default models/demo --exported exported/chia \
        --growth docs/pictures/growth.json

--plain: a trained model without BiLSTM and GCN. --both: one with both; its data has dependency heads.
--default: the default model. --exported: an exported model, against the torch encoder of the first given of --plain,
--both and --default. --growth: output of benchmarks/growth.py.

Targets whose model is not given are left out. Ratios are medians of alternating rounds; see
docs/explanation/speed.md. The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from disconer.bench.measurements import Report, bench
from disconer.bench.timing import REPEATS, Settings
from disconer.formats import read
from disconer.predict.loading import load
from disconer.store.names import find_model

PLAIN, BOTH, DEFAULT = 0.80, 0.65, 0.65  # end to end, of the bare encoder's speed
ON_GPU = 0.5
SINGLE = 0.70
STEP = 1.35  # times the bare encoder's forward and backward pass
EXPORTED = 1.6  # of the bare encoder's speed in torch and fp32
SPEED_CHANGE = 0.15  # between the smallest and the largest input
MEMORY_CHANGE = 0.15
TOKEN_COST = 2.0  # times the cheapest, whatever the length of the sentence


@dataclass(frozen=True)
class Bar:
    """A measured value and its target."""

    name: str
    measured: float
    limit: float
    spread: tuple[float, float] | None = None
    at_least: bool = True

    @property
    def holds(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        spread = f" ({self.spread[0]:.2f} to {self.spread[1]:.2f})" if self.spread else ""
        sign, holds = "≥" if self.at_least else "≤", "yes" if self.holds else "NO"
        return f"{self.name:48} {self.measured:6.2f}{spread:18} {sign} {self.limit:4.2f}  {holds}"


def model_bars(name: str, report: Report, limit: float) -> Iterator[Bar]:
    """The targets of one trained model."""
    if (found := report.throughput) is not None:
        on_gpu = report.environment["device"] != "CPU"
        ratio = found.ratio_own_batches if on_gpu else found.ratio  # 32 sentences leave a GPU idle
        yield Bar(f"{name}: end to end", ratio.value, ON_GPU if on_gpu else limit, (ratio.low, ratio.high))
    if (one := report.latency) is not None:
        yield Bar(f"{name}: one text at a time", one.ratio.value, SINGLE, (one.ratio.low, one.ratio.high))
    if (step := report.training) is not None:
        spread = (step.ratio.low, step.ratio.high)
        yield Bar(f"{name}: training step", step.ratio.value, STEP, spread, at_least=False)


def growth_bars(path: Path) -> Iterator[Bar]:
    """The targets of the output of benchmarks/growth.py."""
    figures = json.loads(path.read_text())
    speeds = [size["per_second"] for size in figures["sizes"]]
    memory = [size["megabytes"] for size in figures["sizes"]]
    costs = [length["microseconds"] for length in figures["lengths"]]
    sizes = f"{figures['sizes'][0]['sentences']:,} to {figures['sizes'][-1]['sentences']:,} sentences"
    yield Bar(f"{sizes}: change of speed", max(speeds) / min(speeds) - 1, SPEED_CHANGE, at_least=False)
    yield Bar(f"{sizes}: growth of memory", memory[-1] / memory[0] - 1, MEMORY_CHANGE, at_least=False)
    yield Bar("cost per token, most to least expensive length", max(costs) / min(costs), TOKEN_COST, at_least=False)


def bars(arguments: argparse.Namespace, settings: Settings) -> Iterator[Bar]:
    """Measure the given models, one after another."""
    for name, folder, data, limit in (
        ("no BiLSTM, no GCN", arguments.plain, arguments.data, PLAIN),
        ("BiLSTM and GCN, heads given", arguments.both, arguments.both_data, BOTH),
        ("default model", arguments.default, arguments.data, DEFAULT),
    ):
        if folder:
            own = replace(settings, given=folder == arguments.both)
            yield from model_bars(name, bench(load(find_model(folder), runtime="torch"), read(data), own), limit)
    standard = arguments.plain or arguments.both or arguments.default
    for name, folder, precision in (("exported", arguments.exported, "fp32"), ("bf16", arguments.bf16, "bf16")):
        if folder:
            own = replace(settings, parts=("throughput",), precision=precision, encoder_precision="fp32")
            model = load(find_model(folder), precision=precision)
            encoder = load(find_model(standard), runtime="torch")
            report = bench(model, read(arguments.data), own, encoder=encoder)
            ratio = report.throughput.ratio
            yield Bar(
                f"{name}: against the bare fp32 encoder",
                ratio.value,
                EXPORTED,
                (ratio.low, ratio.high),
            )
    if arguments.growth:
        yield from growth_bars(arguments.growth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="chia's dev documents")
    parser.add_argument("--plain", help="model without BiLSTM and GCN")
    parser.add_argument("--both", help="model with BiLSTM and GCN")
    parser.add_argument("--both-data", type=Path, help="the same documents with heads")
    parser.add_argument("--default", help="the default model")
    parser.add_argument("--exported", help="model for ONNX Runtime")
    parser.add_argument("--bf16", help="model to run in bf16")
    parser.add_argument("--growth", type=Path, help="growth.json")
    parser.add_argument("--device")
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--limit", type=int, default=0, help="sentences; 0: all")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"])
    arguments = parser.parse_args()
    if arguments.both and not arguments.both_data:
        parser.error("--both needs --both-data")
    settings = Settings(
        parts=("throughput", "latency", "training"),
        device=arguments.device,
        precision=arguments.precision,
        encoder_precision=arguments.precision,
        threads=arguments.threads,
        repeats=arguments.repeats,
        limit=arguments.limit or None,
        clock=arguments.clock,
    )
    all_hold = True
    for bar in bars(arguments, settings):
        print(bar, flush=True)
        all_hold &= bar.holds
    raise SystemExit(not all_hold)


if __name__ == "__main__":
    main()
