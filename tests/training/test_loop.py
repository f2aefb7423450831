"""Evaluation by several processes, played one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Document
from disconer.evaluate import evaluate
from disconer.training import loop as module
from training.synthetic import complaints


@dataclass(frozen=True)
class Process:
    """What `measure` asks an Accelerator for."""

    process_index: int
    num_processes: int


class FindsHalf:
    """Stands for a recogniser: finds every other entity."""

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            yield document.replace(entities=document.entities[::2])


def shares(gold: Sequence[Document], n_processes: int) -> list[list[tuple[int, Document]]]:
    """What each process brings to the gathering."""
    brought: list[list[tuple[int, Document]]] = []

    def bring(own: list[tuple[int, Document]]) -> list[tuple[int, Document]]:
        brought.append(own)
        return own

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "gather_object", bring)
        for process in range(n_processes):
            module.predict_all(FindsHalf(), gold, Process(process, n_processes))  # type: ignore[arg-type]
    return brought


@pytest.mark.slow
@given(st.integers(1, 23), st.integers(1, 7))
def test_every_document_counts_once_whatever_the_processes(n_documents: int, n_processes: int) -> None:
    gold = complaints(n_documents)
    everything = [pair for share in shares(gold, n_processes) for pair in share]
    assert sorted(place for place, _ in everything) == list(range(n_documents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "gather_object", lambda own: everything)
        found = module.measure(FindsHalf(), gold, Process(0, n_processes))  # type: ignore[arg-type]
    assert found.evaluation.to_dict() == evaluate(gold, FindsHalf().annotate(gold)).to_dict()
