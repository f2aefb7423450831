"""Benchmark corpora: from the official distribution to a `Corpus` with the literature's splits.

One module a corpus. May import `core`, `text` and `formats`. No torch.
"""

from __future__ import annotations

from importlib import import_module

from disconer.core.errors import DisconerError
from disconer.corpora.recipe import Option, Recipe

_MODULES: dict[str, str] = {
    "cadec": "cadec",
    "clef": "clef",
    "clef-dis": "clef",
    "ace05": "ace05",
    "genia": "genia",
    "craft": "craft",
    "chia": "chia",
    "phee": "phee",
    "psytar": "psytar",
}

NAMES = tuple(_MODULES)


def recipe_named(name: str) -> Recipe:
    """The recipe of the corpus that people call `name`."""
    if name not in _MODULES:
        raise DisconerError(f"There is no recipe for a corpus {name!r}", expected=f"one of {', '.join(NAMES)}")
    module = import_module(f"disconer.corpora.{_MODULES[name]}")
    recipes: dict[str, Recipe] = getattr(module, "RECIPES", None) or {module.RECIPE.name: module.RECIPE}
    return recipes[name]


__all__ = ["NAMES", "Option", "Recipe", "recipe_named"]
