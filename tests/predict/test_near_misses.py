from __future__ import annotations

import pytest

from disconer import Recognizer

TEXT = "Severe pain in knees and hands after aspirin; could not sleep; renal or hepatic impairment."


@pytest.mark.parametrize("model", ["clinical-trials", "pharmacovigilance"])
def test_what_is_nearly_an_entity_is_added_with_a_low_score(model: str) -> None:
    ner = Recognizer.from_pretrained(model, runtime="onnx")
    found = {entity.key: entity.score for entity in ner(TEXT).entities}
    near = {entity.key: entity.score for entity in ner.with_near_misses()(TEXT).entities}
    assert len(near) > len(found) > 2
    shared = found.keys() & near.keys()
    assert len(shared) > 0.7 * len(found)  # a near miss may join fragments that were entities of their own
    assert all(near[key] == pytest.approx(found[key], abs=1e-6) for key in shared)
    assert max(score or 0 for key, score in near.items() if key not in found) < 0.7
    assert {entity.key for entity in ner(TEXT).entities} == found.keys()  # the recogniser itself is as before
