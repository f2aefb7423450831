"""How well a GPU is used in prediction and training, with profiles.

    python benchmarks/gpu.py predict MODEL TEXTS.jsonl [--sentences 300000] [--jobs 15]
    python benchmarks/gpu.py train DATA [--preset chia] [--set training.epochs=2 …] [--most 5000] [--profile]

`predict` prints, in sentences per second: what one core does without any network (`benchmarks/host.py`); one process
alone, from text to lines of JSONL; and `disconer predict`, with its workers, as two runs of different size, so that its
start-up time and its speed afterwards are separated. Then the operations that take most time on the device and on the
host, and where the host waits for the device.

`train` prints the seconds of each epoch, of its training alone, and of the whole run from the first import on. DATA has
train.jsonl, dev.jsonl and test.jsonl. --most limits training to the first documents with this many sentences.
"""

from __future__ import annotations

import time

STARTED = time.perf_counter()

import argparse  # noqa: E402
import cProfile  # noqa: E402
import json  # noqa: E402
import pstats  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import warnings  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from pathlib import Path  # noqa: E402
from statistics import median  # noqa: E402
from typing import Any  # noqa: E402

from host import host, texts_of, timed, told  # noqa: E402

from disconer import Document, read  # noqa: E402
from disconer.formats.native import to_line  # noqa: E402
from disconer.predict.chunks import chunk_documents  # noqa: E402
from disconer.predict.recognizer import Recognizer  # noqa: E402
from disconer.predict.walk import BLOCK_RECORDS  # noqa: E402

SMALL = 8  # the larger of two runs has this many times more texts
WATCHED, PROFILED, PROFILED_ON_HOST = 4, 6, 8  # steps of the second epoch
PROFILED_BLOCKS = 2
ROWS = 14  # of a profile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    predicting = commands.add_parser("predict")
    predicting.add_argument("model")
    predicting.add_argument("texts", type=Path)
    predicting.add_argument("--sentences", type=int, default=300_000)
    predicting.add_argument("--jobs", type=int, help="workers of `disconer predict`; default: its own")
    predicting.add_argument("--device", default="cuda")
    predicting.add_argument("--precision", default="bf16")
    training = commands.add_parser("train")
    training.add_argument("data", type=Path)
    training.add_argument("--preset", default="chia")
    training.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    training.add_argument("--most", type=int, help="training sentences")
    training.add_argument("--profile", action="store_true", help="of some steps of the second epoch")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (predict if given.command == "predict" else train)(given, Path(folder))


# Prediction


