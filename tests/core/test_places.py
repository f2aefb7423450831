from __future__ import annotations

from pathlib import Path

from disconer.core.places import BUNDLED, BUNDLED_MODELS, is_bundled


def test_only_what_is_in_the_package_is_bundled(tmp_path: Path) -> None:
    model = BUNDLED_MODELS / "clinical-trials"
    assert is_bundled(model)
    assert is_bundled(model / "tokenizer.json")
    assert not is_bundled(tmp_path / "models" / "clinical-trials")
    assert not is_bundled(model / ".." / ".." / ".." / "elsewhere")
    (tmp_path / "link").symlink_to(model)
    assert is_bundled(tmp_path / "link")
    assert not is_bundled(Path(f"{BUNDLED}-of-others") / "model")
