"""What can be configured: every knob with its type, its default and what it does.

The descriptions are the documentation: `disconer init` and the presets carry them as comments. What heads can be told
is in their own folders, `disconer.nn.heads.*.settings`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, PlainValidator, SerializeAsAny, field_validator, model_validator

from disconer.config.heads import default_head, head_settings
from disconer.config.section import Count, HeadSettings, Rate, Section, Share, Weight
from disconer.text.syntax.spec import BIOMEDICAL, NONE, parser_spec


class DataConfig(Section):
    """The documents to learn from, and how text without sentences is cut."""

    train: str = Field(min_length=1, description="Documents to learn from: a file, folder, .zip or .gz of any format.")
    dev: str = Field(min_length=1, description="Documents that choose the best epoch and stop the training.")
    test: str | None = Field(default=None, min_length=1, description="Documents for the final figures; null: none.")
    format: str | None = Field(default=None, description="Format of all of them; null: recognised.")
    splitter: Literal["rules", "lines"] = Field(
        default="rules",
        description="Sentences, where the data has none: rules (for prose) or lines (one a line).",
    )
    tokenizer: Literal["words", "whitespace"] = Field(
        default="words",
        description="Words, likewise: words (letters, digits and marks apart) or whitespace (between it).",
    )


class LstmConfig(Section):
    """A bidirectional LSTM over the word vectors."""

    size: Count = Field(default=200, description="Units a direction; word vectors then have twice as many numbers.")
    layers: Count = Field(default=1, description="LSTMs on top of one another.")
    dropout: Share = Field(default=0.0, description="Share of numbers dropped after each of them.")


class CharacterConfig(Section):
    """A convolution over the letters of each word."""

    size: Count = Field(default=30, description="Numbers by which a letter is known.")
    filters: Count = Field(default=50, description="Filters, and so the numbers that it adds to each word vector.")
    width: Count = Field(default=3, description="Letters that a filter sees at once.")


def _only(kind: str, **off: JsonValue) -> dict[str, JsonValue]:
    """Marks a knob that one kind of encoder has and others have not. off: what any kind may have it switched to."""
    return {"only": kind, **off}


class EncoderConfig(Section):
    """From words to word vectors."""

    kind: Literal["transformer", "vectors", "elmo"] = Field(
        default="transformer",
        description="What makes the word vectors: transformer, vectors (a table such as GloVe's) or elmo.",
    )
    name: str = Field(
        default="biomedical-minilm",
        min_length=1,
        description="Which: one that comes along, a folder, a file of vectors, a package, or a name on the Hub.",
    )
    pooling: Literal["first", "mean", "max"] = Field(
        default="first",
        description="A word's vector from those of its pieces: first, mean or max.",
        json_schema_extra=_only("transformer"),
    )
    layers: Literal["last", "mix"] | Count = Field(
        default="last",
        description="Layers used: last, mix (learned, of all), or a number (mean of so many last ones).",
        json_schema_extra=_only("transformer"),
    )
    rows: Literal["data", "all"] | Count = Field(
        default="data",
        description="Vectors kept: data (of words of train and dev), all, or a number (these and so many first ones).",
        json_schema_extra=_only("vectors"),
    )
    characters: CharacterConfig | None = Field(
        default=CharacterConfig(),
        description="A convolution over the letters of each word, for words without a vector; null: none.",
        json_schema_extra=_only("vectors"),
    )
    unknown: Share = Field(
        default=0.05,
        description="Share of words that training takes for unknown, to learn what to make of these.",
        json_schema_extra=_only("vectors"),
    )
    dropout: Share = Field(default=0.4, description="Share of a word vector's numbers dropped in training.")
    max_pieces: Annotated[int, Field(ge=16)] | None = Field(
        default=None, description="Pieces a window; longer sentences take several. null: the encoder's own limit."
    )
    context: Annotated[int, Field(ge=0)] = Field(
        default=256,
        description="Pieces of neighbouring sentences read together, each as the others' context; 0: each by itself.",
        json_schema_extra=_only("transformer", off=0),
    )
    frozen: bool = Field(default=False, description="Keep the encoder as it is and train only what stands on it.")
    lstm: LstmConfig | None = Field(
        default=LstmConfig(), description="A bidirectional LSTM over the word vectors; null: none."
    )

    @model_validator(mode="after")
    def _no_knobs_of_other_kinds(self) -> EncoderConfig:
        for name, knob in type(self).model_fields.items():
            extra: Any = knob.json_schema_extra or {}
            kind = extra.get("only", self.kind)
            if kind != self.kind and getattr(self, name) not in (knob.default, extra.get("off", knob.default)):
                raise ValueError(f"{name} is only for kind: {kind}, but kind is {self.kind}: leave {name} out")
        return self


class GcnConfig(Section):
    """The attention-guided graph convolution over the dependency graph."""

    blocks: Count = Field(default=2, description="Block 1 follows the dependency graph, further ones learned graphs.")
    heads: Count = Field(default=4, description="Learned graphs of each further block (N_head in the paper).")
    size: Count = Field(default=20, description="Numbers that it adds to each word vector (d_f in the paper).")
    first_layers: Count = Field(default=2, description="Layers of block 1, densely connected.")
    further_layers: Count = Field(default=4, description="Layers of each graph of a further block, densely connected.")
    dropout: Share = Field(default=0.1, description="Share of numbers dropped between its layers in training.")


class SyntaxConfig(Section):
    """Dependency syntax, and what is made of it."""

    parser: str = Field(
        default="none",
        description="Where heads come from: none, data, spacy:PIPELINE, stanza:LANG, corenlp:URL or conllu:PATH.",
    )
    missing: Literal["skip", "error"] = Field(
        default="skip", description="A sentence that gets no heads: skip (goes on without, counted) or error."
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
                f"{BIOMEDICAL!r}, or 'data' (the sentences must carry heads), or gcn to null"
            )
        return self

    @property
    def needed(self) -> bool:
        """Whether anything is made of heads, so that sentences should have them."""
        return self.gcn is not None


class TrainingConfig(Section):
    """How the model learns."""

    start_from: str | None = Field(
        default=None,
        min_length=1,
        description="Model to start from: a name, a run or a folder; labels of other names start fresh. null: none.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=1, description="Start of all random numbers: the same seed gives the same model."
    )
    epochs: Count = Field(
        default=20, description="Rounds over the training data at most; F1 on dev is measured after each."
    )
    steps_at_least: Annotated[int, Field(ge=0)] = Field(
        default=500,
        description="Steps of a whole training at least: an epoch goes over a small corpus as often as that takes; "
        "0: once.",
    )
    patience: Count = Field(
        default=15, description="Stop after so many epochs without a better F1 on dev, once it is above 0."
    )
    batch_tokens: Count = Field(default=1024, description="Words a batch, padding counted.")
    accumulate: Count = Field(default=1, description="Batches a step of the optimizer.")
    encoder_rate: Rate = Field(default=1e-4, description="Highest learning rate of the encoder.")
    head_rate: Rate = Field(default=1e-3, description="Highest learning rate of everything else.")
    weight_decay: Weight = Field(default=0.01, description="Pull of the weights towards zero.")
    warmup: Share = Field(default=0.1, description="Share of all steps over which the rates rise to their highest.")
    schedule: Literal["linear", "cosine", "constant"] = Field(
        default="linear",
        description="How the rates fall after that: linear or cosine (to zero), or constant (not at all).",
    )
    adversarial: Weight = Field(
        default=1.0,
        description="How far piece vectors are pushed, to learn each batch a second time made harder; 0: just once.",
    )
    clip: Rate = Field(default=5.0, description="Longest gradient (its norm); longer ones are cut to it.")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        default="auto",
        description="Number format: fp32, bf16, fp16 or auto (bf16 where the hardware has it, else fp32).",
    )

    @model_validator(mode="after")
    def _warm_before_it_can_stop(self) -> TrainingConfig:
        rising = self.warmup * self.epochs
        if rising > self.patience:
            raise ValueError(
                f"the learning rate rises for warmup * epochs = {rising:g} epochs, but training may stop after "
                f"patience = {self.patience}, before it was ever trained at full rate: lower warmup or raise patience"
            )
        return self


# The settings of any kind of head. Which kinds there are is known when one is asked for, not here.
AnyHead = Annotated[SerializeAsAny[HeadSettings], PlainValidator(head_settings, json_schema_input_type=HeadSettings)]


class Config(Section):
    """Everything that a training run is told. Relative data paths start at the current directory."""

    data: DataConfig = Field(description="The documents to learn from, and how text without sentences is cut.")
    encoder: EncoderConfig = Field(default=EncoderConfig(), description="From words to word vectors.")
    syntax: SyntaxConfig = Field(default=SyntaxConfig(), description="Dependency syntax, and what is made of it.")
    head: AnyHead = Field(default_factory=default_head, description="From word vectors to entities.")
    training: TrainingConfig = Field(default=TrainingConfig(), description="How the model learns.")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `Config.model_validate` takes them back."""
        return self.model_dump(mode="json")
