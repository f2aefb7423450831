from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from disconer import DisconerError, Recognizer
from disconer.store.hub import card_on_hub, push_folder
from store.hub_stand_in import Hub, running_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with running_hub() as started:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", started.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "onnx" / "network.onnx").write_bytes(b"\0\1")
    card = 'from_pretrained("FOLDER")  # the folder of this file\ndisconer predict --model FOLDER\n'
    (tmp_path / "README.md").write_text(f"---\nlicense: mit\n---\n{card}")
    return tmp_path


def test_files_and_card_arrive(hub: Hub, folder: Path) -> None:
    address = push_folder(folder, "lab/notes", private=True, token="hf_x", message="First")
    assert address == f"{hub.url}/lab/notes"
    asked = hub.repositories["lab/notes"]
    assert asked.get("private") is True or asked.get("visibility") == "private"  # older and newer clients
    assert hub.messages == ["First"]
    assert {token for _, _, token in hub.requests} == {"Bearer hf_x"}
    files = hub.files["lab/notes"]
    assert set(files) == {"config.json", "onnx/network.onnx", "README.md"}
    assert files["onnx/network.onnx"] == b"\0\1"
    card = files["README.md"].decode()
    assert card.endswith('from_pretrained("lab/notes")\ndisconer predict --model lab/notes\n')


def test_a_repository_that_is_there_gets_another_commit(hub: Hub, folder: Path) -> None:
    for message in ("one", "two"):
        push_folder(folder, "lab/notes", token="hf_x", message=message)
    assert hub.messages == ["one", "two"]


@pytest.mark.slow
def test_the_whole_model_of_a_recognizer(hub: Hub, tmp_path: Path) -> None:
    ner = Recognizer.from_pretrained("clinical-trials")
    assert ner.push_to_hub("lab/trials", token="hf_x") == f"{hub.url}/lab/trials"
    for path, content in hub.files["lab/trials"].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    text = "History of severe renal or hepatic impairment."
    assert Recognizer.from_pretrained(tmp_path)(text) == ner(text)
    assert "# clinical-trials" in (tmp_path / "README.md").read_text("utf-8")


def test_the_card_of_every_model_names_its_repository() -> None:
    from disconer.store.card import _CARD

    assert "FOLDER" not in card_on_hub(_CARD.template.split("## Labels")[0], "lab/notes")


def test_offline_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DisconerError, match=r"lab/notes: The model could not be pushed to the Hub\. Got ") as caught:
        push_folder(folder, "lab/notes", token="hf_x")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a b/c", "a/b/c"])
def test_a_name_that_the_hub_does_not_take(folder: Path, name: str) -> None:
    with pytest.raises(DisconerError, match="could not be pushed"):
        push_folder(folder, name, token="hf_x")
