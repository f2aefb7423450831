from __future__ import annotations

from pathlib import Path

import pytest

from disconer.formats.source import Source, split_sources


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        (["train.jsonl", "dev.jsonl.gz", "test.jsonl"], {"train": 1, "dev": 1, "test": 1}),
        (["train/a.txt", "train/a.ann", "valid/x/b.txt"], {"train": 2, "valid": 1}),
        (["phee/train/a.txt", "phee/test/b.txt"], {"train": 1, "test": 1}),
        (["Train.json", "TEST.json", "README.md", "more/a.json"], {"train": 1, "test": 1, "other": 2}),
        (["train.jsonl", "other.jsonl"], {}),
        (["test_1.txt", "train_1.txt"], {}),
        (["a/b.txt"], {}),
        ([], {}),
    ],
)
def test_splits_by_the_names_of_files_and_folders(tmp_path: Path, files: list[str], splits: dict[str, int]) -> None:
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = split_sources(Source(tmp_path))
    assert {name: len(part.members) for name, part in found.items()} == splits
    assert list(found) == list(splits)
