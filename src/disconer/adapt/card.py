"""The card of an adapted encoder, as README.md beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from disconer.adapt.cache import TokenCache
from disconer.adapt.model import Pretrained
from disconer.adapt.result import AdaptResult
from disconer.config.yaml_text import format_yaml
from disconer.nn.encoders.transformer.case import Case
from disconer.store.card import public_name

_CARD = Template("""\
---
library_name: transformers
pipeline_tag: fill-mask
tags: [disconer, domain-adaptation]
---

# Encoder: $base, adapted

`$base` after more training on unlabelled text, by guessing masked pieces. To train a recogniser on it,
name this folder in a configuration of disconer:

```yaml
encoder:
  name: FOLDER
```

or in Python: `transformers.AutoModel.from_pretrained("FOLDER")`.$words$case

## Text

$texts

$n_documents documents, $n_pieces pieces; $n_held_out more documents were held out to measure on.

What may be done with the encoder also depends on the licences of the text and of `$base`. An encoder may betray
what it learnt from: do not pass on one that was adapted to patients' records without asking who answers for them.

## Figures

| | |
|---|---:|
| perplexity of text held out, before | $before |
| perplexity of text held out, after | $after |
| loss over the last steps, nats a guessed piece | $loss |
| steps | $steps |
| pieces read | $pieces |
| passes over the text | $epochs |

$about_before

## How it was made

disconer $version, `disconer adapt`, with these settings:

```yaml
$settings```
""")
_NEW = """\
`$base` came without the layer that guesses pieces. A new one began at random, so that the perplexity
before is chance and says nothing about the encoder."""

_WORDS = """

$n words that the tokenizer of `$base` breaks up have a piece of their own: `adaptation/words.txt`."""
_CASES = ", ".join(f"{case.value} {case.name.lower()}" for case in Case)
_CASE = f"""

It sees capitals, though its tokenizer drops them: the token type of a piece says how it is written
({_CASES}). disconer tells it so by itself; transformers wants it as `token_type_ids`."""


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
        n_pieces=f"{len(cache.train):,}",
        n_held_out=f"{cache.held_out.n_documents:,}",
        before=_figure(result.perplexity_before),
        after=_figure(result.perplexity_after),
        loss=f"{result.loss:.3f}",
        steps=f"{result.steps:,}",
        pieces=f"{result.pieces:,}",
        epochs=f"{result.epochs:.2f}",
        about_before=about or "Perplexity is that of pieces masked as in training.",
        version=version,
        settings=format_yaml(dict(settings)),
    )


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.2f}"
