"""`disconer prepare`: a benchmark corpus from its official distribution. Each recipe brings its own options."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Annotated, Any

import typer

from disconer.cli.commands import OutputCommand
from disconer.cli.console import report
from disconer.core.errors import DisconerError
from disconer.corpora import RECIPES, Option, Recipe, recipe_named

_OPTIONS = "disconer.options"  # the key under which a context stores the recipe's options


class PrepareCommand(OutputCommand):
    """A command that accepts the options of the recipe on its command line, and without arguments lists all recipes.

    Recipes are only loaded for this command: others start without them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            print("\n\n".join(map(_in_words, _recipes())))
            ctx.exit()
        recipe = _recipe_on(args)
        self.epilog = "\n\n".join(map(_in_words, [recipe] if recipe else _recipes())) if _HELP & set(args) else None
        known = {flag for parameter in self.params for flag in parameter.opts if flag.startswith("--")} | _HELP
        rest, ctx.meta[_OPTIONS] = _take_options(recipe, args, known) if recipe else (args, {})
        return super().parse_args(ctx, rest)


_HELP = {"-h", "--help"}


def _recipes() -> Iterator[Recipe]:
    return (recipe for _, recipe in RECIPES.loadable())


def _recipe_on(args: Sequence[str]) -> Recipe | None:
    return next((recipe_named(arg) for arg in args if arg in RECIPES), None)


def _take_options(recipe: Recipe, args: Sequence[str], known: Set[str]) -> tuple[list[str], dict[str, str]]:
    """A command line without the options of the recipe, and the values of these.

    known: the options that every recipe has.
    """
    own = {f"--{option.name}": option for option in recipe.options}
    rest: list[str] = []
    given: dict[str, str] = {}
    left = iter(args)
    for arg in left:
        flag, assigned, value = arg.partition("=")
        if flag in own:
            given[own[flag].name] = value if assigned else next(left, "")
        elif flag.startswith("--") and flag not in known:
            listed = [*map(_shown, recipe.options), *sorted(known - {"-h"})]
            raise DisconerError(f"The recipe {recipe.name!r} has no option {flag}", expected=", ".join(listed))
        else:
            rest.append(arg)
    return rest, given


def _shown(option: Option) -> str:
    return f"--{option.name} {'|'.join(option.choices)}"


def _in_words(recipe: Recipe) -> str:
    options = "".join(
        f" Option {_shown(option)}: {option.help}; default {option.default}." for option in recipe.options
    )
    return f"{recipe.name}: {recipe.about}. SOURCE is {recipe.source}.{options}"


def prepare_cli(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus; `disconer prepare` alone lists them.")],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The original distribution: a folder or archive.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; also as -o OUT.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[
        bool, typer.Option("--force", "--overwrite", help="Replace OUT if it was prepared before.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print prepared.json.")] = False,
) -> None:
    """Turn the official distribution of a corpus into train.jsonl, dev.jsonl and test.jsonl, split as in papers.

    Some corpora have options of their own: see `disconer prepare NAME --help`.

    Prints statistics of each split, like the paper's Table 1, and saves them in prepared.json.
    """
    from disconer.corpora.prepare import prepare

    prepared = prepare(name, source, out, options=ctx.meta[_OPTIONS], skip_bad=skip_bad, force=force)
    print(json.dumps(prepared.to_dict(), ensure_ascii=False) if as_json else prepared.table())
    if note := prepared.note():
        print(f"note: {note}", file=sys.stderr)
    report(prepared.ledger)
