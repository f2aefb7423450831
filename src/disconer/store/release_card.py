"""The card (README.md) of a released model: what a user has to know before using it. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any

from disconer.config import Config
from disconer.core.types import Kind
from disconer.evaluate.evaluation import Spread
from disconer.nn.heads.kind import kind_of
from disconer.store.card import card_settings, limits_in_words, public_name, start_in_words

Release = Mapping[str, Any]  # as written by `release.record_release`

_CARD = Template("""\
---
library_name: disconer
pipeline_tag: token-classification
language: en
license: mit
tags: [named-entity-recognition, discontinuous-entities, overlapped-entities]
---

# $name: $title

$finds

Regular, overlapped and discontinuous entities, with character offsets and scores. $export

**Not a medical device.** Do not base decisions about a patient's care on its output without reading the text.

## How to use

It is bundled with disconer and works offline:

```
disconer predict --model $name --text "$example"
```

```python
from disconer import Recognizer

ner = Recognizer.from_pretrained("$name")
document = ner("$example")
for entity in document.entities:
    print(entity.label, entity.text, entity.fragments, entity.score)
```

## Intended use

$use

## Labels

| label | |
|---|---|
$labels

## Figures

An entity is correct if its label and all its fragments are, to the character. $basis
Settings, epoch and seed were chosen on dev alone.

$figures

## Scores

A score is the probability that label and fragments are all correct. On dev, where the scores were calibrated, the
expected calibration error is $dev_error; on test, $test_error. This model's predictions on test:

| score | mean score | % correct | predictions |
|---|---:|---:|---:|
$calibration

## Limits

$limits

## Data

$data

The model is under disconer's licence, MIT. Its data is under $licence: name its source if you redistribute the model.
The card of `$encoder` lists the encoder's training data and its licences.

```bibtex
$citation
```

## How it was made

disconer $version on the encoder `$encoder`$start, with the head `$head` ($about):

```
$commands
```

with these settings:

```yaml
$settings```

## Size and speed

$size_and_speed
""")


def release_card(release: Release, *, config: Config, version: str, export: str | None, size: int | None) -> str:
    """The text of README.md.

    export: how it is stored. size: of its weights, in bytes, if they are already written.
    """
    figures = release["figures"]
    return _CARD.substitute(
        {name: release[name].strip() for name in ("name", "title", "finds", "example", "use", "data", "citation")},
        licence=release["licence"],
        commands=release["commands"].strip(),
        export=export or "",
        labels="\n".join(f"| `{label}` | {meaning} |" for label, meaning in release["labels"].items()),
        basis=_basis(release["seeds"], config.training.seed),
        figures="\n\n".join(
            "\n".join(_figure_lines(split, found["rows"], of_several=len(release["seeds"]) > 1))
            for split, found in figures.items()
        ),
        dev_error=_spread(figures["dev"]["calibration"]["error"]),
        test_error=_spread(figures["test"]["calibration"]["error"]),
        calibration="\n".join(_calibration_lines(figures["test"]["calibration"]["bins"])),
        limits="\n".join(f"- {limit}" for limit in _limits(release, config)),
        version=version,
        encoder=public_name(config.encoder.name),
        start=start_in_words(config),
        head=config.head.kind,
        about=kind_of(config.head).about,
        settings=card_settings(config),
        size_and_speed=" ".join(_size_and_speed(size, release["speed"])),
    )


def _basis(seeds: Sequence[int], own: int) -> str:
    """What the metrics are of: of several runs, or of this model alone."""
    if len(seeds) == 1:
        return f"F1, precision and recall are those of\nthis model, of seed {own}, in per cent."
    return (
        "F1, precision and recall are means and\n"
        f"sample standard deviations over {len(seeds)} seeds ({', '.join(map(str, seeds))}), in per cent; "
        f"the last column is this model, of seed {own}."
    )


def _limits(release: Release, config: Config) -> Iterator[str]:
    """Limits from its authors, its metrics and its settings."""
    yield from release["limits"]
    rows = release["figures"]["test"]["rows"]
    [share] = [row["recall"][0] for row in rows if (row["of"], row["name"]) == ("kinds", Kind.DISCONTINUOUS.value)]
    whose = " (mean over seeds)" if len(release["seeds"]) > 1 else ""
    yield f"Of the discontinuous entities of test, {100 * share:.0f} % are found{whose}."
    yield "Text unlike the training data (another language, field or style) gives worse results than these metrics."
    yield limits_in_words(config, tuple(release["labels"]))
    if config.encoder.context:
        yield (
            "Neighbouring sentences are read together: alone or in another text, the same sentence may get other "
            "entities."
        )


def _size_and_speed(size: int | None, speed: str) -> Iterator[str]:
    if size is not None:
        yield f"{size / 1e6:.1f} MB of weights."
    if speed:
        yield speed


def _figure_lines(split: str, rows: Sequence[Mapping[str, Any]], *, of_several: bool) -> Iterator[str]:
    """of_several: metrics are means over several runs, so the model's own F1 is shown beside them."""
    yield f"| {split} | gold | precision | recall | F1 |" + " this model |" * of_several
    yield "|---|---:|---:|---:|---:|" + "---:|" * of_several
    for row in rows:
        name = f"`{row['name']}`" if row["of"] == "labels" else row["name"].replace("overall", "**all**")
        ratios = " | ".join(_spread(row[ratio]) for ratio in ("precision", "recall", "f1"))
        yield f"| {name} | {row['gold']:,} | {ratios} |" + f" {100 * row['own_f1']:.1f} |" * of_several


def _calibration_lines(bins: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for bin in bins:
        if bin["count"]:
            ratios = f"{100 * bin['mean_score']:.1f} | {100 * bin['share_right']:.1f}"
            yield f"| {bin['low']:.1f} to {bin['high']:.1f} | {ratios} | {bin['count']:,} |"


def _spread(figures: Sequence[float | None]) -> str:
    mean, deviation = figures
    assert mean is not None
    return str(Spread(mean, deviation, 0))
