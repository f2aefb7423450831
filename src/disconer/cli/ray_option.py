"""`--ray [ADDRESS]`, whose value may be left out."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from typer.core import TyperCommand

from disconer.predict.ray.option import HERE, RAY_OPTION


class RayCommand(TyperCommand):
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