def predict(given: argparse.Namespace, folder: Path) -> None:
    texts = texts_of(given.texts)
    n_sentences = host(given.model, texts)
    alone(given, texts, n_sentences)
    whole = folder / "whole.jsonl"
    n_copies = max(2, -(-given.sentences // n_sentences))
    sizes = {"small": max(1, n_copies // SMALL), "large": n_copies}
    seconds = {}
    for name, copies in sizes.items():
        write_copies(texts, copies, whole)
        seconds[name] = command(given, whole, folder / f"{name}.jsonl")
        told(
            f"disconer predict, {copies * n_sentences:,} sentences, start included", copies * n_sentences, seconds[name]
        )
    more = (sizes["large"] - sizes["small"]) * n_sentences
    told("disconer predict after its start (the difference of both)", more, seconds["large"] - seconds["small"])


def alone(given: argparse.Namespace, texts: list[Document], n_sentences: int) -> None:
    """One process without workers: `Recognizer`, from text to lines of JSONL, and where its time goes."""
    started = time.perf_counter()
    recognizer = Recognizer.from_pretrained(
        given.model, runtime="torch", device=given.device, precision=given.precision
    )
    print(f"{'loading the network':58} {time.perf_counter() - started:9.1f} s")
    blocks = list(chunk_documents(texts, BLOCK_RECORDS))

    def run() -> int:
        return sum(len(to_line(document)) for document in recognizer.annotate_blocks(iter(blocks)))

    run()  # a GPU plans its work for each size of batch once
    _, seconds = timed(run)
    told("one process without workers, text to JSONL", n_sentences, seconds)
    blocks = blocks[:PROFILED_BLOCKS]
    with host_profile():
        run()
    with waits(given.device) as found:
        run()
    print(f"waits for the device: {sum(found.values())} ({dict(found.most_common(5))})")
    with device_profile(given.device):
        run()


def write_copies(texts: Sequence[Document], copies: int, out: Path) -> None:
    with open(out, "wb") as stream:
        for copy in range(copies):
            stream.writelines(to_line(text.replace(id=f"{text.id}.{copy}")) for text in texts)


def command(given: argparse.Namespace, texts: Path, out: Path) -> float:
    arguments = ["--device", given.device, "--precision", given.precision, "--model", given.model, "--runtime", "torch"]
    arguments += ["--jobs", str(given.jobs)] if given.jobs else []
    run = [sys.executable, "-m", "disconer", "predict", str(texts), "-o", str(out), *arguments]
    _, seconds = timed(lambda: subprocess.run(run, check=True))
    return seconds


# Training


def train(given: argparse.Namespace, folder: Path) -> None:
    from disconer.config import load_config
    from disconer.training import loop
    from disconer.training.training_run import train as train_model

    data = {split: given.data / f"{split}.jsonl" for split in ("train", "dev", "test")}
    if given.most:
        data["train"] = first_sentences(data["train"], given.most, folder / "train.jsonl")
    paths = [f"data.{split}={path.absolute()}" for split, path in data.items()]
    config = load_config(given.preset, [*paths, *given.set])
    if given.profile:
        profile_second_epoch(loop.Loop)
    result = train_model(config, folder / "run")
    whole = time.perf_counter() - STARTED
    epochs = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    for epoch in epochs:
        print(f"epoch {epoch['epoch']:3}: {epoch['train_seconds']:6.2f} s, with dev {epoch['seconds']:6.2f} s")
    print(f"dev F1 {100 * result.dev.overall.f1:.2f}; median epoch {median(e['train_seconds'] for e in epochs):.2f} s")
    print(f"the whole run, imports included: {whole:.1f} s; its epochs {sum(e['seconds'] for e in epochs):.1f} s")


def first_sentences(path: Path, most: int, out: Path) -> Path:
    from disconer.text import segment

    n_sentences = 0
    with open(out, "wb") as stream:
        for document in read(path):
            n_sentences += len(segment(document).sentences or ())
            stream.write(to_line(document))
            if n_sentences >= most:
                break
    print(f"{n_sentences:,} training sentences")
    return out


def profile_second_epoch(kind: Any) -> None:
    """Print profiles of some steps in the middle of the second epoch; its time is then not meaningful."""
    step, n_steps = kind._step, Counter[int]()

    def watched(self: Any, *inputs: Any) -> Any:
        n_steps[self.progress.epoch] += 1
        at = n_steps[1]
        if at == WATCHED:
            with waits(str(self.accelerator.device)) as found:
                loss = step(self, *inputs)
            print(f"waits for the device in a step: {sum(found.values())} ({dict(found.most_common(5))})")
            return loss
        if at == PROFILED:
            with device_profile(str(self.accelerator.device)):
                return step(self, *inputs)
        if at == PROFILED_ON_HOST:
            with host_profile():
                return step(self, *inputs)
        return step(self, *inputs)

    kind._step = watched


# Both


@contextmanager
def waits(device: str) -> Iterator[Counter[str]]:
    """Counts where the host waits for a GPU, by line of code."""
    found: Counter[str] = Counter()
    if not device.startswith("cuda"):
        yield found
        return
    import torch

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield found
        finally:
            torch.cuda.set_sync_debug_mode("default")
    found.update(f"{Path(one.filename).name}:{one.lineno}" for one in said if "synchroniz" in str(one.message))


@contextmanager
def device_profile(device: str) -> Iterator[None]:
    """Prints the operations that take most of the device's time, and how much of the time it is busy."""
    from torch.profiler import ProfilerActivity, profile

    on_gpu = device.startswith("cuda")
    kinds = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_gpu
    started = time.perf_counter()
    with profile(activities=kinds) as profiled:
        yield
    seconds = time.perf_counter() - started
    averages = profiled.key_averages()
    by = "self_device_time_total" if on_gpu else "self_cpu_time_total"
    busy = sum(getattr(average, by) for average in averages) / 1e6
    print(f"profiled: {seconds:.2f} s, of which the device is busy {busy:.2f} s")
    print(averages.table(sort_by=by.replace("device", "cuda"), row_limit=ROWS, max_name_column_width=50))


@contextmanager
def host_profile() -> Iterator[None]:
    """Prints the functions of this thread that take most time."""
    profiled = cProfile.Profile()
    with profiled:
        yield
    pstats.Stats(profiled).sort_stats("tottime").print_stats(ROWS)


if __name__ == "__main__":
    main()
