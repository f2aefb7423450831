"""Word vectors from a transformer: its layers mixed, its subwords pooled; and how it is loaded and built."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.places import CONFIG
from disconer.nn.devices import WordBatch
from disconer.nn.encoders.transformer import TOKENIZER, SubwordTokenizer, reads_case
from disconer.nn.encoders.transformer.pretrained import (
    check_settings,
    check_tokenizer_settings,
    load_encoder,
    max_subwords,
    quiet,
    without_pooler,
)
from disconer.nn.encoders.transformer.tokenizer_check import checked_tokenizer
from disconer.nn.encoders.transformer.tokenizer_errors import damaged_tokenizers
from disconer.nn.interfaces import Encoding, WordEncoder
from disconer.nn.layers import LayerMix

Pooling = Literal["first", "mean", "max"]
ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


class TransformerWords(WordEncoder):
    """Word vectors from a pretrained transformer.

    transformer: any encoder that `AutoModel` builds.
    layers: "last", "mix" for a learned mix of all, or n for the mean of the last n.
    pooling: the vector of a word is that of its first subword, or the mean or maximum over its subwords.
    """

    def __init__(self, *, transformer: nn.Module, layers: Literal["last", "mix"] | int, pooling: Pooling) -> None:
        super().__init__()
        self.transformer = transformer
        self.layers = layers
        self.pooling = pooling
        self.mix = LayerMix(n_layers=_n_layers(transformer)) if layers == "mix" else None
        self.reads_case = reads_case(self.description())

    @property
    def _takes_full_mask(self) -> bool:
        """Whether the transformer uses a mask as it is, and does not ask the device what is in it."""
        config: Any = self.transformer.config
        return bool(config.model_type == "bert" and config._attn_implementation == "sdpa")

    @property
    def size(self) -> int:
        return int(self.transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]

    @property
    def max_subwords(self) -> int:
        return max_subwords(self.transformer)

    @property
    def table(self) -> nn.Parameter:
        """The vectors of subwords, by their ids."""
        table: nn.Parameter = self.transformer.get_input_embeddings().weight  # type: ignore[operator]
        return table

    @property
    def vectors(self) -> nn.Parameter | None:
        return self.table

    def pretrained_parameters(self) -> list[nn.Parameter]:
        return list(self.transformer.parameters())

    def description(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.transformer.config.to_dict()  # type: ignore[union-attr, operator]
        settings.pop("_name_or_path", None)  # a path on the machine that trained it
        return settings

    def __getstate__(self) -> dict[str, Any]:
        """Without the transformer itself: once asked for all layers, it holds functions that cannot be pickled."""
        parts = self._modules.copy()
        transformer: Any = parts.pop("transformer")
        saved = (self.description(), transformer.state_dict(), transformer.training)
        return self.__dict__ | {"_modules": parts, "saved": saved}

    def __setstate__(self, state: dict[str, Any]) -> None:
        description, weights, training = state.pop("saved")
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        with quiet():
            transformer = _build_transformer(description, Path())
        transformer.load_state_dict(weights, assign=True)
        device = next(transformer.parameters()).device
        self.transformer = transformer.to(device).train(training)  # buffers that are not weights, too

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, d_h)"""
        return self._pool(self._subwords(batch), batch)

    def inputs(self, piece_ids: Tensor, piece_mask: Tensor) -> dict[str, Tensor]:
        """The transformer's arguments for a batch."""
        seen = full_mask(piece_mask) if piece_mask.device.type != "cpu" and self._takes_full_mask else piece_mask
        if not self.reads_case:
            return {"input_ids": piece_ids, "attention_mask": seen}
        ids, cases = piece_ids.unbind(-1)  # (R, P), (R, P)
        cases = cases * piece_mask  # the padding of rows is not a valid case
        return {"input_ids": ids, "token_type_ids": cases, "attention_mask": seen}

    def _subwords(self, batch: WordBatch) -> Tensor:
        """Shape: (R, P, d_h)"""
        given = self.inputs(batch.piece_ids, batch.piece_mask)
        # cuDNN compiles its attention again for every size of a batch, which takes longer than the batch.
        with sdpa_kernel(ATTENTION) if batch.piece_ids.is_cuda else nullcontext():
            output = self.transformer(**given, output_hidden_states=self.layers != "last")
        if self.layers == "last":
            vectors: Tensor = output.last_hidden_state
        elif isinstance(self.layers, int):
            vectors = torch.stack(output.hidden_states[-self.layers :]).mean(0)
        else:
            assert self.mix is not None
            vectors = self.mix(output.hidden_states)
        return vectors

    def _pool(self, subwords: Tensor, batch: WordBatch) -> Tensor:
        values = subwords.flatten(0, 1)  # (R * P, d_h)
        first = values[batch.first_piece]  # (B, N, d_h)
        if self.pooling == "first":
            return first
        # A word without subwords keeps the vector that `first` gave it.
        words = first.flatten(0, 1)
        values = values[batch.piece_places]  # (M, d_h)
        owners = batch.word_places.unsqueeze(-1).expand_as(values)  # (M, d_h)
        if self.pooling == "mean":  # a sum and a count: ONNX cannot scatter a mean, and its export fails silently
            total = torch.zeros_like(words).scatter_add(0, owners, values)
            count = torch.zeros_like(words[:, :1]).scatter_add(0, owners[:, :1], torch.ones_like(values[:, :1]))
            pooled = torch.where(count > 0, total / count.clamp(min=1), words)
        else:
            pooled = words.scatter_reduce(0, owners, values, "amax", include_self=False)
        return pooled.view_as(first)


