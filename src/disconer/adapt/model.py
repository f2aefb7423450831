"""An encoder with a masked-language-model head, and letter case as input where its tokenizer drops it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from disconer.adapt.batches import UNASKED, Masked
from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.transformer import BY_CASE, SETTING, Case, reads_case
from disconer.nn.encoders.transformer.bundled import is_compact, load_compact_weights
from disconer.nn.encoders.transformer.pretrained import load_found


@dataclass(frozen=True, slots=True)
class Pretrained:
    """An encoder loaded from its folder.

    language_model: the encoder with a masked-language-model head, as transformers builds it.
    new_head: the folder had no such head, so it is initialised randomly (tied to the embedding table).
    n_new_words: words added to the vocabulary since.
    """

    language_model: Any
    tokenizer: Any
    new_head: bool
    n_new_words: int = 0

    @property
    def reads_case(self) -> bool:
        """Whether the encoder reads letter case as token types."""
        return reads_case(self.language_model.config.to_dict())


class GivenStates(nn.Module):
    """Replaces the encoder inside a language model, and passes on hidden states that were already computed.

    Each model family has its own head behind the same call; so heads are reused as they are, at masked positions only.
    """

    def forward(self, *_: Any, inputs_embeds: Tensor, **__: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return BaseModelOutput(last_hidden_state=inputs_embeds)  # type: ignore[arg-type]


class MaskedModel(nn.Module):
    """Predicts masked subwords. The head, which is costly, is applied to masked positions only."""

    def __init__(self, language_model: Any) -> None:
        super().__init__()
        self.encoder = language_model.base_model
        self.head = language_model
        self._encoder_name = language_model.base_model_prefix
        setattr(self.head, self._encoder_name, GivenStates())

    def forward(self, masked: Masked) -> tuple[Tensor, Tensor]:
        """The summed loss of all masked subwords, and their number."""
        types = {} if masked.cases is None else {"token_type_ids": masked.cases}
        states = self.encoder(input_ids=masked.inputs, **types).last_hidden_state  # (B, L, d_h)
        places = masked.places.unsqueeze(2).expand(-1, -1, states.shape[2])  # (B, K, d_h)
        logits = self.head(inputs_embeds=states.gather(1, places)).logits  # (B, K, vocabulary)
        targets = masked.targets.flatten()
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), targets, ignore_index=UNASKED, reduction="sum")
        return loss, (targets != UNASKED).sum()

    @property
    def width(self) -> int:
        return int(self.encoder.config.hidden_size)

    @property
    def n_bytes(self) -> int:
        return sum(parameter.numel() * parameter.element_size() for parameter in self.parameters())

    @contextmanager
    def as_language_model(self) -> Iterator[Any]:
        """Encoder and head as a transformers model, for saving."""
        stand_in = getattr(self.head, self._encoder_name)
        setattr(self.head, self._encoder_name, self.encoder)
        try:
            yield self.head
        finally:
            setattr(self.head, self._encoder_name, stand_in)


def load_pretrained(name: str) -> Pretrained:
    """An encoder by its name in a configuration, ready to be adapted."""
    return load_found(name, _load)


def _load(place: str, local_files_only: bool) -> Pretrained:
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    options = {"local_files_only": local_files_only, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(place, **options)
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        raise _not_maskable(place, f"a model of type {config.model_type}")
    tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True, **options)
    if not tokenizer.is_fast or tokenizer.mask_token_id is None:
        raise _not_maskable(place, "a tokenizer without " + ("a mask token" if tokenizer.is_fast else "tokenizer.json"))
    if is_compact(place):
        model = AutoModelForMaskedLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
        load_compact_weights(model.base_model, place)
        return Pretrained(model, tokenizer, new_head=True)
    model, info = AutoModelForMaskedLM.from_pretrained(
        place, config=config, dtype=torch.float32, output_loading_info=True, **options
    )
    prefix = f"{model.base_model_prefix}."
    tied = set(getattr(model, "all_tied_weights_keys", None) or getattr(model, "_tied_weights_keys", None) or ())
    missing = {key for key in info["missing_keys"] if not key.startswith(prefix) and key not in tied}
    return Pretrained(model, tokenizer, new_head=bool(missing))


def _not_maskable(place: str, got: str) -> DisconerError:
    return DisconerError(
        "This encoder cannot be adapted: it does not support masked language modelling",
        where=Where(place),
        got=got,
        expected="an encoder such as BERT, RoBERTa, MPNet, DeBERTa, ELECTRA or ModernBERT with a mask token",
        fix="Adapt another one.",
    )


def add_case(pretrained: Pretrained, encoder: str) -> None:
    """Make an encoder read letter case. All cases start with the same embedding, so its output stays the same at first.

    encoder: its name, for error messages.
    """
    if pretrained.reads_case:
        return
    if _keeps_capitals(pretrained.tokenizer):
        raise DisconerError(
            "This encoder does not need --case: its tokenizer keeps capitals",
            where=Where(encoder),
            fix="Omit --case.",
        )
    embeddings = getattr(pretrained.language_model.base_model, "embeddings", None)
    table = getattr(embeddings, "token_type_embeddings", None)
    config = pretrained.language_model.config
    if not isinstance(table, nn.Embedding) or embeddings is None:
        raise DisconerError(
            "This encoder cannot read case: it has no token types",
            where=Where(encoder),
            got=f"a model of type {config.model_type}",
            expected="an encoder such as BERT or ELECTRA",
            fix="Omit --case, or adapt another encoder.",
        )
    rows = table.weight.detach()[:1].repeat(len(Case), 1)
    embeddings.token_type_embeddings = nn.Embedding(len(Case), table.embedding_dim, _weight=rows)
    config.type_vocab_size = len(Case)
    setattr(config, SETTING, BY_CASE)


def _keeps_capitals(tokenizer: Any) -> bool:
    """Whether the tokenizer's normaliser keeps capitals."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is None or normalizer.normalize_str("A") != normalizer.normalize_str("a")
