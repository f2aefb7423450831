from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from disconer.core.errors import DisconerError
from disconer.text.syntax.parser import Unparsed
from disconer.text.syntax.processes import Processes, serve
from text.syntax.fakes import chain, plain_words


def test_the_other_end_answers_a_line_a_request() -> None:
    requests = "".join(json.dumps([[[word], [False]]]) + "\n" for word in ("fever", "pain"))
    answers = io.StringIO()
    serve(
        lambda sentences: [chain(words) if "pain" in words.texts else Unparsed("too hot") for words in sentences],
        io.StringIO(requests),
        answers,
    )
    assert [json.loads(line) for line in answers.getvalue().splitlines()] == [
        [["too hot", True]],
        [[["pain"], [-1], ["root"]]],
    ]


def test_several_answer_in_the_order_of_the_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
    sentences = [plain_words("Ω", str(number)) for number in range(50)]
    processes = Processes("text.syntax.chain_worker", "", n=2)
    for _ in range(2):  # they stay for more
        assert list(processes.parse(sentences, 4)) == [chain(words) for words in sentences]


def test_a_process_that_dies_is_an_error_that_says_so() -> None:
    with pytest.raises(
        DisconerError, match=r"A process of the parser exited before its work was done. Got exit code 0"
    ):
        list(Processes("this", "no worker at all", n=1).parse([plain_words("fever")], 1))
