"""The command `disconer`: one file per subcommand, each a thin `x_cli` over a plain function.

May import everything, but heavy imports happen only when a subcommand runs, so `disconer --help` is fast.
"""

from __future__ import annotations

import os
import sys
import warnings
from io import TextIOWrapper
from itertools import zip_longest
from typing import Annotated, Any, TextIO

import typer

from disconer.cli.adapt import adapt_cli
from disconer.cli.agree import agree_cli
from disconer.cli.annotate import annotate_cli
from disconer.cli.bench import bench_cli
from disconer.cli.check import check_cli
from disconer.cli.commands import Command, Group, OutputCommand
from disconer.cli.convert import convert_cli
from disconer.cli.demo import demo_cli
from disconer.cli.evaluate import evaluate_cli
from disconer.cli.experiment import experiment_cli
from disconer.cli.export import export_cli
from disconer.cli.formats import formats_cli
from disconer.cli.init import init_cli
from disconer.cli.merge import merge_cli
from disconer.cli.models import models_cli
from disconer.cli.parse import parse_cli
from disconer.cli.predict import predict_cli
from disconer.cli.prepare import PrepareCommand, prepare_cli
from disconer.cli.render import render_cli
from disconer.cli.serve import serve_cli
from disconer.cli.stats import stats_cli
from disconer.cli.suggest import suggest_cli
from disconer.cli.train import train_cli
from disconer.core.errors import DisconerError, DisconerWarning
from disconer.core.files import full_disk, is_full
from disconer.core.version import __version__
from disconer.predict.ray.plan import HERE, RAY_OPTION


class RayCommand(Command):
    """A command that takes `--ray` with and without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_address(args))


def with_address(arguments: list[str]) -> list[str]:
    """The arguments, with an address after each `--ray` that has none.

    >>> with_address(["--ray", "--model", "chia"])
    ['--ray', 'local', '--model', 'chia']
    >>> with_address(["--ray", "head:6379"])
    ['--ray', 'head:6379']
    """
    completed: list[str] = []
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue="-"):
        completed.append(argument)
        if argument == RAY_OPTION and following.startswith("-"):
            completed.append(HERE)
    return completed


app = typer.Typer(
    name="disconer",
    help="Named entity recognition for entities of every shape: regular, overlapped and discontinuous.",
    no_args_is_help=True,
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("predict", cls=RayCommand, rich_help_panel="Find entities")(predict_cli)
app.command("serve", cls=RayCommand, rich_help_panel="Find entities")(serve_cli)
app.command("render", cls=Command, rich_help_panel="Find entities")(render_cli)
app.command("suggest", cls=OutputCommand, rich_help_panel="Find entities")(suggest_cli)
app.command("merge", cls=Command, rich_help_panel="Find entities")(merge_cli)
app.command("convert", cls=OutputCommand, rich_help_panel="Data")(convert_cli)
app.command("formats", cls=Command, rich_help_panel="Data")(formats_cli)
app.command("stats", cls=Command, rich_help_panel="Data")(stats_cli)
app.command("check", cls=Command, rich_help_panel="Data")(check_cli)
app.command("agree", cls=Command, rich_help_panel="Data")(agree_cli)
app.command("prepare", cls=PrepareCommand, rich_help_panel="Data")(prepare_cli)
app.command("parse", cls=OutputCommand, rich_help_panel="Data")(parse_cli)
app.command("annotate", cls=Command, rich_help_panel="Data")(annotate_cli)
app.command("init", cls=Command, rich_help_panel="Training")(init_cli)
app.command("train", cls=Command, rich_help_panel="Training")(train_cli)
app.command("evaluate", cls=Command, rich_help_panel="Training")(evaluate_cli)
app.command("experiment", cls=Command, rich_help_panel="Training")(experiment_cli)
app.command("adapt", cls=OutputCommand, rich_help_panel="Training")(adapt_cli)
app.command("models", cls=Command, rich_help_panel="Models")(models_cli)
app.command("demo", cls=Command, rich_help_panel="Models")(demo_cli)
app.command("export", cls=OutputCommand, rich_help_panel="Models")(export_cli)
app.command("bench", cls=Command, rich_help_panel="Models")(bench_cli)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"disconer {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    del version, debug  # both are handled before any subcommand: see `_show_version` and `main`


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print our own warnings as one plain line; others keep their file and line number."""
    place = "" if issubclass(category, DisconerWarning) else f"{filename}:{lineno}: {category.__name__}: "
    print(f"warning: {place}{message}", file=file or sys.stderr)


def main() -> None:
    """Run the command line. An error that the user can fix is one paragraph and exit code 1."""
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a lone surrogate in a label is escaped, not a crash
    if "--debug" in sys.argv[1:]:
        app()
        return
    try:
        app()
    except DisconerError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output closed the pipe (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (OSError, MemoryError) as error:
        said = full_disk(getattr(error, "filename", None)) if is_full(error) else error
        print(f"error: {said or type(error).__name__}", file=sys.stderr)
        sys.exit(1)
