from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator

import pytest
from fastapi.testclient import TestClient

from disconer import Document
from disconer.serve.app import create_app
from disconer.serve.schemas import LabelsAnswer, ModelsAnswer, PredictAnswer, ProblemAnswer, RenderAnswer
from serve.fakes import Running, WordFinder, raw_request, running

TEXT = "Renal pain: renal or hepatic impairment, aspirin 😀 fever."


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    with running() as started:
        yield started


def test_entities_of_every_shape(service: Running) -> None:
    status, _, answer = service.predict(TEXT, "", "nothing here")
    assert status == 200
    PredictAnswer.model_validate(answer)
    first, *others = answer["documents"]
    assert [one["id"] for one in answer["documents"]] == ["text-1", "text-2", "text-3"]
    assert [one["entities"] for one in others] == [[], []]
    found = {entity["text"]: entity for entity in first["entities"]}
    assert found["renal impairment"]["fragments"] == [[12, 17], [29, 39]]
    assert found["renal impairment"]["kind"] == "discontinuous"
    assert found["hepatic impairment"]["kind"] == "overlapped"
    assert TEXT[slice(*found["fever"]["fragments"][0])] == "fever"  # after an emoji: offsets count code points


def test_threshold_and_labels_leave_entities_out_and_kinds_follow(service: Running) -> None:
    _, _, answer = service.predict(TEXT, threshold=0.7)
    kept = answer["documents"][0]["entities"]
    assert [(entity["text"], entity["kind"]) for entity in kept] == [
        ("hepatic impairment", "regular"),
        ("aspirin", "regular"),
    ]
    _, _, answer = service.predict(TEXT, labels=["Drug"])
    assert [entity["label"] for entity in answer["documents"][0]["entities"]] == ["Drug"]


def test_a_threshold_also_gives_what_the_model_would_not_report(service: Running) -> None:
    for threshold, expected in ((None, ["pain"]), (0.1, ["itch", "pain"]), (0.3, ["pain"]), (0, ["itch", "pain"])):
        _, _, answer = service.predict("an itch and pain", **({} if threshold is None else {"threshold": threshold}))
        assert [entity["text"] for entity in answer["documents"][0]["entities"]] == expected


def test_brat(service: Running) -> None:
    _, _, answer = service.predict("renal or hepatic impairment", format="brat", threshold=0.3, labels=["Condition"])
    PredictAnswer.model_validate(answer)
    lines = answer["documents"][0]["ann"].splitlines()
    assert lines[0] == "T1\tCondition 0 5;17 27\trenal impairment"


def test_models_and_labels(service: Running) -> None:
    _, _, models = service.ask("GET", "/v1/models")
    ModelsAnswer.model_validate(models)
    facts = [(model["name"], model["default"], model["runtime"]) for model in models["models"]]
    assert facts == [("words", True, "onnx")]
    _, _, labels = service.ask("GET", "/v1/labels?model=words")
    assert LabelsAnswer.model_validate(labels).labels == ["Condition", "Drug"]
    assert service.ask("GET", "/v1/labels?model=none")[0] == 422


def test_render_takes_what_predict_gave(service: Running) -> None:
    _, _, found = service.predict(TEXT)
    given = found["documents"][0]
    status, _, drawn = service.ask("POST", "/v1/render", {"text": given["text"], "entities": given["entities"]})
    assert status == 200
    assert drawn["entities"] == given["entities"]
    for wrong in ({"text": "other"}, {"start": 0}, {"colour": "red"}):
        entities = [given["entities"][-1] | wrong]
        assert service.ask("POST", "/v1/render", {"text": given["text"], "entities": entities})[0] == 422


