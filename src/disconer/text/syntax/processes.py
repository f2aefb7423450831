"""Parsing in several processes at once.

They are started as separate commands, so that neither a fork after torch's threads nor a script without a main guard
causes trouble. Only words and heads are sent: spaCy's own way sends whole Docs, which takes as long as parsing them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import IO, Any

from disconer.core.errors import DisconerError
from disconer.text.syntax.parser import Parse, Unparsed, Words

AHEAD = 2  # batches per process that are waiting, or done and not yet taken

Answer = Parse | Unparsed


class Processes:
    """Processes that run a module, `python -m MODULE ARGUMENT`, whose main is `serve`. They end with this one."""

    def __init__(self, module: str, argument: str, *, n: int) -> None:
        self._command = [sys.executable, "-m", module, argument]
        self._threads = ThreadPoolExecutor(n, thread_name_prefix="parsing")
        self._free: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self._n = n
        for _ in range(n):
            self._free.put(self._start())

    def _start(self) -> subprocess.Popen[str]:
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=os.environ | one_thread,
        )

    def parse(self, sentences: Sequence[Words], batch: int) -> Iterator[Answer]:
        """Answers in the order of the sentences."""
        waiting: deque[Future[list[Answer]]] = deque()
        for first in range(0, len(sentences), batch):
            waiting.append(self._threads.submit(self._ask, sentences[first : first + batch]))
            if len(waiting) > AHEAD * self._n:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def _ask(self, sentences: Sequence[Words]) -> list[Answer]:
        process = self._free.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([[words.texts, words.spaces] for words in sentences]) + "\n")
            process.stdin.flush()
            answers = json.loads(process.stdout.readline())
        except (OSError, ValueError) as error:
            raise DisconerError(
                "A process of the parser exited before its work was done",
                got=f"exit code {process.wait()}",
                fix="See its output above; if there is none, memory may have run out.",
            ) from error
        finally:
            self._free.put(process)
        return [_from_json(answer) for answer in answers]


def serve(parse: Callable[[Sequence[Words]], Sequence[Answer]], requests: IO[str], answers: IO[str]) -> None:
    """The worker's side: answer requests, one per line, until there are no more."""
    for line in requests:
        sentences = [Words(tuple(texts), tuple(spaces)) for texts, spaces in json.loads(line)]
        answers.write(json.dumps([_to_json(answer) for answer in parse(sentences)]) + "\n")
        answers.flush()


def _to_json(answer: Answer) -> Any:
    if isinstance(answer, Unparsed):
        return [answer.reason, answer.lasting]
    return [answer.forms, answer.heads, answer.relations]


def _from_json(answer: Any) -> Answer:
    if len(answer) == 2:
        return Unparsed(*answer)
    forms, heads, relations = answer
    return Parse(tuple(forms), tuple(heads), tuple(relations))
