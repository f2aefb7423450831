from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, DisconerError, Ledger, read, write
from disconer.formats import sniff
from disconer.formats.source import Source

GOLDEN = Path(__file__).parent / "golden" / "conllu" / "notes.conllu"


def row(id: str, form: str, head: str = "_", misc: str = "_") -> str:
    return "\t".join([id, form, "_", "_", "_", "_", head, "dep", "_", misc]) + "\n"


def save(path: Path, *rows: str) -> Path:
    path.write_text("".join(rows))
    return path


def test_golden_file() -> None:
    ledger = Ledger()
    first, second = read(GOLDEN, ledger=ledger)
    assert (first.id, second.id) == ("note-1", "notes-2")
    assert first.text == "He  didn't eat (much).\nPain in knees,\n\nVámonos"
    assert first.sentences is not None
    assert [[first.text[start:end] for start, end in sentence.tokens] for sentence in first.sentences] == [
        ["He", "didn't", "eat", "(", "much", ")", "."],
        ["Pain", "in", "knees", ","],
        ["Vámonos"],
    ]
    assert [sentence.heads for sentence in first.sentences] == [(2, 2, -1, 4, 2, 4, 2), (-1, 2, 0, 0), (-1,)]
    assert first.sentences[0].relations == ("nsubj", "aux", "root", "punct", "advmod", "punct", "punct")
    assert first.extras == {"conllu": {"sent_id": ["s1", "s2", "s3"]}}
    assert second.sentences is not None
    assert second.sentences[0].heads is None
    assert ledger.repairs == {"multiword tokens kept as one": 2, "empty nodes skipped": 1}


def test_a_text_that_is_not_that_of_its_tokens_is_put_together_again(tmp_path: Path) -> None:
    ledger = Ledger()
    path = save(tmp_path / "a.conllu", "# text = a c\n", row("1", "a", misc="SpaceAfter=No"), row("2", "b"))
    (document,) = read(path, ledger=ledger)
    assert (document.id, document.text) == ("a", "ab")
    assert ledger.repairs == {"sentences whose # text differs from their tokens": 1}


def test_a_multiword_token_takes_the_head_of_its_topmost_word(tmp_path: Path) -> None:
    rows = [row("1", "x", "3"), row("2-3", "yz"), row("2", "y", "1"), row("3", "z", "0")]
    (document,) = read(save(tmp_path / "a.conllu", *rows))
    assert document.sentences is not None
    assert document.sentences[0].heads == (1, -1)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    """Heads of words (0 for the root, as in the file), and the words of each token."""
    n_words = draw(st.integers(1, 8))
    order = draw(st.permutations(range(n_words)))
    heads = [0] * n_words
    for place in range(1, n_words):
        heads[order[place]] = draw(st.sampled_from(order[:place])) + 1
    tokens, first = [], 0
    while first < n_words:
        last = draw(st.integers(first, min(first + 2, n_words - 1)))
        tokens.append((first, last))
        first = last + 1
    return heads, tokens


@given(sentence=sentences())
def test_any_tree_stays_a_tree_when_words_share_tokens(
    tmp_path_factory: pytest.TempPathFactory, sentence: tuple[list[int], list[tuple[int, int]]]
) -> None:
    heads, tokens = sentence
    rows = []
    for first, last in tokens:
        if last > first:
            rows.append(row(f"{first + 1}-{last + 1}", "token"))
        rows += [row(str(word + 1), "word", str(heads[word])) for word in range(first, last + 1)]
    (document,) = read(save(tmp_path_factory.mktemp("a") / "a.conllu", *rows))
    assert document.sentences is not None
    found = document.sentences[0].heads
    assert found is not None
    assert found.count(-1) == 1
    for token in range(len(found)):
        for _ in found:
            token = found[token] if token != -1 else -1
        assert token == -1


@pytest.mark.parametrize("heads", [("0", "_"), ("2", "1"), ("1", "0")])
def test_incomplete_or_circular_heads_are_left_out_and_counted(tmp_path: Path, heads: tuple[str, str]) -> None:
    ledger = Ledger()
    (document,) = read(save(tmp_path / "a.conllu", row("1", "a", heads[0]), row("2", "b", heads[1])), ledger=ledger)
    assert document.sentences is not None
    assert document.sentences[0].heads is None
    assert ledger.repairs.total() == 1


BAD = [
    "1\ta\n",
    row("one", "a"),
    row("3", "a"),
    row("2", ""),
    row("2", "a", "9"),
    row("2", "a", "-1"),
    row("2-1", "a"),
    row("2-9", "a") + row("2", "b"),
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_rows_stop_with_place_or_their_document_is_skipped(tmp_path: Path, bad: str) -> None:
    good = row("1", "a", "0")
    path = save(tmp_path / "a.conllu", good, "\n", "# newdoc id = x\n", good, bad, "\n", "# newdoc id = y\n", good)
    with pytest.raises(BadInput, match=r"a\.conllu, line \d, document 'x'") as caught:
        list(read(path, "conllu"))
    assert caught.value.problem == "bad-syntax"
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "conllu", ledger)] == ["a", "y"]
    assert ledger.errors == {"bad-syntax": 1}


@pytest.mark.parametrize("suffix", [".conllu", ".conll", ".txt"])
def test_it_is_told_from_other_columns(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(GOLDEN.read_bytes())
    assert sniff(Source(path)).name == "conllu"


def test_it_is_read_only(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="can only be read, not written"):
        write([], tmp_path / "a.conllu", "conllu")
