"""Networks run by ONNX Runtime. No torch here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from disconer.core.background import made_ahead
from disconer.core.errors import DisconerError, Where
from disconer.nn.arrays import WordArrays
from disconer.nn.encoders.hub import first_line
from disconer.nn.heads.span.decisions import Floats, Fragments, SpanPlaces, decide, possible_pairs
from disconer.nn.heads.span.reading import read_entities
from disconer.nn.reader import Ints
from disconer.nn.windows import Found
from disconer.store.exported import PAIRS, SPANS

BATCH_PIECES = 2**8  # what is computed of more does not stay in the cache of a core, and everything takes longer
BATCH_SPANS = 2**18
BATCH_OVERHEAD = 24  # in pieces: about what running the graph costs
PAIRS_AT_ONCE = 2**14  # 500 fragments in a window would else need gigabytes
THREADS_VARIABLE = "OMP_NUM_THREADS"  # what torch goes by, too
ONLY_ERRORS = 3  # of the levels of ONNX Runtime's messages


class OnnxRuntime:
    """Runs an exported network. See `Runtime`."""

    device = "cpu"
    batch_pieces = BATCH_PIECES
    batch_spans = BATCH_SPANS
    batch_overhead = BATCH_OVERHEAD
    size_multiple = 1

    def __init__(self, folder: Path, *, labels: tuple[str, ...], max_width: int | None, several: bool) -> None:
        """several: a span may have several labels."""
        self._labels, self._max_width, self._several = labels, max_width, several
        self._threads = n_threads()
        self._spans = _session(folder / SPANS)
        self._inputs = [needed.name for needed in self._spans.get_inputs()]
        self._pairs = _session(folder / PAIRS) if (folder / PAIRS).is_file() else None

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`. Each thread has a batch of its own: sharing one, they would mostly wait for one another."""
        if self._threads == 1:
            return map(self._find, batches)
        return made_ahead(self._find, batches, ahead=self._threads, threads=self._threads)

    def _find(self, batch: WordArrays) -> list[list[Found]]:
        words, scores, above = self._spans.run(None, self._feed(batch))
        row, start, width = above.nonzero()
        spans = SpanPlaces(row, start, start + width + 1)
        lengths = batch.lengths.tolist()
        fragments = decide(spans, scores[row, start, width], lengths, several=self._several)
        pairs, succession = self._succession(words, fragments)
        return read_entities(fragments, pairs, succession, self._labels, n_rows=len(lengths))

    def _feed(self, batch: WordArrays) -> dict[str, Any]:
        """What the network reads; its export left out what makes no difference to it."""
        n_words = batch.word_mask.shape[1]
        made = {
            "lengths": batch.lengths.astype(np.int32),
            "widths": np.arange(min(self._max_width or n_words, n_words)),
        }
        return {name: made[name] if name in made else getattr(batch, name) for name in self._inputs}

    def _succession(self, words: Floats, fragments: Fragments) -> tuple[Ints, Floats]:
        """Pairs that could be of one entity, and the probability that they are; 0 if that is not likeliest."""
        pairs = possible_pairs(fragments)
        if self._pairs is None or not pairs.size:
            return np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32)
        spans = fragments.spans
        place = np.stack([spans.row, spans.start, spans.end - spans.start - 1])
        chances = [
            self._pairs.run(None, {"words": words, "place": place, "pairs": pairs[:, first : first + PAIRS_AT_ONCE]})[0]
            for first in range(0, pairs.shape[1], PAIRS_AT_ONCE)
        ]
        return pairs, np.concatenate(chances)


def _session(graph: Path) -> Any:
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as error:
        raise DisconerError(
            "This model was exported for ONNX Runtime, which is not installed",
            where=Where(str(graph)),
            fix="Install it: pip install 'disconer[onnx]'.",
        ) from error
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_mem_pattern = False  # it would remember a plan of memory for every size of batch
    options.log_severity_level = ONLY_ERRORS
    try:
        return InferenceSession(
            graph,
            options,
            providers=["CPUExecutionProvider"],
            # Fused, adding and normalising take four times as long as one after the other.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as error:  # what ONNX Runtime raises has no type of its own
        raise DisconerError(
            "A network of this model is missing or damaged",
            where=Where(str(graph)),
            got=first_line(error),
            fix="Copy the model again, whole.",
        ) from error


def n_threads() -> int:
    """As many as $OMP_NUM_THREADS says, or as there are processors for this process."""
    wanted = os.environ.get(THREADS_VARIABLE, "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):  # a container may have fewer than the machine
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
