"""Made-up complaints with entities of every kind, and a small encoder: what a run needs, without any download."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from annotated import annotated
from disconer import Document, write
from disconer.config import Config, config_from_dict
from disconer.nn.encoders.transformer.pretrained import quiet
from nn.toy import toy_bert, toy_tokenizer

SYMPTOMS = ["pain", "stiffness", "cramps", "burning", "swelling", "numbness", "weakness", "soreness"]
PLACES = ["knees", "hands", "arms", "legs", "feet", "hips", "elbows", "wrists"]
DRUGS = ["lipitor", "aspirin", "zocor", "arthrotec", "voltaren", "cymbalta"]


def complaint(rng: random.Random, id: str) -> Document:
    """One sentence. Coordinations share words between entities; a drug may stand inside a symptom."""
    first, second = rng.sample(SYMPTOMS, 2)
    here, there = rng.sample(PLACES, 2)
    drug = rng.choice(DRUGS)
    shapes = [
        (f"{drug} gave me {first}", f"Drug: {drug}", f"ADR: {first}"),
        (f"{first} and {second} in my {here}", f"ADR: {first} … in my {here}", f"ADR: {second} in my {here}"),
        (f"{first} of {here} and {there}", f"ADR: {first} of {here}", f"ADR: {first} … {there}"),
        (
            f"{first} and {second} in {here} and {there} from {drug}",
            *(f"ADR: {symptom} … {place}" for symptom in (first, second) for place in (here, there)),
            f"Drug: {drug}",
        ),
        (f"{drug} withdrawal {first} was bad", f"ADR: {drug} withdrawal {first}", f"Drug: {drug}"),
        (f"my doctor said {drug} is good for {here}", f"Drug: {drug}"),
        ("i slept well and felt nothing",),
    ]
    text, *mentions = rng.choice(shapes)
    return annotated(*mentions, id=id, text=text)


def complaints(n: int, seed: int = 1) -> list[Document]:
    rng = random.Random(seed)
    return [complaint(rng, f"complaint-{number}") for number in range(n)]


def save_encoder(folder: Path, **sizes: int) -> str:
    """A fresh encoder on disk, as people have theirs."""
    with quiet():
        toy_bert(**sizes).save_pretrained(folder)
        toy_tokenizer().save_pretrained(folder)
    return str(folder)


def prepare(folder: Path, train: list[Document], dev: list[Document], **training: Any) -> Config:
    """Data and encoder in `folder`, and the configuration of a small run on them."""
    write(train, folder / "train.jsonl", force=True)
    write(dev, folder / "dev.jsonl", force=True)
    values = {
        "data": {"train": str(folder / "train.jsonl"), "dev": str(folder / "dev.jsonl")},
        "encoder": {"name": save_encoder(folder / "encoder"), "pooling": "mean", "layers": "last", "dropout": 0.0},
        # No dropout here: the encoder has some of its own.
        "head": {"kind": "span", "fragments": {"dropout": 0.0}, "relations": {"dropout": 0.0}},
        "training": {"epochs": 2, "batch_tokens": 64, "precision": "fp32", "steps_at_least": 0} | training,
    }
    return config_from_dict(values)
