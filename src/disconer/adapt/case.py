"""An encoder whose tokenizer drops capitals learns to see them: its token types come to tell the case of pieces."""

from __future__ import annotations

from typing import Any

from torch import nn

from disconer.adapt.model import Pretrained
from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.transformer.case import BY_CASE, SETTING, Case


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
