"""From texts of any format to packed sequences: nothing is lost on the way."""

from __future__ import annotations

import gzip
import json
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapt.tiny import WORDS, notes, tiny_tokenizer
from disconer.adapt import texts as texts_module
from disconer.adapt.batches import Plan
from disconer.adapt.cache import Sequences, TokenCache, Tokens, build_cache, open_cache, origin_of
from disconer.adapt.loop import sizes_to_try
from disconer.adapt.texts import SubwordMaker, is_held_out, iter_texts, split_collection
from disconer.core.errors import BadInput, DisconerError
from disconer.core.ledger import Ledger
from disconer.nn.encoders.transformer import Case

CLS, SEP = 2, 3


def test_compressed_annotated_and_plain(tmp_path: Path) -> None:
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(b"severe pain"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"mild pain"))
    record = {"id": "1", "text": "renal failure", "entities": [{"label": "X", "fragments": [[0, 5]]}]}
    (tmp_path / "c.jsonl.xz").write_bytes(lzma.compress(json.dumps(record).encode()))
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "d.txt").write_text("hepatic failure")
    (folder / "d.ann").write_text("T1\tX 0 7\thepatic\n")
    paths = [tmp_path / "a.txt.xz", tmp_path / "b.txt.gz", tmp_path / "c.jsonl.xz", folder]
    found = list(iter_texts(paths, None, Ledger()))
    assert found == ["severe pain", "mild pain", "renal failure", "hepatic failure"]


def test_bad_input_is_raised_or_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    (tmp_path / "b.txt").write_text("severe pain")
    with pytest.raises(BadInput, match="This is not UTF-8"):
        list(iter_texts([tmp_path], None, Ledger()))
    ledger = Ledger(skip_bad=True)
    assert list(iter_texts([tmp_path], None, ledger)) == ["severe pain"]
    assert ledger.errors == {"bad-encoding": 1}


@pytest.mark.parametrize("kind", ["file", "folder", "zip", "gz"])
def test_a_cache_of_other_text_of_the_same_size_is_of_another_origin(tmp_path: Path, kind: str) -> None:
    def origin(text: str, below: str = "") -> dict[str, object]:
        path = tmp_path / below / {"file": "a.txt", "folder": "a", "zip": "a.zip", "gz": "a.txt.gz"}[kind]
        path.parent.mkdir(exist_ok=True)
        if kind == "folder":
            path.mkdir(exist_ok=True)
            (path / "a.txt").write_text(text)
        elif kind == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(zipfile.ZipInfo("a.txt"), text)
        else:
            path.write_bytes(gzip.compress(text.encode(), mtime=0) if kind == "gz" else text.encode())
        return origin_of([path], None, {})

    assert origin("mild pain") == origin("mild pain") == origin("mild pain", "moved")
    assert origin("mild pain") != origin("knee pain")


def test_a_file_that_cannot_be_read_is_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("mild pain")
    before = origin_of([tmp_path], None, {})
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere.txt")
    assert origin_of([tmp_path], None, {}) != before
    ledger = Ledger(skip_bad=True)
    assert list(iter_texts([tmp_path], "text", ledger)) == ["mild pain"]
    assert ledger.errors == {"unreadable-file": 1}


def test_a_large_file_is_a_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["one", "two", "", " ", "three", "", "four five", "six seven eight nine ten", "eleven"]
    assert list(split_collection(lines)) == ["\n".join(lines)]
    monkeypatch.setattr(texts_module, "ONE_DOCUMENT", 20)
    assert list(split_collection(lines)) == ["one\ntwo", "three", "four five\nsix seven eight nine ten", "eleven"]


@given(st.lists(st.sampled_from(["", " ", "pain", "severe knee"]), max_size=60))
def test_a_collection_keeps_every_line(lines: list[str]) -> None:
    found = [line for text in split_collection(lines) for line in text.split("\n")]
    assert [line for line in found if line.strip()] == [line for line in lines if line.strip()]


def cached(
    texts: list[str], folder: Path, *, held_out: float = 0.0, whole_words: bool = False, case: bool = False
) -> TokenCache:
    origin = {"whole_words": whole_words, "case": case}
    maker = SubwordMaker(tiny_tokenizer(), whole_words=whole_words, case=case)
    build_cache(folder, texts, maker, origin, held_out=held_out, seen=lambda _: None)
    return open_cache(folder, origin)


