"""What a run keeps of the best model on dev and test: metrics, entities, speed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accelerate import Accelerator

from disconer.core.files import replace_file
from disconer.core.types import Document
from disconer.evaluate import Evaluation, evaluate
from disconer.evaluate.entity_lists import LISTS, ListedDocument, dump_lists, listed
from disconer.predict.recognizer import Recognizer
from disconer.training.loop import predict_all
from disconer.training.state import SPEED, RunFolder


@dataclass(frozen=True, slots=True)
class Measured:
    """A model on a split. seconds: from segmented documents to entities."""

    evaluation: Evaluation
    lists: list[ListedDocument]
    sentences: int
    seconds: float


def measure_split(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> Measured:
    """Predict `gold`, divided among processes, and evaluate all of it once."""
    start = time.perf_counter()
    predicted = predict_all(recognizer, gold, accelerator)
    seconds = time.perf_counter() - start
    n_sentences = sum(len(document.sentences or ()) for document in gold)
    return Measured(evaluate(gold, predicted), list(map(listed, gold, predicted)), n_sentences, seconds)


def keep_measures(folder: RunFolder, splits: Mapping[str, Measured], device: str) -> None:
    """Write them, in the order of `splits`; the metrics come last, so if they exist, everything does."""
    speed = {name: {"sentences": one.sentences, "seconds": one.seconds} for name, one in splits.items()}
    _write(folder.path / SPEED, {"device": device} | speed)
    for name, one in splits.items():
        replace_file(folder.path / LISTS.format(split=name), dump_lists(one.lists))
    for name, one in splits.items():
        _write(folder.path / f"{name}.json", one.evaluation.to_dict())


def _write(path: Path, values: object) -> None:
    replace_file(path, json.dumps(values, indent=2).encode())
