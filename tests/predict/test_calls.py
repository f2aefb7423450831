"""What a call may ask of a recogniser, beside a text."""

from __future__ import annotations

import time

import pytest

import disconer
from disconer import DisconerError
from disconer.predict.recognizer import Recognizer
from nn.toy import letter_model

TEXTS = ["p in my k", "no k", "p"]


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer(letter_model())


def test_a_name_is_answered_with_from_pretrained() -> None:
    with pytest.raises(TypeError, match=r"use Recognizer\.from_pretrained\('biomedical'\)"):
        Recognizer("biomedical")  # type: ignore[arg-type]


def test_a_list_is_answered_with_pipe(ner: Recognizer) -> None:
    with pytest.raises(TypeError, match=r"got list; for many, use pipe\(texts\)"):
        ner(TEXTS)  # type: ignore[arg-type]


def test_threshold_and_labels_of_one_call(ner: Recognizer) -> None:
    strict = Recognizer(letter_model(), threshold=0.99)
    assert strict("p").entities == ()
    assert strict("p", threshold=0.0).entities == ner("p").entities != ()
    assert ner("p", threshold=0.99).entities == ()
    assert [document.entities for document in ner.pipe(TEXTS, threshold=0.99)] == [(), (), ()]
    assert ner("p", labels=["ADR"]).entities == ner("p").entities
    with pytest.raises(DisconerError, match="no label 'Nonsense'"):
        ner("p", labels=["Nonsense"])
    for threshold in (2.0, "high"):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ner("p", threshold=threshold)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="between 0 and 1"):
            Recognizer(ner.model, threshold=threshold)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got 'ADR'; for a single one, \['ADR'\]"):
        ner("p", labels="ADR")


def test_ids(ner: Recognizer) -> None:
    assert ner("p", id="note").id == "note"
    assert [document.id for document in ner.pipe(TEXTS, ids=["a", "b", "c"])] == ["a", "b", "c"]
    assert [document.id for document in ner.pipe(TEXTS)] == ["text-1", "text-2", "text-3"]
    for ids, fewer in ((["a"], "ids"), (["a", "b", "c", "d"], "texts")):
        with pytest.raises(ValueError, match=f"as many ids as texts; there are fewer {fewer}"):
            list(ner.pipe(TEXTS, ids=ids))
    with pytest.raises(TypeError, match="id and text of a document are str, got 1 and a str"):
        list(ner.pipe(TEXTS, ids=[1, 2, 3]))  # type: ignore[call-overload]


def test_tuples_keep_what_comes_with_a_text(ner: Recognizer) -> None:
    given = [(text, {"row": number}) for number, text in enumerate(TEXTS)]
    found = list(ner.pipe(given, as_tuples=True, batch_size=2))
    assert [(document.text, context["row"]) for document, context in found] == list(zip(TEXTS, range(3), strict=True))


def test_what_is_no_pair_and_what_is_no_document_is_named(ner: Recognizer) -> None:
    with pytest.raises(TypeError, match=r"pipe takes pairs \(text, anything\), got a str"):
        list(ner.pipe(TEXTS, as_tuples=True))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"annotate takes documents, got a str; for texts, use pipe\(texts\)"):
        list(ner.annotate(TEXTS))  # type: ignore[arg-type]


def test_unknown_precisions_and_runtimes_are_refused() -> None:
    with pytest.raises(DisconerError, match=r"There is no precision 'fp8'\. Expected one of fp32, bf16, int8, auto"):
        Recognizer(letter_model(), precision="fp8")  # type: ignore[arg-type]
    with pytest.raises(DisconerError, match=r"There is no runtime 'tf'\. Expected one of onnx, torch"):
        Recognizer.from_pretrained(".", runtime="tf")  # type: ignore[arg-type]


def test_progress_is_shown_when_it_is_asked_for(ner: Recognizer, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(ner.pipe(TEXTS))) == 3
    assert capsys.readouterr().err == ""
    assert len(list(ner.annotate([ner("p")] * 3, progress=True))) == 3
    assert "documents" in capsys.readouterr().err


def test_the_package_shows_what_it_offers() -> None:
    assert {"Recognizer", "Document", "read", "write", "to_dataframe"} <= set(dir(disconer))


def test_time_is_linear_in_the_length_of_a_text(ner: Recognizer) -> None:
    """Of this process, whatever else runs; twice what linear growth would be is allowed."""
    line = "had p in my k. No more k here, and then p again.\n"
    seconds = []
    for times in (1200, 4800):
        text = line * times
        started = time.process_time()
        assert len(ner(text).entities) == 3 * times
        seconds.append(time.process_time() - started)
    assert seconds[1] < 2 * 4 * seconds[0]


def test_a_single_long_text_shows_how_far_it_is(ner: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("disconer.predict.recognizer.note", said.append)
    ner("had p in my k. No more k here.\n" * 2000)
    assert len(said) > 2
    assert said[-1] == f"batch {len(said):,} of {len(said):,}"
