"""Evaluation by all processes of a run together."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from accelerate import Accelerator
from accelerate.utils import gather_object

from disconer.core.types import Document
from disconer.evaluate import Evaluation, evaluate
from disconer.nn.scores import ScoreScale, fit_scale
from disconer.predict.recognizer import Recognizer


def measure(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> Evaluation:
    """Predict `gold`, divided among processes, and evaluate all of it once.

    Every process gets the same metrics, and so makes the same decisions about the best epoch and stopping.
    """
    return evaluate(gold, _predict(recognizer, gold, accelerator))


def scale_on(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> ScoreScale:
    """The scale that calibrates the scores of an uncalibrated recogniser on `gold`."""
    keys = {document.id: {entity.key for entity in document.entities} for document in gold}
    judged = [
        (entity.score or 0.0, entity.key in keys[document.id])
        for document in _predict(recognizer, gold, accelerator)
        for entity in document.entities
    ]
    return fit_scale([score for score, _ in judged], [right for _, right in judged])


def _predict(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> list[Document]:
    """Predictions for `gold`, in its order, divided among processes: each document once."""
    places = range(len(gold))[accelerator.process_index :: accelerator.num_processes]
    own = recognizer.annotate([gold[place] for place in places])
    predicted: list[tuple[int, Document]] = gather_object(list(zip(places, own, strict=True)))
    return [document for _, document in sorted(predicted, key=itemgetter(0))]
