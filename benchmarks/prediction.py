"""Latency of a sentence, throughput of many texts, and memory of long ones, from text to entities.

    OMP_NUM_THREADS=2 python benchmarks/prediction.py [--model M] [--long 1000000]

Without --model, an untrained model of the default size is made: the MiniLM encoder with default settings. The cost of
a head depends on how many fragments it finds, so figures are given for a head that finds about as many as in clinical
text, and for one that classifies everything as a fragment.

The limits: 30 ms per sentence, 2 GB for a process that predicts any text of 1 MB. Each long text is predicted in a
separate process, whose peak memory includes everything: Python, torch, model and text.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from disconer.config import Config
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.network import build_network
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, save_model

SENTENCE = (
    "History of severe renal or hepatic impairment, or any other uncontrolled condition within 6 months of screening."
)
REPEATS = 100
LABELS = tuple(f"Label_{number}" for number in range(15))

LONG_TEXTS = {
    "prose": f"{SENTENCE} ",
    "lines": f"{SENTENCE}\n",
    "one sentence": "pain, ",
    "1.1.1.": "1.1.1.",
    "no space": "a",
    "no space, lines": "abcdefghijklmnopqrstuvwxyz" * 10 + "\n",
    "Japanese lines": "痛みとこわばりが両膝にある" * 20 + "\n",
    "emoji": "😀",
    "blank": " \n",
}


def make_model(folder: Path, *, threshold: float) -> None:
    """An untrained model whose fragments are the spans with a random score above `threshold`."""
    torch.manual_seed(1)
    config = Config.model_validate({"data": {"train": "none", "dev": "none"}})
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, tuple)
    network = build_network(config, LABELS, encoding.encoder).eval()
    with torch.no_grad():
        network.head.fragments.rest[-1].bias.zero_()
        network.head.fragments.rest[-1].bias[0] = threshold
    save_model(Model(network, encoding.reader, config, LABELS), folder)


def sentence_time(model: Path) -> None:
    ner = Recognizer.from_pretrained(model)
    for _ in range(10):
        found = ner(SENTENCE)
    wall, busy = [], []
    for _ in range(REPEATS):
        started, worked = time.perf_counter(), time.process_time()
        ner(SENTENCE)
        wall.append(1000 * (time.perf_counter() - started))
        busy.append(1000 * (time.process_time() - worked))
    n_words, n_entities = len(found.sentences[0].tokens), len(found.entities)
    print(
        f"a sentence of {n_words} words, {n_entities} entities: median {statistics.median(wall):.1f} ms, "
        f"95 % within {statistics.quantiles(wall, n=20)[-1]:.1f} ms, "
        f"{statistics.median(busy):.1f} ms CPU time ({torch.get_num_threads()} threads)"
    )


def throughput(model: Path, n_texts: int = 200) -> None:
    ner = Recognizer.from_pretrained(model)
    texts = [SENTENCE[: 40 + 7 * number % 70] for number in range(n_texts)]
    list(ner.pipe(texts[:20]))
    started = time.perf_counter()
    n_words = sum(len(sentence.tokens) for found in ner.pipe(texts) for sentence in found.sentences)
    seconds = time.perf_counter() - started
    print(
        f"{n_texts} sentences of {n_words} words: "
        f"{n_texts / seconds:.0f} sentences, {n_words / seconds:.0f} words per second"
    )


def long_text(model: Path, name: str, size: int) -> None:
    """Predict one long text and print time and memory; run in a separate process."""
    unit = LONG_TEXTS[name]
    text = (unit * (size // len(unit.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
    ner = Recognizer.from_pretrained(model)
    started = time.perf_counter()
    document = ner(text)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
                "words": sum(len(sentence.tokens) for sentence in document.sentences or ()),
                "entities": len(document.entities),
            }
        )
    )


def long_texts(model: Path, size: int) -> None:
    for name in LONG_TEXTS:
        command = [sys.executable, __file__, "--model", str(model), "--one", name, "--long", str(size)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        took = json.loads(ran.stdout)
        print(
            f"{size / 1e6:g} MB, {name:16} {took['words']:8,} words {took['entities']:8,} entities "
            f"{took['seconds']:7.1f} s  peak {took['peak']:6,.0f} MB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a trained model, instead of those made here")
    parser.add_argument("--long", type=int, default=1_000_000, help="bytes of the long texts; 0: leave them out")
    parser.add_argument("--one", choices=LONG_TEXTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        long_text(arguments.model, arguments.one, arguments.long)
        return
    with tempfile.TemporaryDirectory() as folder:
        models = {"given": arguments.model}
        if not arguments.model:
            models = {"usual": Path(folder, "usual"), "eager": Path(folder, "eager")}
            make_model(models["usual"], threshold=0.14)
            make_model(models["eager"], threshold=-5.0)
        for name, model in models.items():
            print(f"\n{name} model")
            sentence_time(model)
            throughput(model)
            if arguments.long:  # the eager model pairs every word with every other: it gets less
                long_texts(model, arguments.long // (10 if name == "eager" else 1))


if __name__ == "__main__":
    main()
