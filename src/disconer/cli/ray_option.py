"""`--ray [ADDRESS]`, whose value may be left out, and the check that Ray is installed."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import zip_longest
from typing import Any

from typer.core import TyperCommand

from disconer.errors import DisconerError

RAY_OPTION = "--ray"
HERE = "local"  # stands for an address: a Ray of its own on this machine


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


def check_ray_installed(*packages: str) -> None:
    """packages: what is needed beside Ray itself."""
    missing = [name for name in ("ray", *packages) if find_spec(name) is None]
    if missing:
        raise DisconerError(
            f"{RAY_OPTION} needs packages that are not installed: {', '.join(missing)}",
            fix="Install them: pip install 'disconer[ray]'.",
        )
