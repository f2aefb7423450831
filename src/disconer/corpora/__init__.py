"""Benchmark corpora: from the official distribution to a `Corpus` with the literature's splits.

One module per corpus, which declares its own options; other packages add recipes under the entry-point group
`disconer.corpora`. May import `core`, `text` and `formats`. No torch.
"""

from __future__ import annotations

from disconer.core.plugins import Registry
from disconer.corpora.recipe import Option, Recipe

RECIPES: Registry[Recipe] = Registry(
    "disconer.corpora",
    {
        "cadec": "disconer.corpora.cadec:RECIPE",
        "clef": "disconer.corpora.clef:CLEF",
        "clef-dis": "disconer.corpora.clef:CLEF_DIS",
        "ace05": "disconer.corpora.ace05:RECIPE",
        "genia": "disconer.corpora.genia:RECIPE",
        "craft": "disconer.corpora.craft:RECIPE",
        "chia": "disconer.corpora.chia:RECIPE",
        "phee": "disconer.corpora.phee:RECIPE",
        "psytar": "disconer.corpora.psytar:RECIPE",
    },
    what="recipe for a corpus",
)


def recipe_named(name: str) -> Recipe:
    """The recipe of the corpus called `name`."""
    return RECIPES.get(name)


__all__ = ["RECIPES", "Option", "Recipe", "recipe_named"]
