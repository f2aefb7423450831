from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from disconer import Document
from disconer.nn.encoders.transformer import Case, cases
from disconer.nn.windows import Windower
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, load_model, save_model
from disconer.text import segment
from nn.toy import lively, toy_model, word_batch
from strategies import characters


def case_of(subword: str) -> Case:
    """The same, letter by letter."""
    upper = [letter.isupper() for letter in subword if letter.isupper() or letter.islower()]
    if not any(upper):
        return Case.LOWER
    if all(upper):
        return Case.UPPER
    return Case.TITLE if sum(upper) == 1 and subword[0].isupper() else Case.MIXED


@pytest.mark.parametrize(
    ("subword", "case"),
    [
        ("pain", Case.LOWER),
        ("Pain", Case.TITLE),
        ("ALT", Case.UPPER),
        ("B", Case.UPPER),
        ("mRNA", Case.MIXED),
        ("IgG", Case.MIXED),
        ("p53", Case.LOWER),
        ("CD4", Case.UPPER),
        ("17", Case.LOWER),
        ("Ärzte", Case.TITLE),
        ("\U0001f680", Case.LOWER),
    ],
)
def test_cases(subword: str, case: Case) -> None:
    assert cases(subword, np.array([[0, len(subword)]])).tolist() == [case]


@given(st.lists(st.text(characters, min_size=1, max_size=5), max_size=6))
def test_a_subword_has_its_case_whatever_stands_around_it(subwords: list[str]) -> None:
    ends = np.cumsum([0, *map(len, subwords)])
    offsets = np.stack([ends[:-1], ends[1:]], axis=-1).reshape(-1, 2)
    assert cases("".join(subwords), offsets).tolist() == [case_of(subword) for subword in subwords]


def test_each_subword_comes_with_its_case() -> None:
    reader = toy_model(case=True).reader
    (subwords,) = reader("No ALT", segment(Document("d", "No ALT")).sentences)
    assert subwords.ids[:, 1].tolist() == [Case.UPPER, Case.LOWER, Case.UPPER, Case.UPPER, Case.UPPER]
    assert reader.prefix.shape == reader.suffix.shape == (1, 2)


def vectors(model: Model, *texts: str) -> torch.Tensor:
    """The vectors of the words of one batch."""
    windower = Windower(model.config, model.reader, model.max_subwords)
    documents = [windower.segment(Document("d", text)) for text in texts]
    windows = [window for document in documents for own in windower.windows(document) for window in own]
    with torch.no_grad():
        found: torch.Tensor = model.network.words.encoder(word_batch(windows, model.reader))
    return found


def test_capitals_change_the_vectors_of_an_encoder_that_reads_them() -> None:
    for case in (True, False):
        model = toy_model(case=case)
        assert torch.equal(vectors(model, "all"), vectors(model, "ALL")) is not case


def test_padding_has_no_case() -> None:
    """Rows are filled up with the number of a subword, which may be more than there are cases."""
    model = toy_model(case=True)
    model.reader.padding = 90  # type: ignore[misc]
    together = vectors(model, "ALT", "No pain in my knees")
    torch.testing.assert_close(together[:1, :1], vectors(model, "ALT"))


def test_a_saved_model_reads_case_again(tmp_path: Path) -> None:
    model = lively(toy_model(case=True))
    save_model(model, tmp_path)
    text = "ALT and Pain in mRNA knees"
    before, after = (Recognizer(one)(text).entities for one in (model, load_model(tmp_path)))
    assert before
    assert after == before
    assert Recognizer(model)(text.lower()).entities != before
