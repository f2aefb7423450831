"""Heads on a GPU: the host puts work there without waiting for what it says."""

from __future__ import annotations

import pytest
import torch

from disconer import Document, Entity
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch
from nn.heads.sentences import cut, words
from nn.toy import toy_model


@pytest.mark.parametrize("kind", ["hypergraph", "sequence", "tagger", "transition"])
def test_no_value_on_the_device_is_asked_for_before_the_answer(kind: str) -> None:
    """The device `meta` has shapes and no values: whatever would wait for a GPU to tell one is an error there."""
    model = toy_model(("ADR",), head={"kind": kind}, encoder={"lstm": None})
    head, nowhere = model.network.head, torch.device("meta")
    entities = (Entity("ADR", words((1, 2))), Entity("ADR", words((4, 6))))
    [window], aligned = cut(Document("d", "a b c d e f g h", entities), max_subwords=20)
    batch = WordBatch.from_arrays(word_arrays([[window], [window]], model.reader, multiple=8), nowhere)
    targets = head.batch_targets([head.window_targets(window, aligned)] * 2)
    network = model.network.to(nowhere)
    network(batch, targets.to(nowhere)).backward()
    assert all(parameter.grad is not None for parameter in head.parameters())
    network.launch(batch)
