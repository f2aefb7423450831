"""A campaign of damaged files: `python -m fuzzing.campaign MINUTES`; `--repeat SEED:NUMBER` runs one input again.

Each input is drawn from the seed and its number alone, so that a finding can be repeated.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from disconer import read, write
from disconer.core.places import BUNDLED_MODELS
from fuzzing.checks import SUFFIXES, check_model_configuration, check_reading, check_round_trip
from fuzzing.mutations import mutation_for

GOLDEN = Path(__file__).parents[1] / "formats" / "golden"
HANG = 10  # seconds
MOST_FINDINGS = 20
SLOW = {"docbin"}  # drawn less often

MODEL = "model configuration"
# Name of the file to write, its format, and the golden file that it is made of.
FILES = [
    ("a.json", "bigbio", "bigbio.json"),
    ("a.json", "bioc-json", "bioc.json"),
    ("a.xml", "bioc-xml", "bioc.xml"),
    ("a.jsonl", "jsonl", "brat.jsonl"),
    ("a.bio", "bio", "conll/notes.bio"),
    ("a.bioes", "bioes", "conll/notes.bioes"),
    ("a.biohd", "biohd", "conll/notes.biohd"),
    ("a.jsonl", "jsonl", "conll/notes.jsonl"),
    ("a.conllu", "conllu", "conllu/notes.conllu"),
    ("a.jsonl", "dygie", "dygie/scierc.jsonl"),
    ("a.jsonl", "dygie", "dygie/sodner.jsonl"),
    ("a.inline", "inline", "inline/sentences.inline"),
    ("a.json", "label-studio", "label-studio.json"),
    ("a.jsonl", "doccano", "doccano.jsonl"),
    ("a.jsonl", "prodigy", "prodigy.jsonl"),
    ("a.xmi", "cas-xmi", "uima/inception.xmi"),
    ("a.json", "cas-json", "uima/written.json"),
    ("a.tsv", "webanno-tsv", "uima/inception.tsv"),
    ("a.tsv", "webanno-tsv", "uima/written.tsv"),
    ("a.json", "pubannotation", "pubannotation.json"),
    ("a.jsonl", "pubannotation", "pubannotation.written.jsonl"),
    ("a.json", "w2ner", "w2ner/sentences.json"),
    ("a.txt", "text", "brat/kinds.txt"),
]


class Seeds:
    """The files to damage, by name and format."""

    def __init__(self, folder: Path) -> None:
        self.files = [(name, format, (GOLDEN / golden).read_bytes()) for name, format, golden in FILES]
        documents = list(read(GOLDEN / "brat"))
        for name, format in [("a.parquet", "parquet"), ("a.spacy", "docbin")]:
            write(documents, folder / name, format)
            self.files.append((name, format, (folder / name).read_bytes()))
        with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((GOLDEN / "brat").rglob("*.*")):
                archive.write(path, path.relative_to(GOLDEN))
        self.files.append(("a.zip", "brat", (folder / "a.zip").read_bytes()))
        self.files.append(("a.jsonl.gz", "jsonl", gzip.compress((GOLDEN / "brat.jsonl").read_bytes(), mtime=0)))
        configuration = next(BUNDLED_MODELS.glob("*/config.json"))
        self.files.append(("config.json", MODEL, configuration.read_bytes()))


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def run_input(seed: str, number: int, seeds: Seeds, folder: Path) -> str:
    """Draw an input, and check it. Returns its format."""
    rng = random.Random(f"{seed}:{number}")
    name, format, content = rng.choice(seeds.files)
    while format in SLOW and rng.random() < 0.8:
        name, format, content = rng.choice(seeds.files)
    path = folder / name
    path.write_bytes(mutation_for(name, rng)(content, rng))
    with alarm(HANG):
        if format == MODEL:
            check_model_configuration(folder)
            return format
        documents = check_reading(path, None if rng.random() < 0.05 else format)
        if rng.random() < 0.5:  # what every format can hold: then nothing else may explain a difference
            documents = [document.replace(sentences=None, extras={}) for document in documents]
        target = rng.choice([other for other in SUFFIXES if other not in SLOW or rng.random() < 0.2])
        check_round_trip(documents, folder, target)
    return format


def campaign(minutes: float, seed: str, keep: Path, shard: tuple[int, int] = (0, 1)) -> int:
    """Run inputs until the time is over; returns the number of findings."""
    counts: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        folder = Path(name)
        seeds = Seeds(folder)
        end = time.monotonic() + 60 * minutes  # reading the golden files of all formats takes seconds
        number = shard[0]
        while time.monotonic() < end and findings.total() < MOST_FINDINGS * 50 and len(findings) < MOST_FINDINGS:
            try:
                counts[run_input(seed, number, seeds, folder)] += 1
            except Exception as error:  # anything but our own errors is a finding
                _report(error, f"{seed}:{number}", folder, keep, findings)
            _clear(folder)
            number += shard[1]
    total = counts.total() + findings.total()
    print(f"{total:,} inputs, seed {seed}, {findings.total()} findings of {len(findings)} kinds")
    print("  " + ", ".join(f"{format} {count:,}" for format, count in sorted(counts.items())))
    return findings.total()


def _report(error: Exception, place: str, folder: Path, keep: Path, findings: Counter[str]) -> None:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    kind = f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno} {str(error)[:60]}"
    findings[kind] += 1
    if findings[kind] > 1:
        return
    print(f"\n=== {place}: {kind}\n{''.join(traceback.format_exception(error))[-3000:]}", flush=True)
    shutil.copytree(folder, keep / place.replace(":", "-"), dirs_exist_ok=True)
    print(f"repeat with: bash scripts/fuzz --repeat {place}; files in {keep / place.replace(':', '-')}", flush=True)


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float, nargs="?", default=5)
    parser.add_argument("--seed", default=None, help="draw the same inputs again")
    parser.add_argument("--repeat", metavar="SEED:NUMBER", help="run one input again, with its traceback")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "disconer-fuzz")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.repeat:
        seed, _, number = arguments.repeat.rpartition(":")
        with tempfile.TemporaryDirectory() as name:
            print(run_input(seed, int(number), Seeds(Path(name)), Path(name)), "passes")
        return 0
    seed = arguments.seed or str(random.SystemRandom().randrange(10**9))
    print(f"seed {seed}", flush=True)
    return 1 if campaign(arguments.minutes, seed, arguments.keep) else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
