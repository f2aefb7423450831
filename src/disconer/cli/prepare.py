"""`disconer prepare`: a benchmark corpus from its official distribution."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from disconer.cli.console import report
from disconer.corpora import NAMES, recipe_named


class PrepareCommand(TyperCommand):
    """A command whose help lists the recipes. They are loaded only for that: other commands start without them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.epilog = "\n\n".join(_in_words(name) for name in NAMES)
        super().format_help(ctx, formatter)


def _in_words(name: str) -> str:
    recipe = recipe_named(name)
    options = "".join(
        f" Option --{option.name}: {' or '.join(option.values)} ({option.help})." for option in recipe.options
    )
    return f"{name}: {recipe.about}. SOURCE is {recipe.source}.{options}"


def prepare_cli(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"The corpus: {', '.join(NAMES)}.")],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The original distribution: a folder or archive.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write.")],
    types: Annotated[str | None, typer.Option(help="cadec: entity types.")] = None,
    setting: Annotated[str | None, typer.Option(help="genia: version of the benchmark.")] = None,
    sentences: Annotated[str | None, typer.Option(help="clef, clef-dis: sentence splitter.")] = None,
    annotations: Annotated[str | None, typer.Option(help="ace05: annotation stage.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it was prepared before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print prepared.json.")] = False,
) -> None:
    """Turn the official distribution of a corpus into train.jsonl, dev.jsonl and test.jsonl, split as in papers.

    Prints statistics of each split, like the paper's Table 1, and saves them in prepared.json.
    """
    from disconer.corpora.prepare import prepare

    given = {"types": types, "setting": setting, "sentences": sentences, "annotations": annotations}
    options = {option: value for option, value in given.items() if value is not None}
    prepared = prepare(name, source, out, options=options, skip_bad=skip_bad, force=force)
    print(json.dumps(prepared.to_dict(), ensure_ascii=False) if as_json else prepared.table())
    if note := prepared.note():
        print(f"note: {note}", file=sys.stderr)
    report(prepared.ledger)
