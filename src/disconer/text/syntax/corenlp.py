"""Trees from a running CoreNLP server: one sentence per line, words separated by spaces; basic dependencies come back.

The annotators are those behind the paper's enhanced++ graphs; their basic dependencies are used, which form a tree.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from disconer.text.syntax.parser import Identity, Parse, Unparsed, Words
from disconer.text.syntax.spec import ParserSpec

TIMEOUT = 60.0  # seconds; the first request waits until the server has loaded its models
PAUSES = (0.5, 2.0)  # seconds before each retry
BUSY = (429, 502, 503, 504)  # status codes after which a retry may succeed
MAX_ANSWER = 256 * 2**20  # bytes


class Absent(Exception):
    """There is no server at this address, or it is not CoreNLP."""


class Trouble(Exception):
    """The server could not answer this request.

    slow: it did not answer in time.
    """

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        self.slow = slow
        super().__init__(reason)


class Client:
    """Posts text to one address, never through a proxy: it may be patients' notes."""

    def __init__(
        self,
        url: str,
        properties: Mapping[str, str],
        *,
        timeout: float = TIMEOUT,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._url, self._timeout, self._pauses = url, timeout, pauses
        said = json.dumps({**properties, "timeout": str(int(1000 * timeout))})
        self._address = f"{url.rstrip('/')}/?{urlencode({'properties': said})}"

    def post(self, text: str) -> bytes:
        """The answer to a text. Raises `Absent` or `Trouble`, after retries where these may help."""
        for pause in (*self._pauses, None):
            try:
                return self._post(text)
            except urllib.error.HTTPError as error:
                failure, again = self._refused(error), error.code in BUSY
            except (OSError, http.client.HTTPException) as error:
                slow = _is_timeout(error)
                failure, again = self._slow() if slow else self._unreachable(error), not slow
            if pause is None or not again:
                raise failure
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _post(self, text: str) -> bytes:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        request = urllib.request.Request(self._address, text.encode("utf-8"), headers, method="POST")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=self._timeout) as response:
            content: bytes = response.read(MAX_ANSWER)
        return content

    def _slow(self) -> Trouble:
        return Trouble(f"the CoreNLP server at {self._url} took longer than {self._timeout:g} s", slow=True)

    def _unreachable(self, error: Exception) -> Absent:
        reason = type(error).__name__ if isinstance(error, http.client.HTTPException) else _in_words(error)
        return Absent(
            f"no CoreNLP server at {self._url} ({reason}); to start one: java -mx4g -cp '*' "
            "edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000"
        )

    def _refused(self, error: urllib.error.HTTPError) -> Absent | Trouble:
        # Never what the server says: an answer that quotes the text would carry it into logs.
        reason = f"the server at {self._url} answered with the status {error.code}"
        return Trouble(reason) if error.code >= 500 else Absent(f"{reason}; is that CoreNLP?")


def _in_words(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return getattr(reason, "strerror", None) or type(reason).__name__


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)


PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,depparse",
    "tokenize.whitespace": "true",
    "ssplit.eolonly": "true",
    "outputFormat": "json",
}
IN_FLIGHT = 4  # concurrent requests; a server answers as many as it has threads
BATCH, BATCH_CHARACTERS = 50, 20_000  # of a request: a server refuses more than 100,000 characters
GIVE_UP_AFTER = 8  # consecutive unanswered requests before the server counts as gone

Answer = Parse | Unparsed


class CoreNlpParser:
    """A CoreNLP server. Text goes to that address and nowhere else."""

    def __init__(self, url: str, *, client: Client | None = None) -> None:
        self.name = str(ParserSpec("corenlp", url))
        self._client = client or Client(url, PROPERTIES)
        self._failures = 0  # requests without an answer since the last one that had one

    def identity(self) -> Identity:
        """A server does not report its version: after a change of its models, delete the cache by hand."""
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
        """Answers for sentences. If a server fails on all of them, halves are tried, down to single sentences."""
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
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        reason = f"{name} gave an answer unlike CoreNLP's, of {len(content):,} bytes"
        return [Unparsed(reason, lasting=False)] * n_sentences


def _parse_of(sentence: dict[str, Any]) -> Parse:
    """CoreNLP counts words from 1, and 0 is the root; arcs come in any order."""
    forms = tuple([token["originalText"] for token in sentence["tokens"]])
    arcs = {arc["dependent"] - 1: arc for arc in sentence["basicDependencies"]}
    order = [arcs[word] for word in range(len(forms))]
    return Parse(forms, tuple([arc["governor"] - 1 for arc in order]), tuple([arc["dep"] for arc in order]))
