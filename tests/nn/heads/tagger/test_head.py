"""The tagger as a head: targets of windows, loss, prediction, and the same without torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from disconer import Document, Entity, Recognizer
from disconer.evaluate.stats import survey
from disconer.export.onnx import export_model
from disconer.nn.heads.tagger import TAGGER
from disconer.nn.heads.tagger.crf import LinearChainCrf, Segments
from disconer.nn.heads.tagger.kind import OTHER_LABEL, TaggerSettings
from disconer.nn.heads.tagger.reading import ANY, Asked, NumpyCrf
from disconer.nn.heads.tagger.schemes import SCHEMES
from disconer.nn.reader import Subwords
from disconer.nn.windows import windows
from disconer.store.checkpoint import Model
from disconer.text import segment
from disconer.text.alignment import align
from nn.toy import toy_model, word_batch

TEXT = "a b c d e f g h i j"  # ten words of one character, two apart


def words(*ranges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((2 * first, 2 * end - 1) for first, end in ranges)


def tagger(**settings: object) -> Model:
    torch.manual_seed(1)
    return toy_model(("ADR", "Drug"), head={"kind": "tagger", **settings})


def lively_tagger(**settings: object) -> Model:
    """A tagger that finds much, on word vectors without context."""
    torch.manual_seed(1)
    model = toy_model(("ADR", "Drug"), layers=0, encoder={"lstm": None}, head={"kind": "tagger", **settings})
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.network.head.parameters():
            parameter.normal_(0, 0.7, generator=generator)
    return model


def targets(model: Model, document: Document, max_subwords: int) -> list[tuple[tuple[int, int], list[str]]]:
    """Of each window its words and their tags."""
    document = segment(document)
    [sentence], [entities] = document.sentences or (), align(document)[0]
    n_words = len(sentence.tokens)
    subwords = Subwords(np.arange(n_words), np.arange(n_words), np.arange(1, n_words + 1))
    head = model.network.head
    made = []
    for window in windows(sentence, subwords, max_subwords=max_subwords):
        numbers = head.window_targets(window, entities).tolist()
        made.append(((window.start, window.end), ["?" if n == ANY else head.tags[n] for n in numbers]))
    return made


def test_a_window_teaches_its_own_words_and_the_entities_that_start_there() -> None:
    entities = (Entity("ADR", words((3, 5))), Entity("Other", words((0, 1))))  # a label that the model does not know
    made = targets(tagger(scheme="BIO"), Document("d", TEXT, entities), max_subwords=6)
    assert made == [
        ((0, 6), ["O", "O", "O", "B-ADR", "I-ADR", "?"]),
        ((5, 10), ["O", "O", "O", "O", "O"]),
    ]


def test_words_of_an_entity_that_a_window_cuts_teach_nothing_there() -> None:
    made = targets(tagger(scheme="BIO"), Document("d", TEXT, (Entity("ADR", words((4, 8))),)), max_subwords=6)
    assert made == [
        ((0, 6), ["O", "O", "O", "O", "?", "?"]),
        ((5, 10), ["?", "?", "?", "O", "O"]),
    ]


@pytest.mark.parametrize("free", [False, True])
def test_the_loss_is_minus_the_log_probability_of_the_tags(free: bool) -> None:
    model = tagger(scheme="BIO")
    document = segment(Document("d", "a b c", (Entity("ADR", words((0, 2))),)))
    [sentence] = document.sentences or ()
    [window] = windows(sentence, model.reader(document.text, [sentence])[0], max_subwords=60)
    head, batch = model.network.head, word_batch([window], model.reader)
    wanted = head.window_targets(window, align(document)[0][0])
    if free:
        wanted[2] = ANY
    vectors = model.network.words(batch)
    loss = head.loss(vectors, batch, head.batch_targets([wanted]))
    segments = Segments(*(torch.tensor(value) for value in ([0], [0], [3], [wanted.tolist()], [[ANY] * 3])))
    probability = head.crf.segment_probabilities(head._emissions(vectors, batch), torch.tensor([3]), segments)
    assert loss.exp().item() == pytest.approx(1 / probability.item(), rel=1e-4)


def test_numpy_does_as_torch() -> None:
    torch.manual_seed(0)
    crf = LinearChainCrf(7, may_follow=torch.rand(7, 7) > 0.2)
    emissions, lengths = 2 * torch.randn(5, 9, 7), [9, 1, 4, 7, 2]
    ours = NumpyCrf(*(scores.detach().numpy() for scores in crf.scores()))
    best = crf.viterbi(emissions, torch.tensor(lengths))
    assert ours.viterbi(emissions.numpy(), lengths).tolist() == best.tolist()
    only, never = np.full((4, 5), ANY), np.full((4, 5), ANY)
    only[:, 0], only[1, 2], never[2, 1] = 3, 5, 4
    asked = Asked(np.array([0, 0, 3, 4]), np.array([0, 4, 2, 0]), np.array([5, 9, 4, 2]), only, never)
    expected = crf.segment_probabilities(
        emissions, torch.tensor(lengths), Segments(*(torch.from_numpy(column) for column in asked))
    )
    found = ours.segment_probabilities(emissions.numpy(), lengths, asked)
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [*SCHEMES, "multilabel"])
def test_exported_it_finds_the_same(scheme: str, tmp_path: Path) -> None:
    model = lively_tagger(scheme=scheme)
    texts = ["Pain and stiffness in my knees, after 5 mg aspirin. No fever.", "p", "k " * 90, ""]
    export_model(model, tmp_path)
    before, after = Recognizer(model), Recognizer.from_pretrained(tmp_path)
    found = [[entity for entity in ner.pipe(texts) for entity in entity.entities] for ner in (before, after)]
    assert len(found[0]) > 10
    assert [one.key for one in found[1]] == [one.key for one in found[0]]
    assert [one.score for one in found[1]] == pytest.approx([one.score for one in found[0]], abs=5e-4)
    assert all(0 < (one.score or 0) <= 1 for one in found[0])


def test_what_is_lost_has_a_reason() -> None:
    document = segment(
        Document(
            "d", TEXT, (Entity("A", words((0, 2))), Entity("B", words((1, 2))), Entity("A", words((4, 5), (6, 7))))
        )
    )
    reach = TAGGER.reach(align(document)[0][0], 10, TaggerSettings(scheme="BIO"))
    assert reach.found == {("A", ((0, 2),))}
    assert reach.lost == {
        ("B", ((1, 2),)): OTHER_LABEL,
        ("A", ((4, 5), (6, 7))): "is discontinuous in a way that BIO cannot express (head.scheme)",
    }


def test_the_scheme_that_loses_least_is_proposed() -> None:
    regular = Document("r", TEXT, (Entity("A", words((0, 2))),))
    apart = Document("a", TEXT, (Entity("A", words((0, 1), (2, 3))), Entity("A", words((4, 5), (6, 7)))))
    assert TAGGER.propose(survey([regular]), TaggerSettings()).settings.scheme == "BIO"
    settings, [finding] = TAGGER.propose(survey([regular, apart]), TaggerSettings(hidden=()))
    assert settings == TaggerSettings(scheme="BIOHD1234", hidden=())
    assert finding == (
        "Tags: BIOHD1234. Entities that each scheme expresses: BIO 33.3%, BIOHD 66.7%, BIOHD1234 100.0%."
    )
