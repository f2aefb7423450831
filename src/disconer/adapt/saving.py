"""The output of an adaptation: the encoder as an ordinary transformers folder, its card, its loss curve."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from disconer.adapt.cache import TokenCache
from disconer.adapt.model import MaskedModel, Pretrained
from disconer.adapt.settings import AdaptResult
from disconer.config.load import format_yaml
from disconer.core.files import replace_file
from disconer.nn.encoders.transformer import Case
from disconer.nn.encoders.transformer.pretrained import quiet
from disconer.render.report.plots import Axis, Series, plot
from disconer.render.stylesheet import escaped, themes
from disconer.store.card import public_name

CONFIG = "config.json"
READABLE = 0o644


def save_encoder(model: MaskedModel, tokenizer: Any, folder: Path) -> None:
    """Write encoder, head and tokenizer. config.json, by which an encoder is found, is written last."""
    with tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder) as staging, quiet():
        with model.as_language_model() as language_model:
            language_model.save_pretrained(staging)
        tokenizer.save_pretrained(staging)
        config = Path(staging) / CONFIG
        settings = json.loads(config.read_bytes())
        settings.pop("_name_or_path", None)  # a path of this machine
        config.unlink()
        for file in sorted(Path(staging).iterdir()):
            file.chmod(READABLE)  # some are written readable by the owner only
            os.replace(file, folder / file.name)
    replace_file(folder / CONFIG, json.dumps(settings, indent=2, ensure_ascii=False).encode())


_CARD = Template("""\
---
library_name: transformers
pipeline_tag: fill-mask
tags: [disconer, domain-adaptation]
---

# Encoder: $base, adapted

`$base` after continued pretraining on unlabelled text, with masked language modelling. To train a recogniser
on it, name this folder in a configuration of disconer:

```yaml
encoder:
  name: FOLDER
```

or in Python: `transformers.AutoModel.from_pretrained("FOLDER")`.$words$case

## Text

$texts

$n_documents documents, $n_subwords subwords; $n_held_out more documents were held out to measure perplexity.

The licences of the text and of `$base` also apply to the encoder. An encoder may reveal its training text: do not
share one that was adapted to patient records without permission of those responsible for them.

## Metrics

| | |
|---|---:|
| held-out perplexity, before | $before |
| held-out perplexity, after | $after |
| loss over the last steps, nats per masked subword | $loss |
| steps | $steps |
| subwords read | $subwords |
| epochs | $epochs |

$about_before

## How it was made

disconer $version, `disconer adapt`, with these settings:

```yaml
$settings```
""")
_NEW = """\
`$base` has no masked-language-model head. A new one was initialised randomly, so the perplexity before
says nothing about the encoder."""

_WORDS = """

$n words were added to the vocabulary of `$base`: `adaptation/words.txt`."""
_CASES = ", ".join(f"{case.value} {case.name.lower()}" for case in Case)
_CASE = f"""

It reads letter case, although its tokenizer drops it: the token type of a subword is its case
({_CASES}). disconer sets it automatically; in transformers, pass it as `token_type_ids`."""


def encoder_card(
    *,
    base: str,
    texts: Sequence[str],
    cache: TokenCache,
    pretrained: Pretrained,
    result: AdaptResult,
    settings: Mapping[str, Any],
    version: str,
) -> str:
    """The text of README.md."""
    base = public_name(base)
    about = _NEW.replace("$base", base) if result.new_head and result.perplexity_before is not None else ""
    n_words = pretrained.n_new_words
    return _CARD.substitute(
        base=base,
        words=Template(_WORDS).substitute(n=f"{n_words:,}", base=base) if n_words else "",
        case=_CASE if pretrained.reads_case else "",
        texts="\n".join(f"- `{public_name(text)}`" for text in texts),
        n_documents=f"{cache.train.n_documents:,}",
        n_subwords=f"{len(cache.train):,}",
        n_held_out=f"{cache.held_out.n_documents:,}",
        before=_figure(result.perplexity_before),
        after=_figure(result.perplexity_after),
        loss=f"{result.loss:.3f}",
        steps=f"{result.steps:,}",
        subwords=f"{result.subwords:,}",
        epochs=f"{result.epochs:.2f}",
        about_before=about or "Perplexity is that of subwords masked as in training.",
        version=version,
        settings=format_yaml(dict(settings)),
    )


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.2f}"


N_TICKS = 5
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disconer: adaptation</title>
<style>
{style}</style>
</head>
<body>
<h1>Adaptation</h1>
<p class="facts">{facts}</p>
<div class="plots">
{plots}
</div>
</body>
</html>
"""


def curve_page(history: Sequence[Mapping[str, Any]], facts: Mapping[str, str]) -> str:
    """A page with the loss and the learning rate by step.

    history: records with step, loss and rate, as in metrics.jsonl.
    facts: encoder, text and results.
    """
    style = themes(":root") + files("disconer.render.report").joinpath("page.css").read_text("utf-8")
    listed = " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in facts.items())
    plots = [_by_step("Loss", "nats per masked subword", "loss", history), _by_step("Rate", "rate", "rate", history)]
    return _PAGE.format(style=style, facts=listed, plots="\n".join(plots))


def _by_step(title: str, name: str, key: str, history: Sequence[Mapping[str, Any]]) -> str:
    points = [(float(record["step"]), float(record[key])) for record in history]
    steps, values = zip(*points, strict=True)
    x = _axis("step", 0.0, max(steps))
    y = _axis(name, 0.0 if key == "rate" else min(values), max(values))
    return plot(title, x, y, [Series(key, points)])


def _axis(name: str, low: float, high: float) -> Axis:
    """An axis with round ticks."""
    step = _round_step((high - low) / N_TICKS)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return Axis(name, first * step, last * step, [number * step for number in range(first, last + 1)])


def _round_step(rough: float) -> float:
    """The next 1, 2 or 5 times a power of ten.

    >>> _round_step(0.13), _round_step(30.0)
    (0.2, 50.0)
    """
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
