from __future__ import annotations

from pathlib import Path

import pytest

from disconer import DisconerError, models
from disconer.model import hub
from disconer.models import default_model, demo_folder, find_model


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has no model yet, in an empty directory."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("DISCONER_MODEL", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def make_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in (models.CONFIG, models.WEIGHTS):
        (folder / name).touch()
    return folder


def test_without_any_model_the_command_that_makes_one_is_told() -> None:
    with pytest.raises(DisconerError, match=r"no model to use yet.*`disconer demo` makes a small one"):
        default_model()


def test_where_the_default_model_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert demo_folder() == tmp_path / "share" / "disconer" / "models" / "demo"
    make_model(demo_folder())
    assert default_model() == str(demo_folder())
    make_model(Path("models/demo"))
    assert default_model() == "models/demo"
    monkeypatch.setenv("DISCONER_MODEL", "some/other")
    assert default_model() == "some/other"


def test_without_the_variable_of_the_system_the_home_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert demo_folder() == Path("/home/ann/.local/share/disconer/models/demo")


def test_a_folder_and_what_a_run_has_in_it(tmp_path: Path) -> None:
    assert find_model(make_model(tmp_path / "model")) == tmp_path / "model"
    last = make_model(tmp_path / "run" / "last")
    assert find_model(tmp_path / "run") == last
    best = make_model(tmp_path / "run" / "best")
    assert find_model(str(tmp_path / "run")) == best
    assert find_model(tmp_path) == tmp_path  # loading says what is missing in it


def test_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_model(tmp_path / "packages" / "a_packaged_recogniser" / "model")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    assert find_model("a_packaged_recogniser") == folder


@pytest.mark.parametrize("name", ["no/such/folder", "owner/name", "", "a b"])
def test_nowhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "why_not_on_hub", lambda name: "no internet")
    if not name:
        assert find_model(name) == Path()  # the current directory
        return
    with pytest.raises(DisconerError, match=r"There is no such model.*Got no internet.*`disconer train`"):
        find_model(name)
