"""Does it pay to annotate the most useful documents first, and with a model's suggestions? A simulation on gold.

    python benchmarks/active.py run DATA --preset chia --order useful --seed 1 --out chia-useful-1.json
    python benchmarks/active.py table chia-*.json
    python benchmarks/active.py picture chia-*.json --out chia.svg

`run` annotates DATA/train.jsonl by rounds of documents, as a person with the page of `disconer annotate` would: a model
is trained on what is annotated (the preset, from the encoder, as many steps as the page's trainings), measured on
DATA/test.jsonl, and chooses the next round: at random, or the most useful first. What the next round takes is counted
in actions on the page, too: a drag for each fragment and a key for the label; with suggestions, one key to accept all
of a document, two actions to delete a wrong one, and what is missed by hand. `table` sets runs side by side by
documents annotated, with means over seeds, and says how many documents the useful order needs for the F1 that the
random one has at the end; `picture` draws both.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from statistics import mean

from disconer import Document, Entity, Recognizer, read, write
from disconer.annotate.trainer import QUICK
from disconer.annotate.usefulness import most_useful_first
from disconer.config import load_config
from disconer.evaluate import evaluate
from disconer.render.report.plots import Axis, Dot, Series, picture
from disconer.store.checkpoint import load_model
from disconer.training.display import Display
from disconer.training.training_run import train

DEV = 5  # one in this many annotated documents is held out to choose the epoch


@dataclass(frozen=True, slots=True)
class Round:
    """After a round: F1 on test, in per cent; and actions of the round after it, by hand and with suggestions."""

    documents: int
    f1: float
    discontinuous_f1: float
    by_hand: int = 0
    with_suggestions: int = 0


def made(entity: Entity) -> int:
    """Actions that make an entity: a drag for each fragment, and the label's key."""
    return len(entity.fragments) + 1


def actions(gold: Document, suggested: Document | None) -> int:
    """Actions that annotate a document: by hand, or after accepting all suggestions at once."""
    wanted = {entity.key: entity for entity in gold.entities}
    there = {entity.key for entity in suggested.entities} if suggested else set()
    missing = sum(made(entity) for key, entity in wanted.items() if key not in there)
    return missing + 2 * len(there - wanted.keys()) + bool(there)


class Simulation:
    """A person who annotates documents by rounds, as gold has them."""

    def __init__(self, data: Path, preset: str, settings: Sequence[str], seed: int, folder: Path) -> None:
        self.pool = {document.id: document for document in read(data / "train.jsonl")}
        self.test = list(read(data / "test.jsonl"))
        self.preset, self.settings, self.seed, self.folder = preset, settings, seed, folder
        self.random = random.Random(seed)

    def run(self, order: str, n_rounds: int, size: int, at: Container[int]) -> list[Round]:
        """Rounds of an order; at random, only those at `at` documents are trained and measured."""
        done = self._first(size)
        rounds = []
        for number in range(1, n_rounds + 1):
            if order == "random" and len(done) not in at:
                done += self._at_random(done)[:size]
                continue
            model = self._train(done, number)
            coming = self._next(model, done, order)[:size]
            rounds.append(self._measured(model, len(done), coming))
            print(rounds[-1], flush=True)
            done += coming
        return rounds

    def _first(self, size: int) -> list[str]:
        """The first round has no model to choose: the same documents in both orders."""
        return self.random.sample(sorted(self.pool), size)

    def _train(self, done: Sequence[str], number: int) -> Path:
        place = self.folder / str(number)
        place.mkdir(parents=True)
        dev = done[::DEV]
        write([self.pool[id] for id in done if id not in dev], place / "train.jsonl")
        write([self.pool[id] for id in dev], place / "dev.jsonl")
        data = [f"data.train={place / 'train.jsonl'}", f"data.dev={place / 'dev.jsonl'}", "data.test=null"]
        config = load_config(self.preset, [*data, *QUICK, f"training.seed={self.seed}", *self.settings])
        return train(config, place / "run", display=Display(quiet=True)).folder

    def _next(self, model: Path, done: Sequence[str], order: str) -> list[str]:
        waiting = self._at_random(done)
        if order == "random":
            return waiting
        bare = (self.pool[id].replace(entities=()) for id in waiting)
        candidates = {document.id: document.entities for document in near_finder(model).annotate(bare)}
        texts = {id: document.text for id, document in self.pool.items()}
        return most_useful_first(texts, candidates, set(done))

    def _at_random(self, done: Sequence[str]) -> list[str]:
        waiting = [id for id in sorted(self.pool) if id not in set(done)]
        self.random.shuffle(waiting)
        return waiting

    def _measured(self, model: Path, n_done: int, coming: Iterable[str]) -> Round:
        finder = Recognizer(load_model(model))
        found = evaluate(self.test, list(finder.annotate(self.test)))
        gold = [self.pool[id] for id in coming]
        suggested = finder.annotate([document.replace(entities=()) for document in gold])
        return Round(
            n_done,
            100 * found.overall.f1,
            100 * found.discontinuous.f1,
            sum(actions(document, None) for document in gold),
            sum(actions(*pair) for pair in zip(gold, suggested, strict=True)),
        )


