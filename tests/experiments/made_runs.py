"""Folders as `disconer train` writes them, without training: predictions are the gold entities with some left out."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disconer import Document
from disconer.config import config_from_dict, dump_config
from disconer.evaluate import evaluate
from disconer.evaluate.entity_lists import dump_lists, listed_document
from training.synthetic import complaints

GOLD = complaints(60, seed=5)


def made_run(
    folder: Path,
    *,
    found: float,
    seed: int = 1,
    head: str = "span",
    share: float = 1.0,
    lists: bool = True,
    gold: Sequence[Document] = GOLD,
    start: str | None = None,
    corpus: str = "complaints",
    **more: Any,
) -> Path:
    """found: the probability that an entity is predicted. lists: whether entities and speed are kept.

    gold: of dev and test. start: the digest of the model that training started from. more: settings, by section.
    """
    folder.mkdir(parents=True)
    values = {
        "data": {"train": f"data/{corpus}/train.jsonl", "dev": f"data/{corpus}/dev.jsonl", "share": share},
        "head": {"kind": head},
        "training": {"seed": seed},
    }
    (folder / "config.yaml").write_text(dump_config(config_from_dict(_merged(values, more))))
    (folder / "run.json").write_text(json.dumps({"data": {"train": "1234"}, "start_from": start}))
    rng = random.Random(f"{head} {seed} {share}")
    predicted = [_some(document, found, rng) for document in gold]
    epoch = {"epoch": 1, "dev_f1": 0.5, "train_seconds": 2.0}
    (folder / "metrics.jsonl").write_text(f"{json.dumps(epoch)}\n")
    for split in ("test", "dev"):
        (folder / f"{split}.json").write_text(json.dumps(evaluate(gold, predicted).to_dict()))
        if lists:
            (folder / f"{split}.entities.jsonl").write_bytes(dump_lists(map(listed_document, gold, predicted)))
    if lists:
        speed = {"device": "cpu", "dev": {"sentences": 60, "seconds": 0.5}}
        (folder / "speed.json").write_text(json.dumps(speed))
    return folder


def _merged(values: dict[str, dict[str, Any]], more: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {section: values.get(section, {}) | more.get(section, {}) for section in values.keys() | more.keys()}


def _some(document: Document, found: float, rng: random.Random) -> Document:
    return document.replace(entities=tuple(one for one in document.entities if rng.random() < found))
