"""An encoder with the layer that guesses masked pieces, and eyes for case where its tokenizer has none."""

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
from disconer.nn.encoders.transformer.bundled import is_compact, load_compact_weights
from disconer.nn.encoders.transformer.case import BY_CASE, SETTING, Case, reads_case
from disconer.nn.encoders.transformer.pretrained import load_found


@dataclass(frozen=True, slots=True)
class Pretrained:
    """What an encoder's folder gives.

    language_model: the encoder under a head that guesses pieces, as transformers builds it.
    new_head: the folder had no such head, so that it starts at random (tied to the encoder's own table of pieces).
    n_new_words: words that have got a piece of their own since.
    """

    language_model: Any
    tokenizer: Any
    new_head: bool
    n_new_words: int = 0

    @property
    def reads_case(self) -> bool:
        """Whether the encoder takes the case of pieces for their token types."""
        return reads_case(self.language_model.config.to_dict())


class GivenStates(nn.Module):
    """Stands where a language model has its encoder, and passes on states that the encoder has made already.

    Every family has its own kind of head behind the same call; so each is used as it is, at chosen places only.
    """

    def forward(self, *_: Any, inputs_embeds: Tensor, **__: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return BaseModelOutput(last_hidden_state=inputs_embeds)  # type: ignore[arg-type]


class MaskedModel(nn.Module):
    """Guesses masked pieces. The head, whose vocabulary makes it costly, reads nothing but the places asked for."""

    def __init__(self, language_model: Any) -> None:
        super().__init__()
        self.encoder = language_model.base_model
        self.head = language_model
        self._encoder_name = language_model.base_model_prefix
        setattr(self.head, self._encoder_name, GivenStates())

    def forward(self, masked: Masked) -> tuple[Tensor, Tensor]:
        """The summed loss of all guesses, and their number."""
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
        """Encoder and head as transformers has them, to be saved."""
        stand_in = getattr(self.head, self._encoder_name)
        setattr(self.head, self._encoder_name, self.encoder)
        try:
            yield self.head
        finally:
            setattr(self.head, self._encoder_name, stand_in)


def load_pretrained(name: str) -> Pretrained:
    """An encoder by the names that a configuration takes, ready to be adapted."""
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
        "This encoder cannot be adapted: it does not learn by guessing masked pieces",
        where=Where(place),
        got=got,
        expected="an encoder of the kind of BERT, RoBERTa, MPNet, DeBERTa, ELECTRA or ModernBERT with a mask token",
        fix="Adapt another one.",
    )


def add_case(pretrained: Pretrained, encoder: str) -> None:
    """Have an encoder read case. All cases begin alike, so that its states stay what they are until it learns.

    encoder: its name, for errors.
    """
    if pretrained.reads_case:
        return
    if _keeps_capitals(pretrained.tokenizer):
        raise DisconerError(
            "This encoder needs no --case: its tokenizer keeps capitals",
            where=Where(encoder),
            fix="Leave --case out.",
        )
    embeddings = getattr(pretrained.language_model.base_model, "embeddings", None)
    table = getattr(embeddings, "token_type_embeddings", None)
    config = pretrained.language_model.config
    if not isinstance(table, nn.Embedding) or embeddings is None:
        raise DisconerError(
            "This encoder cannot learn case: it has no token types that could tell it",
            where=Where(encoder),
            got=f"a model of type {config.model_type}",
            expected="an encoder of the kind of BERT or ELECTRA",
            fix="Leave --case out, or adapt another encoder.",
        )
    rows = table.weight.detach()[:1].repeat(len(Case), 1)
    embeddings.token_type_embeddings = nn.Embedding(len(Case), table.embedding_dim, _weight=rows)
    config.type_vocab_size = len(Case)
    setattr(config, SETTING, BY_CASE)


def _keeps_capitals(tokenizer: Any) -> bool:
    """Capitals are lost where text is normalised, or nowhere."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is None or normalizer.normalize_str("A") != normalizer.normalize_str("a")