def test_render_draws_and_writes_brat_without_a_model(service: Running) -> None:
    entities = [{"label": "Other", "fragments": [[5, 9], [0, 2]], "score": 0.5}]
    asked = {"text": "ab <b>cd", "entities": entities}
    assert service.ask("POST", "/v1/render", asked | {"text": "short"})[0] == 422
    status, _, answer = service.ask("POST", "/v1/render", asked | {"text": "ab <b>cdef"})
    assert status == 200
    RenderAnswer.model_validate(answer)
    assert "<b>" not in answer["content"]
    assert answer["entities"][0]["kind"] == "discontinuous"
    _, _, answer = service.ask("POST", "/v1/render", asked | {"text": "ab <b>cdef", "format": "brat"})
    assert answer["content"] == "T1\tOther 0 2;5 9\tab >cde\n"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "texts"),
        ({"texts": []}, "texts"),
        ({"texts": "one"}, "texts"),
        ({"texts": ["fine", 3]}, "texts[1]"),
        ({"texts": ["a"], "threshold": 1.5}, "threshold"),
        ({"texts": ["a"], "threshold": "0.5"}, "threshold"),
        ({"texts": ["a"], "theshold": 0.5}, "theshold"),
        ({"texts": ["a"], "format": "xml"}, "format"),
        ({"texts": ["a", "b\ud800"]}, "texts[1]"),
        ([], "body"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(service: Running, body: object, where: str) -> None:
    status, _, answer = service.ask("POST", "/v1/predict", body)
    assert status == 422
    ProblemAnswer.model_validate(answer)
    assert answer["details"][0]["where"] == where
    assert where in answer["message"]


def test_a_wrong_field_is_named_beside_the_missing_one(service: Running) -> None:
    _, _, answer = service.ask("POST", "/v1/predict", {"text": "a"})
    assert "texts: field required; text: extra inputs are not permitted." in answer["message"]


def test_unknown_models_and_labels_are_slips(service: Running) -> None:
    status, _, answer = service.predict("a", model="wrods")
    assert (status, answer["message"]) == (422, "Unknown model 'wrods'. Available: words.")
    status, _, answer = service.predict("a", labels=["Drug", "Drgu"])
    assert (status, answer["message"]) == (422, "The model 'words' has no label 'Drgu'. Available: Condition, Drug.")


def test_a_label_of_another_model_is_a_slip() -> None:
    other = WordFinder()
    other.labels = ("Gene",)
    recognizers = {"words": WordFinder(), "genes": other}
    with TestClient(create_app(recognizers)) as client:
        given = {"texts": ["aspirin"], "labels": ["Drug"]}
        assert client.post("/v1/predict", json=given).status_code == 200
        answer = client.post("/v1/predict", json=given | {"model": "genes"})
        assert answer.status_code == 422
        assert answer.json()["message"] == "The model 'genes' has no label 'Drug'. Available: Gene."


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/render"])
def test_another_content_type_is_415(service: Running, path: str) -> None:
    body = b'{"texts": ["aspirin"]}' if path == "/v1/predict" else b'{"text": "aspirin", "entities": []}'
    for wrong in ("text/plain", "application/x-www-form-urlencoded", "application/xml; charset=utf-8"):
        status, _, answer = service.ask("POST", path, body, {"content-type": wrong})
        assert (status, answer["error"]) == (415, "unsupported-media-type")
        assert "'Content-Type: application/json'" in ProblemAnswer.model_validate(answer).message
    for right in ("application/json; charset=utf-8", "Application/JSON", "application/vnd.notes+json"):
        assert service.ask("POST", path, body, {"content-type": right})[0] == 200


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/render", "/inception/predict"])
def test_a_body_without_a_content_type_is_415(path: str) -> None:
    with TestClient(create_app({"words": WordFinder()})) as client:
        answer = client.post(path, content=b'{"texts": ["aspirin"], "text": "aspirin"}')
        assert answer.status_code == 415
        assert "has no content type, but must be JSON" in answer.json()["message"]
        assert client.post(path).status_code == 422  # there is nothing whose type could be named


def test_limits() -> None:
    with running(body_bytes=2000, texts=3, text_characters=10) as service:
        for texts, unit in (
            (["a"] * 4, "the limit is 3"),
            (["fine", "b" * 11], "texts[1]"),
            (["c" * 3000], "the limit is 2,000"),
        ):
            status, _, answer = service.predict(*texts)
            assert (status, answer["error"]) == (413, "too-large")
            assert unit in answer["message"]
        assert service.predict("a", "b" * 10, "c")[0] == 200


def test_a_full_queue_is_said_at_once_with_retry_after() -> None:
    finder = WordFinder()
    with running(finder, queue_texts=1) as service:
        finder.may_go_on.clear()
        slow = [threading.Thread(target=service.predict, args=("pain",)) for _ in range(2)]
        slow[0].start()
        assert finder.started.wait(10)
        slow[1].start()
        service.await_metric('disconer_waiting_texts{model="words"} 1.0')
        status, headers, answer = service.predict("fever")
        assert (status, answer["error"]) == (429, "busy")
        assert int(headers["retry-after"]) >= 1
        finder.may_go_on.set()
        for thread in slow:
            thread.join()
        assert service.is_well()


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    finder = WordFinder()
    with running(finder, answer_seconds=0.2) as service:
        finder.may_go_on.clear()
        status, headers, answer = service.predict("pain")
        assert (status, answer["error"]) == (503, "too-late")
        assert int(headers["retry-after"]) >= 1
        finder.may_go_on.set()
        assert service.is_well()


def test_texts_of_a_client_that_went_away_are_not_computed() -> None:
    finder = WordFinder()
    with running(finder) as service:
        finder.may_go_on.clear()
        first = threading.Thread(target=service.predict, args=("first",))
        first.start()
        assert finder.started.wait(10)
        with service.connect() as gone:
            gone.sendall(raw_request(b'{"texts": ["gone"]}'))
            service.await_metric('disconer_waiting_texts{model="words"} 1.0')
        service.await_metric('path="/v1/predict",status="499"')
        finder.may_go_on.set()
        first.join()
        assert service.is_well()
        assert finder.batches == [["first"], ["pain"]]


def test_a_text_that_breaks_the_model_is_a_500_and_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), running() as service:
        status, _, answer = service.predict("the patient's secret will explode")
        assert (status, answer["error"]) == (500, "model-failed")
        assert service.predict("another secret")[0] == 200
        assert service.ask("POST", "/v1/predict", b"third secret")[0] == 422
        assert service.ask("GET", "/secret?secret")[0] == 404
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


