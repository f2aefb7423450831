"""Files that people have and that cannot be taken as they are: each an error that says why, or a count."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from disconer import DisconerError
from disconer.nn.encoders.vectors.table import load_vectors
from nn.encoders.vectors.files import SIZE, VECTORS, WORDS, array_and_lines, binary_rows, glove, lines, word2vec_binary

N = len(WORDS)


def message(path: Path) -> str:
    with pytest.raises(DisconerError) as caught:
        load_vectors(str(path))
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "vectors.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (f"{N} {SIZE + 1}", rf"line 2: This line is not a word vector. Got {SIZE + 1} fields"),
        (
            f"{N} {SIZE - 1}",
            rf"line 2: This line is not a word vector. Got {SIZE + 1} fields.* a word and {SIZE - 1} numbers",
        ),
        (f"{N + 2} {SIZE}", rf"ends too early. Got {N} words, expected {N + 2}"),
        (f"{N - 1} {SIZE}", rf"line 1: The first line .* Got {N - 1} words"),
        (f"{N} {SIZE} 0", r"line 2: This line is not a word vector. Got 5 fields.* expected a word and 2 numbers"),
        ("a heading", r"line 1: This line is not a word vector"),
    ],
)
def test_a_wrong_header_of_text(header: str, said: str, tmp_path: Path) -> None:
    text = message(written(tmp_path, f"{header}\n{lines()}"))
    assert re.search(said, text), text


@pytest.mark.parametrize(
    ("count", "size", "said"),
    [
        (N + 1, SIZE, f"ends too early. Got {N} whole words, expected {N + 1}"),
        (N - 1, SIZE, "line 1: The first line of this file"),
        (N, SIZE * 100, "ends too early. Got 0 whole words"),
    ],
)
def test_a_wrong_header_of_a_binary_file(count: int, size: int, said: str, tmp_path: Path) -> None:
    words = [word.replace(" ", "_") for word in WORDS]
    path = written(tmp_path, f"{count} {size}\n".encode() + binary_rows(words=words))
    assert said in message(path)


def test_a_binary_file_of_other_sizes_than_it_says(tmp_path: Path) -> None:
    vectors = np.ones((500, 300), dtype=np.float32)
    rows = binary_rows(words=["word"] * 500, vectors=vectors)
    assert "A word is missing" in message(written(tmp_path, b"500 10\n" + b"\xff" * 9000 + rows))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_files(share: float, tmp_path: Path) -> None:
    data = word2vec_binary(tmp_path).read_bytes()
    header = data.index(b"\n") + 1
    binary = written(tmp_path, data[: header + int(share * (len(data) - header))])
    assert "ends too early" in message(binary)
    whole = lines()
    text = written(tmp_path, whole[: whole.rindex(" ", 0, int((0.2 + 0.8 * share) * len(whole)))])
    assert "This line is not a word vector" in message(text)
    packed = gzip.compress(whole.encode() * 1000)
    assert "ends too early" in message(written(tmp_path, packed[: int(share * len(packed))]))


def test_damaged_compression(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(lines().encode() * 100))
    packed[len(packed) // 2] ^= 0xFF
    assert "ends too early" in message(written(tmp_path, bytes(packed)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04" + b"x" * 50, "a .zip archive. Unpack it"),
        (b"\x80\x04\x95" + b"x" * 50, "pickles are not read"),
        (b"\xba\x16\x4f\x2f" + b"x" * 50, "Take the .vec file"),
        (b"\x89HDF\r\n\x1a\n", "encoder.kind to elmo"),
        (b"version https://git-lfs.github.com/spec/v1\noid 1\n", "This line is not a word vector"),
        ("<html>nothing found</html>", "This line is not a word vector"),
    ],
)
def test_files_that_are_something_else(content: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in message(written(tmp_path, content))


def test_words_given_twice_are_counted_and_the_first_one_counts(tmp_path: Path) -> None:
    table = load_vectors(str(written(tmp_path, lines() + lines(WORDS[:3], VECTORS[3:6]))))
    assert dict(table.left_out) == {"duplicate words": 3}
    row = table.find(WORDS[1])
    assert row is not None
    np.testing.assert_array_equal(table.vectors[row], VECTORS[1])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_no_numbers_are_counted_and_left_out(number: float, tmp_path: Path) -> None:
    vectors = VECTORS.copy()
    vectors[1, 2] = number
    binary = f"{N} {SIZE}\n".encode() + binary_rows(words=list("abcdefg"), vectors=vectors)
    for content in (lines(vectors=vectors), binary):
        table = load_vectors(str(written(tmp_path, content)))
        assert dict(table.left_out) == {"vectors with NaN or infinite numbers": 1}
        assert len(table) == N - 1
        assert table.find("pain") is None
        assert np.isfinite(table.vectors).all()


def test_nothing_but_vectors_that_are_no_numbers(tmp_path: Path) -> None:
    text = message(written(tmp_path, lines(vectors=VECTORS * np.nan)))
    assert f"None of these word vectors can be used. Got {N} vectors with NaN or infinite numbers" in text


def test_words_that_are_not_utf8_are_counted(tmp_path: Path) -> None:
    table = load_vectors(str(written(tmp_path, lines().encode() + b"na\xefve 1 2 3 4\n")))
    assert dict(table.left_out) == {"words that are not UTF-8": 1}


# Arrays with an index


def test_an_index_of_another_table(tmp_path: Path) -> None:
    array_and_lines(tmp_path)
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    with pytest.raises(DisconerError, match=rf"words\.txt: This index does not belong.* 2 words, expected {N}"):
        load_vectors(str(tmp_path))


def test_a_truncated_array(tmp_path: Path) -> None:
    table = array_and_lines(tmp_path) / "table.npy"
    table.write_bytes(table.read_bytes()[:-9])
    assert "This array of word vectors is damaged" in message(table)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2), dtype=int), np.zeros((0, 3))])
def test_an_array_of_something_else(array: np.ndarray, tmp_path: Path) -> None:
    table = array_and_lines(tmp_path) / "table.npy"
    np.save(table, array)
    assert "This is not a table of word vectors" in message(table)


def test_an_array_with_objects_is_not_unpickled(tmp_path: Path) -> None:
    table = array_and_lines(tmp_path) / "table.npy"
    np.save(table, np.array([{}], dtype=object), allow_pickle=True)
    assert "This array of word vectors is damaged" in message(table)


@pytest.mark.parametrize("index", ["{", "3", "[1]", json.dumps({"a": 5}), json.dumps({"a": "x"})])
def test_an_index_that_is_none(index: str, tmp_path: Path) -> None:
    array_and_lines(tmp_path)
    (tmp_path / "words.txt").unlink()
    (tmp_path / "words.json").write_text(index)
    with pytest.raises(DisconerError, match=r"words\.json: The words of a table of vectors cannot be read"):
        load_vectors(str(tmp_path))


def test_an_array_without_words(tmp_path: Path) -> None:
    table = array_and_lines(tmp_path) / "table.npy"
    (tmp_path / "words.txt").unlink()
    assert "The words of this table are missing" in message(table)


def test_several_files_that_may_be_meant(tmp_path: Path) -> None:
    glove(tmp_path)
    (tmp_path / "more.vec").write_text("a 1\n")
    assert "There are several tables of word vectors in this folder" in message(tmp_path)


def test_a_parquet_index_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array_and_lines(tmp_path)
    (tmp_path / "words.txt").rename(tmp_path / "words.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DisconerError, match=r"Install it: pip install 'disconer\[vectors\]'"):
        load_vectors(str(tmp_path))
