"""Evaluation by all processes of a run together."""

from __future__ import annotations

from collections.abc import Sequence

from accelerate import Accelerator
from accelerate.utils import gather_object

from disconer.evaluate import Evaluation, evaluate
from disconer.recognizer import Recognizer
from disconer.types import Document


def measure(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> Evaluation:
    """Predict `gold` anew, each process its share, and compare all of it, once.

    Every process gets the same figures, and so decides the same about the best epoch and about stopping.
    """
    own = gold[accelerator.process_index :: accelerator.num_processes]
    predicted: list[Document] = gather_object(list(recognizer.annotate(own)))
    return evaluate(gold, predicted)
