"""What other packages bring: plug-ins (heads, encoders, formats, …) in registries, and the packages of extras.

The core of disconer runs without the packages of its extras.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar, cast

from disconer.core.errors import DisconerError, DisconerWarning

T = TypeVar("T")


class Registry(Generic[T]):
    """Objects by name, imported when first used.

    group: the entry-point group under which other packages add their own.
    built_in: where each built-in object is defined: "package.module:attribute".
    what: the word for one of them in messages.

    Built-in names cannot be replaced.
    """

    def __init__(self, group: str, built_in: Mapping[str, str], *, what: str) -> None:
        self.group, self.what = group, what
        self._built_in = dict(built_in)
        self._loaded: dict[str, T] = {}

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self._built_in}

    @property
    def built_in(self) -> tuple[str, ...]:
        """The built-in names."""
        return tuple(self._built_in)

    def names(self) -> tuple[str, ...]:
        """All names, built-in ones first."""
        return (*self._built_in, *sorted(self._added))

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._added

    def get(self, name: str) -> T:
        """The object of a name."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def loadable(self) -> Iterator[tuple[str, T]]:
        """Every name and object that can be loaded, built-in ones first. Others cause a warning."""
        for name in self.names():
            try:
                yield name, self.get(name)
            except DisconerError as error:
                warnings.warn(str(error), DisconerWarning, stacklevel=2)

    def _load(self, name: str) -> T:
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            return cast(T, getattr(import_module(module), attribute))
        if name in self._added:
            return cast(T, _load_added(self._added[name], self.what))
        close = difflib.get_close_matches(name, self.names(), 1)
        raise DisconerError(
            f"There is no {self.what} {name!r}",
            expected=f"one of {', '.join(self.names())}",
            fix=f"Did you mean {close[0]!r}?" if close else None,
        )


def _load_added(point: EntryPoint, what: str) -> Any:
    package = point.dist.name if point.dist else point.value
    try:
        loaded = point.load()
    except Exception as error:  # other packages may raise anything
        raise DisconerError(
            f"The {what} {point.name!r} of the package {package} cannot be loaded",
            got=f"{type(error).__name__}: {error}",
            fix="Update or uninstall that package.",
        ) from error
    if isinstance(loaded, type):
        raise DisconerError(
            f"The {what} {point.name!r} of the package {package} is a class",
            got=point.value,
            expected="the name of an object of that class",
            fix="Correct the entry point.",
        )
    return loaded


TRAIN = ("torch", "transformers", "accelerate")


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def require(what: str, extra: str, packages: Sequence[str]) -> None:
    """Raise an error if a package of an extra is missing. what: needs it; the subject of the message."""
    if missing := [package for package in packages if not is_installed(package)]:
        raise DisconerError(
            f"{what} needs packages that are not installed: {', '.join(missing)}",
            fix=f"Install them: pip install 'disconer[{extra}]'.",
        )


def require_training(what: str) -> None:
    require(what, "train", TRAIN)
