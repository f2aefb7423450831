"""The protocols of brat's taggers and of INCEpTION's external recommenders."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import fromstring

import pytest

from disconer import Document, Entity, Ledger
from disconer.core.errors import Where
from disconer.formats.uima.layers import type_system_xml
from disconer.formats.uima.xmi import content, read_xmi
from disconer.serve.tools import tagged
from disconer.text import segment
from serve.fakes import Running, running

TEXT = "😀 pain: renal or hepatic impairment,\naspirin."
NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    with running() as started:
        yield started


def tag(service: Running, text: str, query: str = "") -> tuple[int, Any]:
    """As brat asks: the text is the body, and not JSON."""
    headers = {"content-type": "text/plain; charset=utf-8", "accept": "application/json"}
    status, _, answer = service.ask("POST", f"/brat{query}", text.encode(), headers)
    return status, answer


def test_brat_gets_annotations_with_fragments(service: Running) -> None:
    status, answer = tag(service, TEXT)
    assert status == 200
    found = {tuple(one["texts"]): one for one in answer.values()}
    assert found["renal", "impairment"] == {
        "type": "Condition",
        "offsets": [[8, 13], [25, 35]],
        "texts": ["renal", "impairment"],
    }
    assert list(answer) == [f"T{number}" for number in range(1, len(answer) + 1)]
    for one in answer.values():  # what brat asserts of an answer
        assert [TEXT[start:end] for start, end in one["offsets"]] == one["texts"]


def test_brat_chooses_labels_scores_and_models(service: Running) -> None:
    assert [one["texts"] for one in tag(service, TEXT, "?labels=Drug")[1].values()] == [["aspirin"]]
    assert len(tag(service, TEXT, "?threshold=0.7")[1]) == 2
    assert (tag(service, "itch")[1], len(tag(service, "itch", "?threshold=0.1")[1])) == ({}, 1)
    assert tag(service, TEXT, "?model=words")[0] == 200
    assert tag(service, TEXT, "?model=none")[0] == 422
    assert tag(service, TEXT, "?labels=Nonsense")[0] == 422
    assert tag(service, "")[1] == {}


def test_old_brat_asks_with_get(service: Running) -> None:
    status, _, answer = service.ask("GET", f"/brat/get?text={quote(TEXT)}&labels=Drug")
    assert (status, [one["texts"] for one in answer.values()]) == (200, [["aspirin"]])


def test_a_text_that_is_not_utf8(service: Running) -> None:
    status, _, answer = service.ask("POST", "/brat", b"pain \xff", {"content-type": "text/plain"})
    assert (status, answer["message"]) == (422, "The text is not UTF-8: byte 5.")


def test_a_mention_across_lines_has_a_part_per_line() -> None:

    document = Document("d", "renal\nimpairment", (Entity("A b", ((0, 16),)),))
    assert tagged(document) == {"T1": {"type": "A_b", "offsets": [[0, 5], [6, 16]], "texts": ["renal", "impairment"]}}


def asked(text: str = TEXT, **metadata: Any) -> dict[str, Any]:
    """As INCEpTION asks."""
    xmi = content(segment(Document("d", text)), Ledger()).decode()
    defaults = {"layer": NER, "feature": "value", "projectId": 4, "anchoringMode": "tokens", "crossSentence": False}
    return {
        "metadata": defaults | metadata,
        "document": {"xmi": xmi, "documentId": 7, "userId": "anna"},
        "typeSystem": "<x>value_score value_score_explanation</x>",
    }


def suggested(xmi: str) -> list[dict[str, str]]:
    tag = "{http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore}NamedEntity"
    return [dict(one.attrib) for one in fromstring(xmi) if one.tag == tag]


def test_inception_gets_its_cas_with_predictions(service: Running) -> None:
    status, _, answer = service.ask("POST", "/inception/predict", asked())
    assert status == 200
    sent, back = (
        read_xmi(xmi.encode(), "d", Where(), Ledger()) for xmi in (asked()["document"]["xmi"], answer["document"])
    )
    assert (back.text, back.sentences) == (sent.text, sent.sentences)  # all that was there
    found = {TEXT[int(one["begin"]) - 1 : int(one["end"]) - 1]: one for one in suggested(answer["document"])}
    assert set(found) == {"pain", "renal", "impairment", "hepatic impairment", "aspirin"}
    assert found["aspirin"]["value"] == "Drug"
    assert found["aspirin"]["value_score"] == "0.9"
    assert found["renal"]["value_score_explanation"] == "fragment 1 of 2: renal impairment"
    assert all(one["inception_internal_predicted"] == "true" for one in found.values())
    root = fromstring(answer["document"])
    ids = [one.get("{http://www.omg.org/XMI}id") for one in root]
    (view,) = root.findall("{http:///uima/cas.ecore}View")
    own = {one["{http://www.omg.org/XMI}id"] for one in found.values()}
    assert own <= set(view.get("members", "").split())
    assert len(set(ids) - {None}) == len([one for one in ids if one is not None])


def test_inception_asks_for_a_range_a_layer_and_a_model(service: Running) -> None:
    _, _, answer = service.ask("POST", "/inception/words/predict", asked(range={"begin": 39, "end": 46}))
    assert [one["value"] for one in suggested(answer["document"])] == ["Drug"]
    _, _, answer = service.ask("POST", "/inception/predict", asked(layer="webanno.custom.Finding", feature="kind"))
    assert 'kind="Drug" inception_internal_predicted="true" kind_score="0.9"' in answer["document"]
    assert service.ask("POST", "/inception/none/predict", asked())[0] == 422


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document": {"xmi": "<a>"}}, "This XML ends too early"),
        ({"document": {"xmi": "<a/>"}}, "This CAS has no text"),
        ({"document": {"xmi": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}}, "declares entities"),
        ({"metadata": {"layer": "a b", "feature": "value"}}, "This is not a layer and a feature"),
        ({"metadata": {"layer": NER}}, "metadata.feature"),
    ],
)
def test_bad_requests_of_inception(service: Running, change: dict[str, Any], message: str) -> None:
    status, _, answer = service.ask("POST", "/inception/predict", asked() | change)
    assert status == 422
    assert message in answer["message"]


@pytest.mark.parametrize("path", ["/inception/train", "/inception/words/train"])
def test_training_is_said_not_to_be_supported(service: Running, path: str) -> None:
    status, _, answer = service.ask("POST", path, asked())
    assert (status, answer["error"]) == (501, "not-trained")


def test_tools_need_the_token_too() -> None:
    with running(token="secret") as service:
        assert tag(service, TEXT)[0] == 401
        assert service.ask("POST", "/inception/predict", asked())[0] == 401


def test_cassis_reads_the_answer(service: Running, tmp_path: Path) -> None:
    cassis = pytest.importorskip("cassis")
    types = cassis.load_typesystem(type_system_xml().decode())
    layer = types.get_type(NER)
    types.create_feature(layer, "inception_internal_predicted", "uima.cas.Boolean")
    types.create_feature(layer, "value_score", "uima.cas.Double")
    types.create_feature(layer, "value_score_explanation", "uima.cas.String")
    _, _, answer = service.ask("POST", "/inception/predict", asked())
    cas = cassis.load_cas_from_xmi(answer["document"], types)
    found = [(one.get_covered_text(), one.get("value")) for one in cas.select(NER) if one.inception_internal_predicted]
    assert ("hepatic impairment", "Condition") in found
    assert len(list(cas.select("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"))) > 5


def test_the_example_request_of_brat_by_hand(service: Running) -> None:
    """Brat's own client: HTTPConnection, a content length, and no JSON."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=20)
    data = TEXT.encode()
    headers = {"Content-type": "text/plain; charset=utf-8", "Accept": "application/json", "Content-length": len(data)}
    connection.request("POST", "/brat?threshold=0.5", data, headers=headers)
    response = connection.getresponse()
    assert response.status == 200
    connection.close()


def test_golden_cas_of_inception_keeps_all_it_has(service: Running) -> None:
    golden = Path(__file__).parents[1] / "formats" / "golden" / "uima" / "inception.xmi"
    request = asked()
    request["document"]["xmi"] = golden.read_text("utf-8").replace("Mild muscle", "Mild impair")
    _, _, answer = service.ask("POST", "/inception/predict", request)
    before, after = (fromstring(xmi) for xmi in (request["document"]["xmi"], answer["document"]))
    kept = {(one.tag, *sorted(one.items())) for one in after}
    assert {(one.tag, *sorted(one.items())) for one in before if not one.tag.endswith("View")} <= kept
    assert [one["value"] for one in suggested(answer["document"])] == ["Condition", "Symptom", "7"]
