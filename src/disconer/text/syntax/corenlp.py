"""Trees from a running CoreNLP server: sentences a line, words parted by spaces, basic dependencies back.

The annotators are those that the paper's enhanced++ graphs come from; of these graphs the basic arcs are taken, which
are a tree.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from disconer.core.errors import excerpt
from disconer.text.syntax.corenlp_http import Absent, Client, Trouble
from disconer.text.syntax.parser import Identity, Parse, Unparsed
from disconer.text.syntax.spec import ParserSpec
from disconer.text.syntax.words import Words

PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,depparse",
    "tokenize.whitespace": "true",
    "ssplit.eolonly": "true",
    "outputFormat": "json",
}
IN_FLIGHT = 4  # requests at once; a server answers as many as it has threads
BATCH, BATCH_CHARACTERS = 50, 20_000  # of a request: a server refuses more than 100,000 characters
GIVE_UP_AFTER = 8  # requests without an answer, one after another, before the server counts as gone

Answer = Parse | Unparsed


class CoreNlpParser:
    """A CoreNLP server. Text goes to that address and nowhere else."""

    def __init__(self, url: str, *, client: Client | None = None) -> None:
        self.name = str(ParserSpec("corenlp", url))
        self._client = client or Client(url, PROPERTIES)
        self._failures = 0  # requests without an answer since the last one that had one

    def identity(self) -> Identity:
        """A server does not tell its version: after a change of its models the cache has to be removed by hand."""
        return Identity("corenlp", self.name, PROPERTIES["annotators"])

    def parse(self, sentences: Sequence[Words]) -> Iterator[Answer]:
        self._failures = 0
        waiting: deque[Future[list[Answer]]] = deque()
        with ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="corenlp") as threads:
            for batch in _batches(sentences):
                waiting.append(threads.submit(self._ask, batch))
                if len(waiting) > IN_FLIGHT:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()

    def _ask(self, sentences: Sequence[Words]) -> list[Answer]:
        """Answers for sentences. Where a server cannot do them together, halves are tried, down to single ones."""
        if self._failures >= GIVE_UP_AFTER:
            return [Unparsed(f"{self.name} did not answer earlier requests", lasting=False)] * len(sentences)
        try:
            content = self._client.post("\n".join(" ".join(words.texts) for words in sentences))
        except Absent as absent:
            self._failures += 1
            return [Unparsed(str(absent), lasting=False)] * len(sentences)
        except Trouble as trouble:
            self._failures += trouble.slow
            if len(sentences) == 1:
                return [Unparsed(str(trouble), lasting=False)]
            half = len(sentences) // 2
            return self._ask(sentences[:half]) + self._ask(sentences[half:])
        self._failures = 0
        return _answers(content, len(sentences), self.name)


def _batches(sentences: Sequence[Words]) -> Iterator[list[Words]]:
    batch: list[Words] = []
    n_characters = 0
    for words in sentences:
        size = sum(map(len, words.texts)) + len(words)
        if batch and (len(batch) == BATCH or n_characters + size > BATCH_CHARACTERS):
            yield batch
            batch, n_characters = [], 0
        batch.append(words)
        n_characters += size
    if batch:
        yield batch


def _answers(content: bytes, n_sentences: int, name: str) -> list[Answer]:
    try:
        found = json.loads(content)["sentences"]
        if len(found) != n_sentences:
            reason = f"{name} gave {len(found)} sentences for {n_sentences}"
            return [Unparsed(reason, lasting=False)] * n_sentences
        return [_parse_of(sentence) for sentence in found]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        shown = excerpt(content[:200].decode("utf-8", "replace"))
        return [Unparsed(f"{name} answers something else than CoreNLP does: {shown}", lasting=False)] * n_sentences


def _parse_of(sentence: dict[str, Any]) -> Parse:
    """CoreNLP counts words from 1, and 0 is the root; arcs come in any order."""
    forms = tuple([token["originalText"] for token in sentence["tokens"]])
    arcs = {arc["dependent"] - 1: arc for arc in sentence["basicDependencies"]}
    order = [arcs[word] for word in range(len(forms))]
    return Parse(forms, tuple([arc["governor"] - 1 for arc in order]), tuple([arc["dep"] for arc in order]))
