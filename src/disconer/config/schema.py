"""The configuration: every setting with its type, default and description.

The descriptions are the documentation: `disconer init` and the presets show them as comments. The settings of the
section `head` belong to the kind of head that it names; see `section`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    PlainValidator,
    SerializeAsAny,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from disconer.config.section import (
    Count,
    Fraction,
    HeadSettings,
    Labels,
    Rate,
    Section,
    Weight,
    default_head,
    head_settings,
    in_words,
)
from disconer.core.plugins import Registry
from disconer.text import SplitterName
from disconer.text.syntax.spec import BIOMEDICAL, NONE, parser_spec


class DataConfig(Section):
    """The data, and how text without sentences is segmented."""

    train: str = Field(min_length=1, description="Training documents: a file, folder, .zip or .gz in any format.")
    dev: str = Field(min_length=1, description="Development documents: they select the best epoch and stop training.")
    test: str | None = Field(default=None, min_length=1, description="Test documents, measured at the end; null: none.")
    labels: Labels | None = Field(
        default=None,
        description="Labels to predict; the head also learns from others, if it can. null: all in the training data.",
    )
    format: str | None = Field(default=None, description="Format of the documents; null: detected.")
    splitter: SplitterName = Field(
        default="rules",
        description="Splitter for text without sentences: rules (prose, lists, wrapped lines) or lines (one per line).",
    )
    tokenizer: Literal["words", "whitespace"] = Field(
        default="words",
        description="Tokenizer for texts without tokens: words (splits letters, digits and punctuation) or whitespace.",
    )
    whole_words: bool = Field(
        default=False,
        description="Find no entity that begins or ends between two letters or digits, such as 75 mg/m in 75 mg/m2.",
    )
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="Fraction of the training documents to use; training.seed selects them."
    )


class LstmConfig(Section):
    """A bidirectional LSTM over the word vectors."""

    size: Count = Field(default=200, description="Hidden units per direction; word vectors then have twice that size.")
    layers: Count = Field(default=1, description="Stacked layers.")
    dropout: Fraction = Field(default=0.0, description="Dropout between stacked layers.")

    @model_validator(mode="after")
    def _dropout_has_a_place(self) -> LstmConfig:
        if self.dropout and self.layers == 1:
            raise ValueError(
                f"dropout is between stacked layers, but layers is 1, so {self.dropout:g} would do nothing: set layers "
                "to 2 or more, or dropout to 0.0; encoder.dropout is that of the word vectors"
            )
        return self


class CharacterConfig(Section):
    """A character CNN."""

    size: Count = Field(default=30, description="Character embedding size.")
    filters: Count = Field(default=50, description="Number of filters, added to the size of each word vector.")
    width: Count = Field(default=3, description="Kernel width in characters.")


def _only(kind: str, **off: JsonValue) -> dict[str, JsonValue]:
    """Marks a setting of only one kind of encoder. off: the value that is allowed for any kind."""
    return {"only": kind, **off}


ENCODERS: Registry[Any] = Registry(
    "disconer.encoders",
    {kind: f"disconer.nn.encoders.{kind}:KIND" for kind in ("transformer", "vectors", "elmo")},
    what="kind of encoder",
)


def _known_encoder(kind: str) -> str:
    if kind not in ENCODERS:
        raise PydanticKnownError("literal_error", {"expected": in_words(ENCODERS.names())})
    return kind


class EncoderConfig(Section):
    """From words to word vectors."""

    kind: Annotated[str, AfterValidator(_known_encoder)] = Field(
        default="transformer",
        description="Source of word vectors: transformer, vectors (a table such as GloVe's) or elmo.",
        json_schema_extra={"enum": [*ENCODERS.built_in]},
    )
    name: str = Field(
        default="biomedical-minilm",
        min_length=1,
        description="A bundled encoder, a folder, a file of vectors, a package, or a name on the Hub.",
    )
    pooling: Literal["first", "mean", "max"] = Field(
        default="first",
        description="How subword vectors are pooled into a word vector: first, mean or max.",
        json_schema_extra=_only("transformer"),
    )
    layers: Literal["last", "mix"] | Count = Field(
        default=4,
        description="Layers used: last, mix (a learned mix of all), or a number N (mean of the last N).",
        json_schema_extra=_only("transformer", off="last"),
    )
    rows: Literal["data", "all"] | Count = Field(
        default="data",
        description="Vectors kept: data (words of train and dev), all, or a number N (those and the first N).",
        json_schema_extra=_only("vectors"),
    )
    characters: CharacterConfig | None = Field(
        default=CharacterConfig(),
        description="A character CNN, for words without a vector; null: none.",
        json_schema_extra=_only("vectors"),
    )
    unknown: Fraction = Field(
        default=0.05,
        description="Probability of treating a word as unknown in training, to train the vector of unknown words.",
        json_schema_extra=_only("vectors"),
    )
    dropout: Fraction = Field(default=0.2, description="Dropout of word vectors.")
    max_subwords: Annotated[int, Field(ge=16)] | None = Field(
        default=None, description="Subwords per window; longer sentences take several. null: the encoder's own limit."
    )
    context: Annotated[int, Field(ge=0)] = Field(
        default=256,
        description="Subwords of neighbouring sentences read together as context; 0: each sentence alone.",
        json_schema_extra=_only("transformer", off=0),
    )
    frozen: bool = Field(default=False, description="Freeze the encoder and train only the layers on top of it.")
    lstm: LstmConfig | None = Field(
        default=LstmConfig(), description="A bidirectional LSTM over the word vectors; null: none."
    )

    @model_validator(mode="after")
    def _no_knobs_of_other_kinds(self) -> EncoderConfig:
        for name, knob in type(self).model_fields.items():
            extra: Any = knob.json_schema_extra or {}
            kind = extra.get("only", self.kind)
            if kind != self.kind and getattr(self, name) not in (knob.default, extra.get("off", knob.default)):
                raise ValueError(f"{name} is only for kind: {kind}, but kind is {self.kind}: remove {name}")
        return self


class GcnConfig(Section):
    """The attention-guided graph convolution over the dependency graph."""

    blocks: Count = Field(default=2, description="Block 1 follows the dependency graph, further ones learned graphs.")
    heads: Count = Field(default=4, description="Learned graphs per further block (N_head in the paper).")
    size: Count = Field(default=20, description="Size added to each word vector (d_f in the paper).")
    first_layers: Count = Field(default=2, description="Layers of block 1, densely connected.")
    further_layers: Count = Field(default=4, description="Layers of each graph of a further block, densely connected.")
    dropout: Fraction = Field(default=0.1, description="Dropout between its layers.")


class SyntaxConfig(Section):
    """Dependency syntax, and how it is used."""

    parser: str = Field(
        default="none",
        description="Source of dependency heads: none, data, spacy:PIPELINE, stanza:LANG, corenlp:URL or conllu:PATH.",
    )
    missing: Literal["skip", "error"] = Field(
        default="skip", description="If a sentence gets no heads: skip (continue without, and count) or error."
    )
    gcn: GcnConfig | None = Field(
        default=None, description="A graph convolution that adds syntax to the word vectors; null: none."
    )

    @field_validator("parser")
    @classmethod
    def _parser_can_be_read(cls, line: str) -> str:
        return str(parser_spec(line))

    @model_validator(mode="after")
    def _gcn_has_a_graph(self) -> SyntaxConfig:
        if self.needed and self.parser == NONE:
            raise ValueError(
                "a gcn needs a dependency graph, but parser is 'none': set parser to one such as "
                f"{BIOMEDICAL!r}, or 'data' (the sentences must have heads), or gcn to null"
            )
        return self

    @property
    def needed(self) -> bool:
        """Whether heads are used, so that sentences should have them."""
        return self.gcn is not None


class TrainingConfig(Section):
    """How the model learns."""

    start_from: str | None = Field(
        default=None,
        min_length=1,
        description="Model to start from: a name, a run or a folder; labels of other names start fresh. null: none.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=1, description="Random seed: the same seed gives the same model."
    )
    epochs: Count = Field(default=20, description="Maximum number of epochs; F1 on dev is measured after each.")
    steps_at_least: Annotated[int, Field(ge=0)] = Field(
        default=1500,
        description="Minimum number of steps: an epoch repeats a small corpus as often as needed; 0: once.",
    )
    patience: Count = Field(
        default=15, description="Stop after this many epochs without a better F1 on dev, once it is above 0."
    )
    batch_tokens: Count = Field(
        default=1024,
        description="Words per batch; including padding to the longest sentence, at most 16 times as many.",
    )
    accumulate: Count = Field(default=1, description="Batches per optimizer step.")
    encoder_rate: Rate = Field(default=1e-4, description="Peak learning rate of the encoder.")
    head_rate: Rate = Field(default=1e-3, description="Peak learning rate of everything else.")
    weight_decay: Weight = Field(default=0.01, description="Weight decay.")
    warmup: Fraction = Field(default=0.1, description="Fraction of all steps for learning rate warm-up.")
    schedule: Literal["linear", "cosine", "constant"] = Field(
        default="linear",
        description="Decay after warm-up: linear or cosine (to zero), or constant (none).",
    )
    adversarial: Weight = Field(
        default=1.0,
        description="Size of the adversarial perturbation of subword embeddings, for a second pass per batch; 0: off.",
    )
    clip: Rate = Field(default=5.0, description="Maximum gradient norm; larger gradients are clipped.")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        default="auto",
        description="Precision: fp32, bf16, fp16 or auto (bf16 if the hardware supports it, else fp32).",
    )

    @model_validator(mode="after")
    def _warm_before_it_can_stop(self) -> TrainingConfig:
        rising = self.warmup * self.epochs
        if rising > self.patience:
            raise ValueError(
                f"warm-up takes warmup * epochs = {rising:g} epochs, but training may stop after "
                f"patience = {self.patience}, before the learning rate reaches its peak: lower warmup or raise patience"
            )
        return self


# The settings of any kind of head. Kinds are looked up when one is requested, not here.
AnyHead = Annotated[SerializeAsAny[HeadSettings], PlainValidator(head_settings, json_schema_input_type=HeadSettings)]


class Config(Section):
    """The configuration of a training run. Relative paths in a file are relative to that file."""

    data: DataConfig = Field(description="The data, and how text without sentences is segmented.")
    encoder: EncoderConfig = Field(default=EncoderConfig(), description="From words to word vectors.")
    syntax: SyntaxConfig = Field(default=SyntaxConfig(), description="Dependency syntax, and how it is used.")
    head: AnyHead = Field(default_factory=default_head, description="From word vectors to entities.")
    training: TrainingConfig = Field(default=TrainingConfig(), description="How the model learns.")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, which `Config.model_validate` reads."""
        return self.model_dump(mode="json")
