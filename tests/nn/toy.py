"""Small models for tests: a random BERT of a few units over a toy vocabulary, so that nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from disconer.config import Config
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch
from disconer.nn.encoders.transformer import BY_CASE, SETTING, Case, SubwordTokenizer
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.encoders.transformer.pretrained import without_pooler
from disconer.nn.heads.span.targets import Relation
from disconer.nn.network import AnyNetwork, build_network
from disconer.nn.reader import Reader
from disconer.nn.windows import Found, Window
from disconer.store.checkpoint import Model

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def toy_tokenizer() -> PreTrainedTokenizerFast:
    """Word pieces over single letters and digits: every word is as many subwords as it has characters."""
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789.,;:-()"
    vocabulary = [*SPECIAL, *alphabet, *(f"##{character}" for character in alphabet)]
    numbers = {subword: number for number, subword in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def toy_bert(*, size: int = 32, layers: int = 2, positions: int = 64, case: bool = False) -> BertModel:
    """case: it reads the case of subwords."""
    torch.manual_seed(0)
    types = {SETTING: BY_CASE, "type_vocab_size": len(Case)} if case else {}
    config = BertConfig(
        vocab_size=100,
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * size,
        max_position_embeddings=positions,
        **types,
    )
    return BertModel(config)


def word_batch(windows: Sequence[Window], reader: Reader) -> WordBatch:
    return WordBatch.from_arrays(word_arrays([[window] for window in windows], reader))


def toy_config(**sections: Any) -> Config:
    """With a span head unless said otherwise: its weights can be set by hand."""
    head = {"kind": "span"} | sections.pop("head", {})
    return Config.model_validate({"data": {"train": "train.jsonl", "dev": "dev.jsonl"}, "head": head} | sections)


def words_of(transformer: nn.Module, config: Config) -> TransformerWords:
    return TransformerWords(transformer=transformer, layers=config.encoder.layers, pooling=config.encoder.pooling)


def toy_model(
    labels: tuple[str, ...] = ("ADR", "Drug"),
    *,
    positions: int = 64,
    layers: int = 2,
    case: bool = False,
    **sections: Any,
) -> Model:
    config = toy_config(**sections)
    transformer = without_pooler(toy_bert(positions=positions, layers=layers, case=case))
    network = build_network(config, labels, words_of(transformer, config)).eval()
    return Model(network, SubwordTokenizer(toy_tokenizer(), case=case), config, labels)


def lively(model: Model, *, seed: int = 3, against: float = 2.0) -> Model:
    """The model with random scorers that find many entities, discontinuous ones too, so that there is much to compare.

    against: how much they lean to finding no fragment.
    """
    generator = torch.Generator().manual_seed(seed)
    head = model.network.head
    with torch.no_grad():
        for scorer in (head.fragments, head.relations):
            for parameter in scorer.parameters():
                parameter.normal_(0, 3 * (parameter.ndim > 1) / parameter.shape[-1] ** 0.5, generator=generator)
        head.fragments.rest[-1].bias[0] += against
    return model


def letter_model(*, positions: int = 64) -> Model:
    """A model by hand that knows no context: the words p and k are fragments, and any p is followed by any later k."""
    linear: dict[str, Any] = {"hidden": []}
    model = toy_model(
        ("ADR",),
        positions=positions,
        layers=0,
        encoder={"lstm": None},
        head={"max_width": 1, "fragments": linear, "relations": linear},
    )
    embeddings, head = model.network.words.encoder.transformer.embeddings, model.network.head
    p, k = (model.reader.tokenizer.convert_tokens_to_ids(letter) for letter in "pk")
    first, second = 0, 2 * head.relations.size  # where the spans of a pair begin in [s, s * s', s']
    with torch.no_grad():
        for parameter in (*embeddings.parameters(), *head.parameters()):
            parameter.zero_()
        embeddings.LayerNorm.weight.fill_(1)  # makes a 1 among 31 zeros 5.6, and leaves zeros zeros
        embeddings.word_embeddings.weight[[p, k], [0, 1]] = 1
        head.fragments.first.weight[1, :2] = 1
        head.fragments.first.bias[1] = -3
        head.relations.first.weight[Relation.SUCCESSION, [first, second + 1]] = 1
        head.relations.first.bias[Relation.SUCCESSION] = -8
    return model


def find(network: AnyNetwork, batch: WordBatch) -> list[list[Found]]:
    """The entities of each window of a batch."""
    with torch.inference_mode():
        return network.head.collect(network.launch(batch))
