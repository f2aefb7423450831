"""`disconer models`: the models that can be used by name, with their cards."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Annotated

import typer

from disconer.store.names import KnownModel, card_of, description_of, known_models

MEGABYTE = 1e6
WIDTH = 100  # columns
_INDENT = "  "


def models_cli(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the card of this model (a name or folder).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list or card as JSON.")] = False,
) -> None:
    """List bundled models and your own named models, with their labels and F1.

    Your own models are looked up in disconer's user data folder (~/.local/share/disconer/models on Linux).
    """
    if name is None:
        listed = known_models()
        print(json.dumps([model.to_dict() for model in listed], indent=2) if as_json else "\n\n".join(_listed(listed)))
    elif as_json:
        print(json.dumps(description_of(name), indent=2, ensure_ascii=False))
    else:
        _show_card(card_of(name))


def _listed(models: list[KnownModel]) -> Iterator[str]:
    for model in models:
        yield "\n".join(_lines(model))
    yield "Use one: disconer predict --model NAME. More about one: disconer models NAME."


def _lines(model: KnownModel) -> Iterator[str]:
    facts = [f"{model.size / MEGABYTE:.1f} MB", f"runs in {' and '.join(model.runtimes)}", model.data, model.licence]
    yield f"{model.name}{' (default)' if model.is_default else ''}: {', '.join(fact for fact in facts if fact)}"
    if model.title:
        yield f"{_INDENT}{model.title}"
    yield fill(f"finds {', '.join(model.labels)}", WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    if model.f1:
        yield f"{_INDENT}F1 {_figures(model.f1)}; discontinuous entities alone {_figures(model.discontinuous_f1)}"
    yield f"{_INDENT}{model.folder}"


def _figures(by_split: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * figure:.1f} {split}" for split, figure in by_split.items())


def _show_card(text: str) -> None:
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
