"""The CoreNLP client, against a small server that speaks as CoreNLP does, and as it should not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from disconer.core.errors import DisconerError
from disconer.text.syntax.attach import Account, Syntax
from disconer.text.syntax.corenlp import BATCH, GIVE_UP_AFTER, PROPERTIES, Client, CoreNlpParser
from disconer.text.syntax.parser import Parse, Unparsed
from text.syntax.fakes import document, plain_words

FEVER, PAIN = plain_words("No", "fever"), plain_words("No", "pain")
Reply = tuple[int, bytes]


def corenlp_sentence(words: list[str]) -> dict[str, object]:
    """A sentence as CoreNLP writes it, its words hanging each on the next, arcs root first."""
    n = len(words)
    arcs = [
        {"dep": "ROOT" if number == n else "dep", "governor": 0 if number == n else number + 1, "dependent": number}
        for number in range(n, 0, -1)
    ]
    tokens = [
        {"index": number, "word": word.replace("(", "-LRB-"), "originalText": word}
        for number, word in enumerate(words, 1)
    ]
    return {"basicDependencies": arcs, "enhancedPlusPlusDependencies": [], "tokens": tokens}


def right(text: str) -> Reply:
    return 200, json.dumps({"sentences": [corenlp_sentence(line.split()) for line in text.split("\n")]}).encode()


class Server:
    """Answers by a function of the text; `texts` and `properties` remember the requests."""

    def __init__(self) -> None:
        self.reply: Callable[[str], Reply] = right
        self.texts: list[str] = []
        self.properties: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.texts.append(text)
                outer.properties.append(json.loads(parse_qs(urlsplit(self.path).query)["properties"][0]))
                status, content = outer.reply(text)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def parser(self, *, timeout: float = 5.0, pauses: tuple[float, ...] = (0.0, 0.0)) -> CoreNlpParser:
        return CoreNlpParser(self.url, client=Client(self.url, PROPERTIES, timeout=timeout, pauses=pauses))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_words_go_in_pretokenised_and_basic_arcs_come_back(server: Server) -> None:
    answers = list(server.parser().parse([FEVER, plain_words("(", "\U0001f600", ")")]))
    assert answers == [
        Parse(("No", "fever"), (1, -1), ("dep", "ROOT")),
        Parse(("(", "\U0001f600", ")"), (1, 2, -1), ("dep", "dep", "ROOT")),
    ]
    assert server.texts == ["No fever\n( \U0001f600 )"]
    assert server.properties[0] == {**PROPERTIES, "timeout": "5000"}
    assert server.properties[0]["tokenize.whitespace"] == "true"
    assert "depparse" in server.properties[0]["annotators"]


def test_many_sentences_are_several_requests_and_stay_in_order(server: Server) -> None:
    sentences = [plain_words("w", str(number)) for number in range(5 * BATCH)]
    answers = list(server.parser().parse(sentences))
    assert [answer.forms for answer in answers if isinstance(answer, Parse)] == [words.texts for words in sentences]
    assert len(server.texts) == 5


def test_long_sentences_share_no_request(server: Server) -> None:
    sentences = [plain_words(*["word"] * 4000) for _ in range(3)]
    assert len(list(server.parser().parse(sentences))) == 3
    assert len(server.texts) == 3


def reasons(answers: Iterator[Parse | Unparsed]) -> list[str]:
    found = []
    for answer in answers:
        assert isinstance(answer, Unparsed)
        assert not answer.lasting
        found.append(answer.reason)
    return found


def test_a_server_that_is_absent() -> None:
    client = Client("http://127.0.0.1:9", PROPERTIES, pauses=(0.0,))
    parser = CoreNlpParser("http://127.0.0.1:9", client=client)
    (reason,) = reasons(parser.parse([FEVER]))
    assert "no CoreNLP server at http://127.0.0.1:9" in reason
    assert "StanfordCoreNLPServer" in reason
    with pytest.raises(DisconerError, match="gave no tree for any of 1 sentence"):
        Syntax(parser)([document("No fever")], Account())


def test_an_absent_server_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client("http://127.0.0.1:9", PROPERTIES, pauses=(0.02,))
    parser = CoreNlpParser("http://127.0.0.1:9", client=client)
    pauses: list[float] = []
    monkeypatch.setattr("disconer.text.syntax.corenlp.time.sleep", pauses.append)
    found = reasons(parser.parse([plain_words("w", str(number)) for number in range(200 * BATCH)]))
    assert 0 < len(pauses) < 20  # one for each request that failed
    assert "did not answer earlier requests" in found[-1]


def test_a_server_that_is_slow(server: Server) -> None:
    is_over = threading.Event()

    def slow(text: str) -> Reply:
        if "fever" in text:
            is_over.wait(20)
        return right(text)

    server.reply = slow
    first, second = server.parser(timeout=1.0).parse([FEVER, PAIN])
    is_over.set()
    assert first == Unparsed(f"the CoreNLP server at {server.url} took longer than 1 s", lasting=False)
    assert isinstance(second, Parse)


def test_a_server_that_is_busy_for_a_moment(server: Server) -> None:
    server.reply = lambda text: right(text) if len(server.texts) > 2 else (503, b"loading models")
    (answer,) = server.parser().parse([FEVER])
    assert isinstance(answer, Parse)
    assert len(server.texts) == 3


def test_a_sentence_that_breaks_the_server_does_not_take_the_others_along(server: Server) -> None:
    server.reply = lambda text: (500, b"java.lang.OutOfMemoryError") if "fever" in text else right(text)
    sentences = [plain_words("w", str(number)) for number in range(20)]
    sentences[7] = FEVER
    answers = list(server.parser().parse(sentences))
    assert [number for number, answer in enumerate(answers) if isinstance(answer, Unparsed)] == [7]
    assert "the status 500" in answers[7].reason  # type: ignore[union-attr]


SECRET = "Jane Doe"


@pytest.mark.parametrize("status", [200, 400, 500])
def test_what_a_server_says_is_in_no_message(server: Server, status: int) -> None:
    """It may quote the text, patients' names included, and reasons land in logs."""
    server.reply = lambda text: (status, f"cannot parse {SECRET}".encode())
    (found,) = reasons(server.parser().parse([FEVER]))
    assert SECRET not in found
    assert "cannot parse" not in found