class Starved(WordFinder):
    """Runs out of memory on some texts."""

    def annotate(self, documents: Iterable[Document], *, threshold: float | None = None) -> Iterator[Document]:
        documents = list(documents)
        if any("endless" in document.text for document in documents):
            raise MemoryError
        yield from super().annotate(documents)


def test_a_text_for_which_memory_does_not_suffice_fails_alone() -> None:
    with running(Starved()) as service:
        status, _, answer = service.predict("endless")
        assert (status, answer["error"]) == (507, "out-of-memory")
        ProblemAnswer.model_validate(answer)
        assert service.predict("pain")[0] == 200


def test_an_answer_with_too_many_entities_is_refused() -> None:
    with running(entities=3) as service:
        assert service.predict("pain fever pain")[0] == 200
        status, _, answer = service.predict("pain fever", "aspirin statin")
        assert (status, answer["error"]) == (413, "too-large")
        assert "4 entities, but the limit is 3" in answer["message"]


def test_token() -> None:
    with running(token="tésted") as service:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "tésted".encode().decode("latin-1")}):
            status, answered, answer = service.ask("POST", "/v1/predict", {"texts": ["a"]}, headers)
            assert (status, answered["www-authenticate"]) == (401, "Bearer")
            ProblemAnswer.model_validate(answer)
        for path in ("/v1/models", "/v1/labels", "/metrics", "/v1/nothing"):
            assert service.ask("GET", path)[0] == 401
        for path in ("/", "/docs", "/healthz", "/readyz", "/openapi.json", "/assets/page.js"):
            assert service.ask("GET", path)[0] == 200
        right = {"authorization": "Bearer tésted".encode().decode("latin-1")}
        assert service.ask("GET", "/v1/models", headers=right)[0] == 200
        assert service.ask("GET", "/openapi.json")[2]["paths"]["/v1/predict"]["post"]["security"] == [{"token": []}]


def test_health(service: Running) -> None:
    assert service.ask("GET", "/healthz")[2] == {"status": "ok"}
    assert service.ask("GET", "/readyz")[2] == {"status": "ready"}


def test_metrics(service: Running) -> None:
    service.predict("pain", "fever")
    status, headers, content = service.ask("GET", "/metrics")
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    lines = dict(line.rsplit(" ", 1) for line in content.decode().splitlines() if not line.startswith("#"))
    assert float(lines['disconer_requests_total{path="/v1/predict",status="200"}']) >= 1
    assert float(lines['disconer_texts_total{model="words"}']) >= 2
    assert float(lines["process_resident_memory_bytes"]) > 0


def test_pages_are_safe_and_cached_by_content(service: Running) -> None:
    for path in ("/", "/docs", "/assets/page.css", "/assets/page.js", "/assets/drawing.css", "/assets/drawing.js"):
        status, headers, content = service.ask("GET", path)
        assert (status, bool(content)) == (200, True)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert b"http://" not in content.replace(b"http://www.w3.org/", b"")
        assert b"https://" not in content
        assert service.ask("GET", path, headers={"if-none-match": headers["etag"]})[0] == 304


def test_other_paths_and_methods(service: Running) -> None:
    status, _, answer = service.ask("GET", "/v1/nothing")
    assert (status, answer["error"]) == (404, "not-found")
    status, headers, answer = service.ask("GET", "/v1/predict")
    assert (status, answer["error"], headers["allow"]) == (405, "method-not-allowed", "POST")
