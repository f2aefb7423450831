from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.core.sentence import Sentence, Token
from disconer.formats import sniff
from disconer.formats.source import Source
from strategies import documents, tokenised_documents
from token_formats import n_missing, round_trip, seen

GOLDEN = Path(__file__).parent / "golden" / "conll"
SCHEMES = ("bio", "bioes", "biohd")
NOT_BACK = (
    "overlapped entities dropped",
    "repeated entities dropped",
    "discontinuous entities dropped",
    "discontinuous entities flattened",
)
INVENTED = "entities invented by the scheme"
FLATTENED = "discontinuous entities flattened"


@given(document=tokenised_documents() | documents(), scheme=st.sampled_from(SCHEMES))
def test_entities_that_do_not_come_back_are_counted(document: Document, scheme: str) -> None:
    read_back, ledger = round_trip([document], scheme, f".{scheme}")
    before, after = seen([document]), seen(read_back)
    assert n_missing(before, after) == sum(ledger.losses[what] for what in NOT_BACK)
    assert n_missing(after, before) == ledger.losses[INVENTED] + ledger.losses[FLATTENED]


@given(document=tokenised_documents(), scheme=st.sampled_from(SCHEMES))
def test_documents_keep_their_ids_and_texts(document: Document, scheme: str) -> None:
    two = [document, document.replace(id="d 2\n(x)")]
    read_back, ledger = round_trip(two, scheme, f".{scheme}")
    assert [found.text for found in read_back] == [document.text] * 2
    if len(document.sentences or ()) > 1:
        assert [found.id for found in read_back] == ["d1", "d 2_(x)"]
        assert ledger.losses["document ids rewritten"] == 1


@pytest.mark.parametrize(
    ("scheme", "losses"),
    [
        ("bio", {"discontinuous entities dropped": 1, "discontinuous entities flattened": 1}),
        ("bioes", {"discontinuous entities dropped": 1, "discontinuous entities flattened": 1}),
        ("biohd", {}),
    ],
)
def test_golden_files(tmp_path: Path, scheme: str, losses: dict[str, int]) -> None:
    ledger = Ledger()
    path = tmp_path / f"notes.{scheme}"
    write(read(GOLDEN / "notes.jsonl"), path, ledger=ledger)
    assert path.read_text() == (GOLDEN / path.name).read_text()
    assert ledger.losses == losses
    again = tmp_path / f"again.{scheme}"
    write(read(path), again)
    assert again.read_text() == path.read_text()


def test_biohd_golden_file_holds_the_discontinuous_entities() -> None:
    assert [[entity.text for entity in document.entities] for document in read(GOLDEN / "notes.biohd")] == [
        ["Pain in knees", "Pain in hands", "fever"],
        ["Left atrium dilated"],
    ]


def save(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n",
        "EU\tB-ORG\nrejects\tO\n\n\nPeter\tB-PER\n\n",
        "\ufeffEU\tB-ORG\r\nrejects\tO\r\n\r\nPeter\tB-PER\r\n",
        "# id 1\nEU I-ORG\nrejects O\n\n# id 2\tdomain=en\nPeter I-PER\n",
        "EU  S-ORG\nrejects  O\n \nPeter  S-PER\n",
    ],
)
def test_columns_of_many_kinds_are_read(tmp_path: Path, text: str) -> None:
    path = save(tmp_path / "a.conll", text)
    assert sniff(Source(path)).name == "bio"
    found = list(read(path))
    assert [(document.id, document.text) for document in found] == [("a-1", "EU rejects"), ("a-2", "Peter")]
    assert [[(entity.label, entity.text) for entity in document.entities] for document in found] == [
        [("ORG", "EU")],
        [("PER", "Peter")],
    ]


def test_numbers_of_words_are_no_words(tmp_path: Path) -> None:
    """As in GermEval 2014, whose fourth column has the inner entities: its text was "1 2 3"."""
    text = "# a source\n1\tBerliner\tB-LOCderiv\tO\n2\tBank\tB-ORG\tB-PART\n3\t.\tO\tO\n\n1\tNein\tO\tO\n"
    (tmp_path / "a.tsv").write_text(text)
    ledger = Ledger()
    documents = list(read(tmp_path / "a.tsv", ledger=ledger))
    assert [document.text for document in documents] == ["Berliner Bank .", "Nein"]
    assert [entity.key for entity in documents[0].entities] == [("PART", ((9, 13),))]
    assert ledger.losses == {"words with labels in columns before the last": 2}