WRONG = {
    "no such page": (lambda text: (404, b"not here"), "is that CoreNLP?"),
    "a web page": (lambda text: (200, b"<html>"), "gave an answer unlike CoreNLP's, of 6 bytes"),
    "other JSON": (lambda text: (200, b"[1]"), "unlike CoreNLP"),
    "no arcs": (lambda text: (200, b'{"sentences": [{"tokens": []}]}'), "unlike CoreNLP"),
    "an arc too few": (
        lambda text: (200, b'{"sentences": [{"tokens": [{"originalText": "No"}], "basicDependencies": []}]}'),
        "unlike CoreNLP",
    ),
    "more sentences": (lambda text: right("No\nfever"), "gave 2 sentences for 1"),
}


@pytest.mark.parametrize(("reply", "reason"), WRONG.values(), ids=WRONG)
def test_a_server_that_is_wrong(server: Server, reply: Callable[[str], Reply], reason: str) -> None:
    server.reply = reply
    (found,) = reasons(server.parser().parse([FEVER]))
    assert reason in found


def test_other_words_than_ours_are_counted(server: Server) -> None:
    server.reply = lambda text: right(text.replace("fever", "chills"))
    account = Account()
    (found,) = Syntax(server.parser())([document("No fever", "No pain")], account)
    assert [sentence.heads for sentence in found.sentences or ()] == [None, (1, -1)]
    assert account.without == {"the parser's words differ from the text": 1}


def test_a_proxy_of_the_system_gets_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    (answer,) = server.parser().parse([FEVER])
    assert isinstance(answer, Parse)


def test_giving_up_takes_more_failures_than_halving_a_batch_can_bring() -> None:
    assert 2**GIVE_UP_AFTER > 2 * BATCH
