"""Kinds of encoders: each says for itself what the rest of the package asks, and other packages add theirs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from disconer.config import ConfigError, EncoderConfig, config_from_dict
from disconer.config.knobs import knob_tree
from disconer.core.errors import DisconerError
from disconer.nn.encoders import ENCODER_KINDS, Words
from plugging import plug_in


class ToyKind:
    reads_context = False
    load_exported_reader = None

    def load(self, config: EncoderConfig, words: Words) -> Any:
        return SimpleNamespace(name=config.name, words=sorted(words()))

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Any:
        return SimpleNamespace(name=config.name, size=description["size"], folder=folder)


TOY = ToyKind()


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    plug_in(monkeypatch, ENCODER_KINDS, "toy", f"{__name__}:TOY")
    knob_tree.cache_clear()
    yield
    knob_tree.cache_clear()


@pytest.mark.usefixtures("added")
def test_another_package_adds_a_kind(tmp_path: Path) -> None:
    config = EncoderConfig(kind="toy", name="mine", context=0)
    kind = ENCODER_KINDS.get("toy")
    assert kind.load(config, lambda: {"b", "a"}).words == ["a", "b"]
    assert kind.build(config, {"size": 3}, tmp_path).size == 3
    assert ENCODER_KINDS.names() == ("transformer", "vectors", "elmo", "toy")


@pytest.mark.usefixtures("added")
def test_an_unknown_kind_is_told_which_there_are() -> None:
    with pytest.raises(DisconerError, match=r"no kind of encoder 'vector'.*toy.*mean 'vectors'"):
        ENCODER_KINDS.get("vector")


@pytest.mark.usefixtures("added")
def test_a_configuration_takes_every_kind_that_there_is() -> None:
    values = {"data": {"train": "a", "dev": "b"}, "encoder": {"kind": "toy", "name": "mine", "context": 0}}
    config = config_from_dict(values)
    assert config.encoder.kind == "toy"
    assert config_from_dict(config.to_dict()) == config
    with pytest.raises(ConfigError, match=r'encoder\.kind: got "tyo", expected transformer, vectors, elmo or toy'):
        config_from_dict({**values, "encoder": {"kind": "tyo"}})


def test_what_kinds_say_of_themselves() -> None:
    assert [name for name in ENCODER_KINDS.names() if ENCODER_KINDS.get(name).reads_context] == ["transformer"]
    assert [name for name in ENCODER_KINDS.names() if ENCODER_KINDS.get(name).load_exported_reader is None] == ["elmo"]


def test_kinds_load_no_torch() -> None:
    code = (
        "import sys; from disconer.nn.encoders import ENCODER_KINDS as kinds; "
        "[kinds.get(name) for name in kinds.names()]; assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
