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
    """Predict `gold` anew, each process its share, and compare all of it, once.

    Every process gets the same figures, and so decides the same about the best epoch and about stopping.
    """
    return evaluate(gold, _predict(recognizer, gold, accelerator))


def scale_on(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> ScoreScale:
    """The scale that makes the scores of an unscaled recogniser's entities say how often they are right in `gold`."""
    keys = {document.id: {entity.key for entity in document.entities} for document in gold}
    judged = [
        (entity.score or 0.0, entity.key in keys[document.id])
        for document in _predict(recognizer, gold, accelerator)
        for entity in document.entities
    ]
    return fit_scale([score for score, _ in judged], [right for _, right in judged])


def _predict(recognizer: Recognizer, gold: Sequence[Document], accelerator: Accelerator) -> list[Document]:
    """All of `gold` predicted, in its order, by every process a share: each document once, however many there are."""
    places = range(len(gold))[accelerator.process_index :: accelerator.num_processes]
    own = recognizer.annotate([gold[place] for place in places])
    predicted: list[tuple[int, Document]] = gather_object(list(zip(places, own, strict=True)))
    return [document for _, document in sorted(predicted, key=itemgetter(0))]