@pytest.mark.parametrize("text", ["1 CD O\nday NN O\n\n1 CD O\n", "1 O\n2 B-A\n\n", "1 CD O\n\n2 CD O\n"])
def test_words_may_be_numbers(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.bio").write_text(text)
    documents = list(read(tmp_path / "a.bio"))
    assert documents[0].text.startswith("1")
    assert not any("CD" in document.text for document in documents)


@pytest.mark.parametrize("label", ["B-ADR|B-Drug", "I-ADR|O"])
def test_several_labels_in_a_column_are_refused(tmp_path: Path, label: str) -> None:
    """They were read as one: an entity of the type "ADR|B-Drug"."""
    (tmp_path / "a.bio").write_text(f"pain {label}\nfree O\n\nno B-A|B\npain O\n")
    with pytest.raises(BadInput, match=r"line 1: This word has several labels\. .* W2NER's JSON"):
        list(read(tmp_path / "a.bio"))
    (document,) = read(tmp_path / "a.bio", ledger=Ledger(skip_bad=True))
    assert [entity.label for entity in document.entities] == ["A|B"]


def test_a_label_that_looks_like_several_is_rewritten_and_counted(tmp_path: Path) -> None:
    document = Document("d", "pain", (Entity("ADR|B-Drug", ((0, 4),)),))
    read_back, ledger = round_trip([document], "bio", ".bio")
    assert [entity.label for entity in read_back[0].entities] == ["ADR_B-Drug"]
    assert ledger.losses["labels rewritten"] == 1


def test_docstart_gathers_sentences_into_documents(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- -X- O\n\na O\n\nb O\n\n-DOCSTART- -X- -X- O\nc O\n\n-DOCSTART- (d x) O\n\n"
    found = list(read(save(tmp_path / "a.conll", text), "bio"))
    assert [(document.id, document.text) for document in found] == [("a-1", "a\nb"), ("a-2", "c"), ("d x", "")]


@pytest.mark.parametrize("name", ["a.bio", "a.bioes", "a.biohd"])
def test_every_document_keeps_its_id(tmp_path: Path, name: str) -> None:
    lone, longer = Document("d (1)", "a b"), Document("d2", "c\nd")
    ledger = Ledger()
    write([lone, longer, lone.replace(id="d3")], tmp_path / name, ledger=ledger)
    assert [document.id for document in read(tmp_path / name)] == ["d (1)", "d2", "d3"]
    assert not ledger.losses


BAD = ["word\n", "word NN\n", "word B-\n", "\tO\n"]


@pytest.mark.parametrize("bad", BAD)
def test_bad_lines_stop_with_place_or_their_sentence_is_skipped(tmp_path: Path, bad: str) -> None:
    path = save(tmp_path / "a.bio", f"a O\n\nb O\n{bad}\nc O\n")
    with pytest.raises(BadInput, match=r"a\.bio, line 4: This line is not a token"):
        list(read(path, "bio"))
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "bio", ledger)] == ["a-1", "a-3"]
    assert ledger.errors == {"bad-syntax": 1}


@pytest.mark.parametrize(
    "text", ["I know I\nyou saw B\n", "Vitamin B-12\n", "Some prose.\n\nMore of it.\n", "id\ttext\n1\tO\n", ""]
)
def test_prose_and_tables_are_not_taken_for_columns(tmp_path: Path, text: str) -> None:
    assert sniff(Source(save(tmp_path / "a.txt", text))).name == "text"


def test_craft_comes_back_but_for_what_is_counted(data: Path) -> None:
    documents = list(read(data / "craft" / "dev.jsonl.gz"))[:3]
    dropped = {}
    for scheme in ("bio", "biohd"):
        read_back, ledger = round_trip(documents, scheme, f".{scheme}")
        before, after = seen(documents), seen(read_back)
        assert n_missing(before, after) == sum(ledger.losses[what] for what in NOT_BACK)
        assert [document.id for document in read_back] == [document.id for document in documents]
        dropped[scheme] = ledger.losses["discontinuous entities dropped"] + ledger.losses[FLATTENED]
    assert dropped["biohd"] < dropped["bio"]


def test_a_word_that_would_start_a_document_is_rewritten_and_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    sentence = Sentence(0, 12, (Token(0, 10), Token(11, 12)))
    write([Document("d", "-DOCSTART- x", sentences=(sentence,))], tmp_path / "a.bio", ledger=ledger)
    (back,) = read(tmp_path / "a.bio")
    assert back.id == "d"
    assert ledger.losses["words rewritten"] == 1


def test_a_sentence_of_more_parts_than_can_be_joined_loses_those_alone(tmp_path: Path) -> None:
    """A list without stops: each of its coordinations has parts of its own, and a reader would join all with all."""
    words = ["severe", "cardiac", ",", "hepatic", "or", "renal", "insufficiency", ";"] * 120
    starts = [0, *itertools.accumulate(len(word) + 1 for word in words)]
    tokens = tuple(Token(start, start + len(word)) for start, word in zip(starts, words, strict=False))
    text = " ".join(words)
    entities = []
    for first in range(0, len(words), 8):
        cardiac, hepatic, insufficiency = (tokens[first + number] for number in (1, 3, 6))
        for one in (cardiac, hepatic):
            fragments = ((one.start, one.end), (insufficiency.start, insufficiency.end))
            entities.append(Entity("Condition", fragments))
    entities.append(Entity("Qualifier", ((0, 6),)))
    ledger = Ledger()
    document = Document("d", text, tuple(entities), (Sentence(0, len(text), tokens),))
    write([document, Document("e", "pain", (Entity("ADR", ((0, 4),)),))], tmp_path / "a.biohd", ledger=ledger)
    first, second = read(tmp_path / "a.biohd")
    assert [entity.key for entity in first.entities] == [entities[-1].key]
    assert [entity.text for entity in second.entities] == ["pain"]
    assert ledger.losses["discontinuous entities dropped"] == 240
