"""The model card, README.md in the model's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from string import Template
from typing import Any

from disconer.config import Config
from disconer.config.load import format_yaml
from disconer.core.types import Kind
from disconer.nn.heads.kind import kind_of
from disconer.text.syntax.spec import ParserSpec, parser_spec

Figures = Mapping[str, Mapping[str, Any]]  # by split, as from `Evaluation.to_dict`

IN_TITLE = 5  # labels at most; more are only listed

_CARD = Template("""\
---
library_name: disconer
pipeline_tag: token-classification
tags: [named-entity-recognition, discontinuous-entities, overlapped-entities]
---

# disconer model: $title

Finds entities in raw text, with character offsets and scores: regular, overlapped and discontinuous ones.$export

## How to use

```python
from disconer import Recognizer

ner = Recognizer.from_pretrained("FOLDER")  # the folder of this file
for entity in ner("Pain and stiffness in both knees.").entities:
    print(entity.label, entity.text, entity.fragments, entity.score)
```

On the command line: `disconer predict notes/ -o predicted/ --model FOLDER`.$parser

## Labels

$label_list

## Data

$data

Use of the model also depends on the licence of this data.

## Figures

$figures

## Limits

- **Not a medical device.** It misses entities and predicts wrong ones. Do not base decisions about a patient's care
  on its output without reading the text.
- Text unlike the training data (another language, field or style) gives worse results than these metrics.
- $limits
- A score is the estimated probability that label and fragments are all correct. `disconer evaluate` on annotated
  text shows how well calibrated it is.

## How it was made

disconer $version on the encoder `$encoder`$start, with the head `$head`: $about. The settings:

```yaml
$settings```
""")


def model_card(
    *, labels: Sequence[str], config: Config, version: str, figures: Figures, export: str | None = None
) -> str:
    """The text of README.md.

    figures: the evaluation of each measured split; may be empty.
    export: a sentence about the export, for exported models.
    """
    return _CARD.substitute(
        title=", ".join(labels) if len(labels) <= IN_TITLE else f"{len(labels)} labels",
        export="" if export is None else f"\n\n{export}",
        label_list="\n".join(f"- `{label}`" for label in labels),
        data="\n".join(_data_lines(config)),
        figures="\n".join(_figure_lines(figures)),
        limits=limits_in_words(config, labels),
        version=version,
        encoder=public_name(config.encoder.name),
        start=start_in_words(config),
        head=config.head.kind,
        about=kind_of(config.head).about,
        parser=_parser_line(config),
        settings=card_settings(config),
    )


def limits_in_words(config: Config, labels: Sequence[str]) -> str:
    """What the model can never find."""
    return " ".join(_limits(config, labels))


def _limits(config: Config, labels: Sequence[str]) -> Iterator[str]:
    yield "Entities never cross sentences."
    if config.data.whole_words:
        yield 'They never begin or end between two letters or digits: "75 mg/m" in "75 mg/m2" is not found.'
    yield from kind_of(config.head).limits(config.head, labels)


def start_in_words(config: Config) -> str:
    """The model that training started from, for the sentence that names the encoder."""
    start = config.training.start_from
    return "" if start is None else f", starting from the model `{public_name(start)}`"


def card_settings(config: Config) -> str:
    """The settings as YAML, without the data and without local paths."""
    settings = {name: section for name, section in config.to_dict().items() if name != "data"}
    start = config.training.start_from
    return format_yaml(
        settings
        | {"encoder": settings["encoder"] | {"name": public_name(config.encoder.name)}}
        | {"syntax": settings["syntax"] | {"parser": _public_parser(config)}}
        | {"training": settings["training"] | {"start_from": start and public_name(start)}}
    )


def _data_lines(config: Config) -> Iterator[str]:
    uses = (("train", "training"), ("dev", "selection of the best epoch"), ("test", "final metrics"))
    for split, use in uses:
        if path := getattr(config.data, split):
            yield f"- {split}: `{public_name(path)}` ({use})"
    if config.data.labels is not None:
        yield "- entities of other labels, if training had any, were learned from or left out (`data.labels`)"


def public_name(path: str) -> str:
    """The end of a path, or the name on the Hub: enough to recognise it, without local paths."""
    return "/".join(part for part in PurePath(path).parts[-2:] if part not in ("/", "\\"))


def comparison_in_words(checked: Mapping[str, Any], how: str = "In this form") -> str:
    """The comparison of a model in another form with the original one, from `Comparison.to_dict`."""
    before, after = (f"{100 * checked[when]['f1']:.2f}" for when in ("before", "after"))
    figure = f"the same, {after}" if after == before else f"{after} instead of {before}"
    return f"{how}, its F1 on `{checked['source']}` ({checked['documents']} documents) is {figure}."


def _parser_line(config: Config) -> str:
    """The parser that the model needs, if it uses syntax."""
    if not config.syntax.needed:
        return ""
    return f"\n\nIt uses dependency trees: the parser `{_public_parser(config)}` must be installed."


def _public_parser(config: Config) -> str:
    kind, argument = parser_spec(config.syntax.parser)
    return str(ParserSpec(kind, argument if kind == "corenlp" else public_name(argument)))


def _figure_lines(figures: Figures) -> Iterator[str]:
    if not figures:
        yield "None recorded. `disconer evaluate GOLD --model FOLDER` computes them."
        return
    yield "An entity is correct if its label and all its fragments are."
    yield ""
    yield "| split | entities | gold | precision | recall | F1 |"
    yield "|---|---|---:|---:|---:|---:|"
    for split, measured in figures.items():
        yield _figure_row(split, "all", measured["overall"])
        for kind in Kind:
            counts = measured["kinds"][kind.value]
            if counts["gold"] or counts["predicted"]:
                yield _figure_row("", kind.value, counts)


def _figure_row(split: str, which: str, counts: Mapping[str, float]) -> str:
    ratios = (f"{100 * counts[name]:.2f}" for name in ("precision", "recall", "f1"))
    return f"| {split} | {which} | {counts['gold']:,} | {' | '.join(ratios)} |"