def near_finder(model: Path) -> Recognizer:
    """The model with near misses; in torch, so that a GPU is used where there is one."""
    return Recognizer(load_model(model), threshold=0.0)


Means = dict[str, float]
Curve = dict[int, Means]  # by documents annotated


def curves(files: Sequence[Path]) -> tuple[dict[str, Curve], int]:
    """Means over seeds by order and documents annotated, and the number of seeds."""
    found: defaultdict[str, defaultdict[int, list[Means]]] = defaultdict(lambda: defaultdict(list))
    for run in chain.from_iterable(json.loads(file.read_bytes()) for file in files):
        for one in run["rounds"]:
            found[run["order"]][one["documents"]].append(one)
    first = min(documents for rounds in found.values() for documents in rounds)
    shared = max((rounds[first] for rounds in found.values() if first in rounds), key=len)
    for rounds in found.values():  # the first round is the same in both orders: it may be run in one of them
        rounds.setdefault(first, shared)
    n_seeds = min(len(runs) for rounds in found.values() for runs in rounds.values())
    return {order: {n: _means(runs) for n, runs in sorted(rounds.items())} for order, rounds in found.items()}, n_seeds


def _means(runs: Sequence[Means]) -> Means:
    return {name: mean(run[name] for run in runs) for name in runs[0]}


def needed(curve: Curve, f1: float) -> float | None:
    """Documents at which a curve reaches an F1, between rounds by a straight line."""
    points = [(documents, one["f1"]) for documents, one in curve.items()]
    for (before, lower), (after, higher) in pairwise(points):
        if lower < f1 <= higher:
            return before + (after - before) * (f1 - lower) / (higher - lower)
    return None


def table(files: Sequence[Path]) -> None:
    found, n_seeds = curves(files)
    print("documents  order       F1  discontinuous  actions by hand  with suggestions")
    for documents in sorted({documents for curve in found.values() for documents in curve}):
        for order, curve in sorted(found.items()):
            if means := curve.get(documents):
                print(
                    f"{documents:9}  {order:7}  {means['f1']:5.1f}  {means['discontinuous_f1']:13.1f}"
                    f"  {means['by_hand']:15.0f}  {means['with_suggestions']:16.0f}"
                )
    print(f"means of {n_seeds} seeds")
    if {"useful", "random"} <= found.keys():
        last, means = max(found["random"].items())
        enough = needed(found["useful"], means["f1"])
        print(
            f"F1 {means['f1']:.1f}: {last} documents at random, {f'{enough:.0f}' if enough else 'more'} by usefulness"
        )


def draw(files: Sequence[Path], out: Path) -> None:
    """F1 by documents annotated, of all and of discontinuous entities, for each order."""
    found, n_seeds = curves(files)
    measures = {"f1": "all", "discontinuous_f1": "discontinuous"}
    series = [
        _series(f"{name}, {order}", {documents: one[measure] for documents, one in curve.items()})
        for measure, name in measures.items()
        for order, curve in sorted(found.items(), reverse=True)
    ]
    documents = sorted({documents for curve in found.values() for documents in curve})
    ticks = [float(tick) for tick in range(0, 81, 20)]
    x = Axis("documents annotated", documents[0], documents[-1], documents)
    y = Axis("F1 on test", 0.0, ticks[-1], ticks)
    out.write_text(picture(f"F1 by documents annotated, mean of {n_seeds} seeds", x, y, series), "utf-8")


def _series(name: str, points: Mapping[int, float]) -> Series:
    dots = [Dot(float(x), y, f"{name}, {x} documents: {y:.1f}") for x, y in points.items()]
    return Series(name, [(dot.x, dot.y) for dot in dots], dots)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("data", type=Path)
    run.add_argument("--preset", default="chia")
    run.add_argument("--order", choices=("useful", "random"), default="useful")
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--rounds", type=int, default=8)
    run.add_argument("--size", type=int, default=50, help="documents of a round")
    at = "documents after which a model is trained at random; by default after each round"
    run.add_argument("--at", type=int, nargs="+", metavar="N", help=at)
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    run.add_argument("--out", type=Path, required=True)
    for name in ("table", "picture"):
        command = commands.add_parser(name)
        command.add_argument("files", type=Path, nargs="+")
    command.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.command == "table":
        table(given.files)
    elif given.command == "picture":
        draw(given.files, given.out)
    else:
        simulate(given)


def simulate(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(given.data, given.preset, given.set, given.seed, Path(folder))
        at = given.at or range(given.size, given.size * given.rounds + 1, given.size)
        rounds = simulation.run(given.order, given.rounds, given.size, at)
    record = {"order": given.order, "seed": given.seed, "rounds": [asdict(one) for one in rounds]}
    given.out.write_text(json.dumps([record], indent=2))


if __name__ == "__main__":
    main()
