"""How commands present themselves: help that reads well at any width, and one way to name an output."""

from __future__ import annotations

from collections.abc import Collection
from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand, TyperGroup

from disconer.core.errors import BadInput
from disconer.formats import names_of_formats


class Command(TyperCommand):
    """A command with readable help: whole paragraphs, no type for flags, and the formats where one can be chosen."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.help = whole_paragraphs(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        return without_types_of_flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as error:
            if "--skip-bad" in str(error.fix) and "--skip-bad" not in self._flags():
                raise self._without_skipping(error) from error
            raise

    def _without_skipping(self, error: BadInput) -> BadInput:
        """The error, with advice that can be followed: this command cannot skip invalid input."""
        fix = (
            f"{error.fix} `disconer {self.name}` does not have this option: `disconer convert SRC COPY --skip-bad` "
            "writes a copy to use instead."
        )
        return error.changed(fix=fix)

    def _flags(self) -> set[str]:
        return {flag for parameter in self.params for flag in parameter.opts}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        flags = self._flags()
        if flags & {"--from", "--to"} and self.epilog is None:
            self.epilog = f"Formats: {_formats(flags)}. `disconer formats` describes them."
        super().format_help(ctx, formatter)


def _formats(flags: Collection[str]) -> str:
    """The formats that a command with these options can read or write."""
    readable, writable = names_of_formats()
    if "--to" not in flags:
        return ", ".join(readable)
    if "--from" not in flags:
        return ", ".join(writable)
    both = [name for name in readable if name in writable]
    only = (("read", readable), ("write", writable))
    listed = [f"only to {verb}: {', '.join(name for name in names if name not in both)}" for verb, names in only]
    return "; ".join([", ".join(both), *listed])


class Group(TyperGroup):
    """The command `disconer` itself, likewise."""

    def get_params(self, ctx: Any) -> list[Any]:
        return without_types_of_flags(super().get_params(ctx))


class OutputCommand(Command):
    """A command whose last argument is its output, which may also be named with --out or -o, as everywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, output_last(args))


def output_last(arguments: list[str]) -> list[str]:
    """The arguments, with the value of --out or -o moved to the end.

    >>> output_last(["notes", "-o", "notes.jsonl", "--force"])
    ['notes', '--force', 'notes.jsonl']
    >>> output_last(["notes", "--out=notes.jsonl"])
    ['notes', 'notes.jsonl']
    """
    rest: list[str] = []
    named: list[str] = []
    left = iter(arguments)
    for argument in left:
        flag, equals, value = argument.partition("=")
        if flag in ("--out", "-o"):
            named.append(value if equals else next(left, ""))
        else:
            rest.append(argument)
    return [*rest, *filter(None, named)]


def whole_paragraphs(text: str | None) -> str | None:
    """Help without line breaks inside paragraphs: the terminal breaks lines where it must."""
    if text is None:
        return None
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
