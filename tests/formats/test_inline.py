from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.core.sentence import Sentence, Token
from disconer.formats import sniff
from disconer.formats.source import Source
from strategies import documents, tokenised_documents
from token_formats import n_missing, round_trip, seen

GOLDEN = Path(__file__).parent / "golden" / "inline"


@given(document=tokenised_documents())
def test_round_trip_keeps_words_and_entities(document: Document) -> None:
    documents, ledger = round_trip([document], "inline", ".inline")
    assert seen(documents) == seen([document])
    assert not ledger.repairs
    assert not any("entities" in what for what in ledger.losses)


@given(document=documents())
def test_what_tokens_cannot_say_is_counted(document: Document) -> None:
    documents, ledger = round_trip([document], "inline", ".inline")
    assert n_missing(seen([document]), seen(documents)) == 0
    lost = sum(count for what, count in ledger.losses.items() if what.startswith("entities ("))
    assert sum(len(read.entities) for read in documents) + lost == len(document.entities)


def test_golden_file_reads_and_comes_back_as_it_was(tmp_path: Path) -> None:
    found = list(read(GOLDEN / "sentences.inline"))
    assert [document.id for document in found] == ["sentences-1", "sentences-2", "sentences-3"]
    assert found[0].text == "Severe joint and neck pain ."
    assert [(entity.label, entity.text) for entity in found[0].entities] == [
        ("ADR", "Severe joint pain"),
        ("ADR", "neck pain"),
    ]
    assert found[1].entities == ()
    write(found, tmp_path / "out.inline")
    assert (tmp_path / "out.inline").read_bytes() == (GOLDEN / "sentences.inline").read_bytes()


def test_positions_out_of_order_or_adjacent_are_normalised(tmp_path: Path) -> None:
    path = tmp_path / "a.inline"
    path.write_text("a b c d\n2,2,0,0 X|0,0,1,1 Y\n\n")
    ledger = Ledger()
    (document,) = read(path, ledger=ledger)
    assert [entity.fragments for entity in document.entities] == [((0, 1), (4, 5)), ((0, 3),)]
    assert ledger.repairs == {"fragments out of order": 1, "fragments split at whitespace": 1}


GOOD = "a b\n0,0 X\n\n"
BAD = [
    ("bad-offset", 5, "a b\n0,2 X\n\n"),
    ("bad-offset", 5, "a b\n-1,0 X\n\n"),
    ("bad-offset", 5, "a b\n1,0 X\n\n"),
    ("bad-syntax", 5, "a b\n0 X\n\n"),
    ("bad-syntax", 5, "a b\n0,1,2 X\n\n"),
    ("bad-syntax", 5, "a b\none,two X\n\n"),
    ("bad-syntax", 5, "a b\n0,1\n\n"),
    ("bad-syntax", 6, "a b\n0,0 X\n"),  # the empty line is missing: what follows stands in its place
]


@pytest.mark.parametrize(("problem", "line", "bad"), BAD)
def test_bad_sentences_stop_with_place_or_are_skipped_and_counted(
    tmp_path: Path, problem: str, line: int, bad: str
) -> None:
    path = tmp_path / "a.inline"
    path.write_text(GOOD + bad + GOOD)
    with pytest.raises(BadInput) as caught:
        list(read(path, "inline"))
    assert caught.value.problem == problem
    assert f"{path}, line {line}" in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "inline", ledger)][-1] == "a-3"
    assert ledger.errors == {problem: 1}


def test_a_last_sentence_without_mentions_line_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.inline"
    path.write_text(GOOD + "c d\n")
    with pytest.raises(BadInput, match=r"line 4.*no line of mentions"):
        list(read(path, "inline"))
    path.write_text(GOOD + "c d\n\n")
    assert [document.text for document in read(path, "inline")] == ["a b", "c d"]


def test_words_and_labels_that_do_not_fit_are_rewritten_and_counted(tmp_path: Path) -> None:
    sentence = Sentence(0, 8, (Token(0, 5), Token(6, 8)))
    document = Document("d", "1 000 mg", (Entity("Dose|unit", ((0, 8),)),), (sentence,))
    ledger = Ledger()
    write([document], tmp_path / "a.inline", ledger=ledger)
    assert (tmp_path / "a.inline").read_text() == "1_000 mg\n0,1 Dose_unit\n\n"
    assert ledger.losses == {"words rewritten": 1, "labels rewritten": 1, "document ids": 1}


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path: Path) -> None:
    path = tmp_path / "a.inline"
    path.write_bytes(b"\xef\xbb\xbfa b\r\n1,1 X\r\n\r\n")
    (document,) = read(path)
    assert document.text == "a b"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("a b\n0,0 X\n\n", "inline"),
        ("a b\n\n\nc d\n0,0,1,1 X|1,1 Y\n\n", "inline"),
        ("Some title\n\n\nSome prose.\n", "text"),
        ("Some prose.\n1,2 or 3\nof it\n", "text"),
        ("", "text"),
    ],
)
def test_only_three_line_files_are_taken_for_inline(tmp_path: Path, text: str, format: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert sniff(Source(path)).name == format
