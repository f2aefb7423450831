"""The model learns: entities of every kind are over-fitted, with every head."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from disconer import Document, Kind
from disconer.config import Config, config_from_dict
from disconer.nn.heads.kind import kind_of
from disconer.text import segment
from disconer.text.alignment import align
from disconer.training import train
from disconer.training.loop import Loop
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow

LEARNT = 0.99  # F1


@pytest.fixture(autouse=True)
def _until_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends with the epoch that has learnt: later ones could not unlearn it, as the best is kept."""

    def finished(loop: Loop) -> bool:
        best = loop.progress.best
        return loop.progress.epoch >= loop.settings.epochs or (best is not None and best["dev_f1"] >= LEARNT)

    monkeypatch.setattr(Loop, "_finished", property(finished))


def test_every_kind_is_learnt(tmp_path: Path) -> None:
    documents = complaints(40)
    kinds = Counter(entity.kind for document in documents for entity in document.entities)
    assert min(kinds[kind] for kind in Kind) >= 10
    config = prepare(tmp_path, documents, documents, epochs=40, patience=40, encoder_rate=1e-3, head_rate=3e-3)
    result = train(config, tmp_path / "run")
    assert result.dev.overall.f1 >= LEARNT


def expressible(document: Document, config: Config) -> bool:
    """Whether the head of a configuration can find all entities of a document."""
    document = segment(document)
    reach, sentences = kind_of(config.head).reach, document.sentences or ()
    return not any(
        reach(own, len(sentence.tokens), config.head).lost
        for sentence, own in zip(sentences, align(document)[0], strict=True)
    )


ACTIONS = {"stack": 32, "hidden": 48, "dropout": 0.0}


@pytest.mark.parametrize(
    "head",
    [
        {"kind": "grid", "channels": 16, "biaffine": 16, "hidden": 32, "dropout": 0.0},
        {"kind": "tagger", "scheme": "BIOHD1234", "dropout": 0.0},
        {"kind": "tagger", "scheme": "multilabel", "dropout": 0.0},
        {"kind": "hypergraph", "reach": 16, "hidden": 48, "dropout": 0.0},
        {"kind": "transition", **ACTIONS},
        {"kind": "sequence", "size": 48, "dropout": 0.0},
        {"kind": "combined", "transitions": ACTIONS, "spans": {"fragments": {"dropout": 0.0}}},
    ],
    ids=lambda head: head.get("scheme", head["kind"]),
)
def test_what_a_head_can_express_it_learns(head: dict[str, Any], tmp_path: Path) -> None:
    base = prepare(tmp_path, [], [], epochs=40, patience=40, adversarial=0.0, encoder_rate=2e-3, head_rate=5e-3)
    plain = base.encoder.model_copy(update={"lstm": None}).model_dump()
    config = config_from_dict(base.to_dict() | {"head": head, "encoder": plain})
    documents = list(islice((one for one in complaints(400) if expressible(one, config)), 100))
    kinds = Counter(entity.kind for document in documents for entity in document.entities)
    assert len(documents) == 100
    assert kinds[Kind.OVERLAPPED] >= 10
    assert kinds[Kind.DISCONTINUOUS] >= 10 or config.head.kind == "sequence"  # which cannot express them
    prepare(tmp_path, documents, documents)
    assert train(config, tmp_path / "run").dev.overall.f1 >= LEARNT
