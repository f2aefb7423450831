"""What is installed, and what to install for more. The core of disconer runs without the packages of its extras."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from disconer.core.errors import DisconerError

TRAIN = ("torch", "transformers", "accelerate")


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not."""
    return find_spec(package) is not None


def require(what: str, extra: str, packages: Sequence[str]) -> None:
    """Refuse what needs the packages of an extra where one is missing. what: as the subject of a sentence."""
    if missing := [package for package in packages if not is_installed(package)]:
        raise DisconerError(
            f"{what} needs packages that are not installed: {', '.join(missing)}",
            fix=f"Install them: pip install 'disconer[{extra}]'.",
        )


def require_training(what: str) -> None:
    require(what, "train", TRAIN)