def full_mask(piece_mask: Tensor) -> Tensor:
    """Which subwords each subword attends to.  Shape: (R, P) -> (R, 1, P, P)"""
    return piece_mask.bool()[:, None, None, :].expand(-1, -1, piece_mask.shape[1], -1)


def _n_layers(transformer: nn.Module) -> int:
    return int(transformer.config.num_hidden_layers) + 1  # type: ignore[union-attr, arg-type]


def load_transformer_encoding(config: EncoderConfig) -> Encoding:
    """A pretrained transformer and its tokenizer."""
    transformer, tokenizer = load_encoder(config.name)
    words = _transformer_words(config, transformer)
    reader = SubwordTokenizer(tokenizer, case=words.reads_case)
    reader.check(len(words.table), Where(config.name))  # a model that could not be loaded again would be useless
    return Encoding(words, reader)


def build_transformer_encoding(config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
    """What a model folder describes; the weights are random."""
    with quiet():
        words = _transformer_words(config, _build_transformer(description, folder))
        return Encoding(words, _load_tokenizer(folder, len(words.table), case=words.reads_case))


def _transformer_words(config: EncoderConfig, transformer: torch.nn.Module) -> TransformerWords:
    return TransformerWords(transformer=transformer, layers=config.layers, pooling=config.pooling)


def _build_transformer(description: Mapping[str, Any], folder: Path) -> torch.nn.Module:
    from transformers import AutoConfig, AutoModel

    settings = {name: value for name, value in description.items() if name not in ("model_type", "auto_map")}
    check_settings(settings, folder)
    try:
        config = AutoConfig.for_model(description["model_type"], **settings)
        transformer = AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)  # type: ignore[no-untyped-call]
    except Exception as error:  # each architecture raises its own errors
        raise DisconerError(
            "The encoder of this model cannot be built from its description",
            where=Where(str(folder / CONFIG)),
            got=first_line(error),
            fix="Copy the model again, or install the version of transformers that it was trained with.",
        ) from error
    return without_pooler(transformer)


def _load_tokenizer(folder: Path, n_ids: int, *, case: bool) -> SubwordTokenizer:
    """n_ids: how many subwords the encoder knows."""
    from transformers import PreTrainedTokenizerFast

    path = folder / TOKENIZER
    with damaged_tokenizers(path):
        check_tokenizer_settings(folder)
        checked_tokenizer(path, n_ids)
        reader = SubwordTokenizer(PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True), case=case)
    reader.check(n_ids, Where(str(path)))  # with what the other files add
    return reader
