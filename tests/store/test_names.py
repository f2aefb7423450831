from __future__ import annotations

from pathlib import Path

import pytest

from disconer import DisconerError
from disconer.nn.encoders import hub
from disconer.store import names as models
from disconer.store.names import DEFAULT, default_model, demo_folder, find_model, named_models, own_models


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


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models that come with disconer."""
    folder = tmp_path / "shipped"
    monkeypatch.setattr(models, "BUNDLED_MODELS", folder)
    for name in ("biomedical", DEFAULT):
        make_model(folder / name)
    return folder


def test_the_default_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_model() == DEFAULT
    monkeypatch.setenv("DISCONER_MODEL", "some/other")
    assert default_model() == "some/other"


def test_models_by_name(shipped: Path) -> None:
    make_model(demo_folder())
    assert list(named_models()) == [DEFAULT, "biomedical", "demo"]
    assert find_model("biomedical") == shipped / "biomedical"
    assert find_model("demo") == demo_folder()


def test_a_training_run_of_the_user_by_name(shipped: Path) -> None:
    best = make_model(own_models() / "mine" / "best")
    assert find_model("mine") == best
    (own_models() / "notes").mkdir()  # not a model
    assert "notes" not in named_models()


def test_a_name_is_no_path(shipped: Path) -> None:
    """What somebody calls a folder of data takes nobody's model away; a folder with a model in it is what was meant."""
    Path("biomedical").mkdir()
    assert find_model("biomedical") == shipped / "biomedical"
    make_model(Path(DEFAULT))
    assert find_model(DEFAULT) == Path(DEFAULT)


def test_no_model_of_the_user_takes_the_name_of_one_that_comes_with_disconer(shipped: Path) -> None:
    make_model(own_models() / DEFAULT)
    assert find_model(DEFAULT) == shipped / DEFAULT


def test_without_the_variable_of_the_system_the_home_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert demo_folder() == Path("/home/ann/.local/share/disconer/models/demo")
    assert own_models() == demo_folder().parent


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


@pytest.mark.parametrize("content", ['{"figures": []}', '{"labels": 3}', '{"figures": {"dev": {"x": 1}}}', "[" * 5000])
def test_a_model_with_a_damaged_description_is_listed(shipped: Path, content: str) -> None:
    (shipped / DEFAULT / models.CONFIG).write_text(content)
    assert DEFAULT in [model.name for model in models.known_models()]


def test_a_name_with_a_slip_gets_the_closest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("disconer.nn.encoders.hub.why_not_on_hub", lambda name: "no internet")
    monkeypatch.setattr(models, "named_models", lambda: {"clinical-trials": tmp_path, "biomedical": tmp_path})
    for slip in ("clinical-trial", "Clinical-Trials"):
        with pytest.raises(DisconerError, match="Did you mean 'clinical-trials'\\?"):
            find_model(slip)
    with pytest.raises(DisconerError, match=r"no internet\. See `disconer models`"):
        find_model("owner/other")