def test_documents_follow_each_other_with_separators(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    long_text = " ".join(WORDS)  # longer than what the tokenizer truncates to
    cache = cached([f"severe\n\npainstiff\r\n{long_text}", " \n", "mild pain"], tmp_path)
    subwords = tokenizer.convert_ids_to_tokens(cache.train.ids.tolist())
    assert subwords == ["severe", "pain", "##stiff", *WORDS, "[SEP]", "mild", "pain", "[SEP]"]
    assert cache.train.n_documents == 2
    assert cache.train.ids.dtype == np.uint16


def test_words_begin_where_the_tokenizer_says(tmp_path: Path) -> None:
    cache = cached(["severe painstiffness", "kneehand"], tmp_path, whole_words=True)
    assert cache.train.starts is not None
    assert cache.train.starts.tolist() == [True, True, False, False, True, True, False, True]
    rows = Sequences(cache.train, length=5, begin=CLS, end=SEP)
    words = rows.words(np.arange(len(rows)))
    assert words is not None
    assert words.tolist() == [[0, 1, 2, 2, 3], [0, 1, 2, 3, 4], [0, 1, 1, 2, 3]]


def test_cases_beside_subwords(tmp_path: Path) -> None:
    cache = cached(["Severe\n\nPAINstiff in the kneeHand", "mild Pain"], tmp_path, case=True)
    assert cache.train.starts is None
    assert cache.train.cases is not None
    expected = [Case.TITLE, Case.UPPER, *[Case.LOWER] * 4, Case.TITLE, Case.LOWER, Case.LOWER, Case.TITLE, Case.LOWER]
    assert cache.train.cases.tolist() == expected
    rows = Sequences(cache.train, length=6, begin=CLS, end=SEP)
    cases = rows.cases(np.arange(len(rows)))
    assert cases is not None
    assert cases[:2].tolist() == [[0, 1, 2, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
    assert rows.words(np.arange(len(rows))) is None


def test_no_cases_unless_asked_for(tmp_path: Path) -> None:
    rows = Sequences(cached(["Severe pain in the Knee"], tmp_path).train, length=5, begin=CLS, end=SEP)
    assert rows.cases(np.arange(len(rows))) is None


def test_held_out_by_content(tmp_path: Path) -> None:
    texts = notes(200)
    cache = cached(texts, tmp_path / "one", held_out=0.25)
    expected = [text for text in texts if is_held_out(text, 0.25)]
    assert 20 < len(expected) < 80
    assert cache.held_out.n_documents == len(expected)
    assert cached(expected, tmp_path / "two").train.ids.tolist() == cache.held_out.ids.tolist()


@pytest.mark.parametrize("damage", ["", "{}", '{"origin": {}, "dtype": "x", "counts": {}}', "null"])
def test_a_damaged_note(damage: str, tmp_path: Path) -> None:
    cached(["severe pain"], tmp_path)
    (tmp_path / "tokens.json").write_text(damage)
    with pytest.raises(DisconerError, match=r"tokenised text here is damaged.*Delete this folder"):
        open_cache(tmp_path, {"whole_words": False, "case": False})


@given(st.integers(6, 200), st.integers(4, 9))
def test_packed_sequences_lose_nothing(n_subwords: int, length: int) -> None:
    tokens = Tokens(np.arange(10, 10 + n_subwords, dtype=np.uint16), None, None, 1)
    if n_subwords < length - 2:
        return
    rows = Sequences(tokens, length=length, begin=CLS, end=SEP)
    ids = rows.ids(np.arange(len(rows)))
    assert ids.shape == (len(rows), length)
    assert set(ids[:, 0]) == {CLS}
    assert set(ids[:, -1]) == {SEP}
    assert set(ids[:, 1:-1].flatten()) == set(tokens.ids)
    assert (np.diff(ids[:, 1:-1]) == 1).all()
    assert ids[:, 1:-1].size - n_subwords < length - 2  # only the last one repeats some


@given(st.integers(1, 40), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]))
def test_steps_pass_over_all_text_again_and_again(n_sequences: int, at_once: int, n_processes: int) -> None:
    plans = [
        Plan(n_sequences, batch=8, at_once=at_once, seed=1, process=process, n_processes=n_processes)
        for process in range(n_processes)
    ]
    n_steps = n_sequences  # eight passes
    drawn = [batch for step in range(n_steps) for plan in plans for batch in plan.step(step)]
    assert np.bincount(np.concatenate([batch.sequences for batch in drawn])).tolist() == [8] * n_sequences
    assert len({batch.seed for batch in drawn}) == len(drawn)
    assert all(len(plan.step(0)) == plan.batches_a_step for plan in plans)


def test_sizes_to_try() -> None:
    assert sizes_to_try(512) == [512, 256, 128, 64, 32, 16, 8, 4, 2, 1]
    assert sizes_to_try(12) == [12, 6, 3, 1]
