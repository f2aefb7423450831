from __future__ import annotations

import shutil
from pathlib import Path

from disconer import Recognizer
from disconer.core.places import BUNDLED_MODELS


def names_of(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_a_model_is_saved_with_its_folders_and_without_hidden_ones(tmp_path: Path) -> None:
    model = shutil.copytree(BUNDLED_MODELS / "patient-posts", tmp_path / "model")
    (model / "notes" / "of" / "ours").mkdir(parents=True)
    (model / "notes" / "of" / "ours" / "data.txt").write_text("where it was trained")
    expected = names_of(model)
    (model / ".git" / "objects" / "ab").mkdir(parents=True)
    (model / ".git" / "objects" / "ab" / "cd").write_text("a version")
    Recognizer.from_pretrained(model, runtime="onnx").save_pretrained(tmp_path / "saved")
    assert names_of(tmp_path / "saved") == expected
