"""A study: a YAML file with axes (corpora, heads, seeds, …), whose combinations are training runs.

name: heads
defaults: {training.epochs: 14}        # settings of all runs, as --set takes them; `config` is a preset or file
axes:
  corpus: {chia: {config: chia}, genia: {config: genia}}
  head: {grid: , tagger: {head.kind: tagger}}
  share: [0.1, 1]                      # data.share
  seed: [1, 2, 3]                      # training.seed
adjust:                                # settings of the runs that a rule matches
- {when: {corpus: genia, head: bio}, set: {training.epochs: 10}}
only: [{share: 1}, {head: grid}]       # runs that match one of these rules; without rules, all
skip: [{corpus: genia, share: 0.1}]    # but none that matches one of these
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from disconer.config import Config, ConfigError, load_config
from disconer.config.knobs import Key, Problem
from disconer.config.load import parse_yaml
from disconer.core.errors import DisconerError, Where
from disconer.formats.source import decode

CORPUS, SHARE, SEED = "corpus", "share", "seed"
CONFIG = "config"  # among settings: the preset or file that they are set on
_LISTS = {SHARE: "data.share", SEED: "training.seed"}  # axes that are lists of numbers, and what they set
_KEYS = ("name", "about", "defaults", "axes", "adjust", "only", "skip")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\Z")  # a folder is named after it

Settings = Mapping[str, Any]
Rule = Mapping[str, frozenset[str]]  # the names of each axis that match; axes that are not here match always
Values = Mapping[str, str]  # the name of a run's value on each axis


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run. values: its place in the matrix. config, overrides: the arguments of `disconer train`."""

    values: Values
    config: str
    overrides: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its folder, too."""
        return "/".join(self.values.values())

    @property
    def cell(self) -> str:
        """The name that runs share if they differ only in their seed."""
        return "/".join(value for axis, value in self.values.items() if axis != SEED)

    def load(self) -> Config:
        return load_config(self.config, self.overrides)


@dataclass(frozen=True, slots=True)
class Study:
    """A study, read from its file. folder: that of the file, from where other files are named."""

    name: str
    about: str
    defaults: Settings
    axes: Mapping[str, Mapping[str, Settings]]
    adjust: Sequence[tuple[Rule, Settings]]
    only: Sequence[Rule]
    skip: Sequence[Rule]
    folder: Path

    def runs(self) -> list[PlannedRun]:
        """All runs, the first axis outermost."""
        places = (dict(zip(self.axes, names, strict=True)) for names in product(*self.axes.values()))
        return [self._run(values) for values in places if self._is_wanted(values)]

    def _is_wanted(self, values: Values) -> bool:
        wanted = not self.only or any(_matches(rule, values) for rule in self.only)
        return wanted and not any(_matches(rule, values) for rule in self.skip)

    def _run(self, values: Values) -> PlannedRun:
        settings = dict(self.defaults)
        for axis, name in values.items():
            settings |= self.axes[axis][name]
        for rule, adjusted in self.adjust:
            if _matches(rule, values):
                settings |= adjusted
        config = settings.pop(CONFIG, None)
        if config is None:
            raise DisconerError(
                f"The run {'/'.join(values.values())} has no configuration to start from",
                fix=f"Give `{CONFIG}`, a preset or a file, in defaults or with a value of an axis.",
            )
        return PlannedRun(values, self._place(str(config)), tuple(map(_override, settings.items())))

    def _place(self, config: str) -> str:
        """A file beside the study goes before a preset."""
        return str(self.folder / config) if (self.folder / config).is_file() else config


def _matches(rule: Rule, values: Values) -> bool:
    return all(values[axis] in names for axis, names in rule.items())


def _override(setting: tuple[str, Any]) -> str:
    """
    >>> _override(("head.kind", "tagger")), _override(("syntax.gcn", None)), _override(("head.dilations", [1, 2]))
    ('head.kind=tagger', 'syntax.gcn=null', 'head.dilations=[1, 2]')
    """
    name, value = setting
    return f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


def load_study(path: Path) -> Study:
    """Read a study; all problems of the file at once."""
    if not path.is_file():
        raise DisconerError("There is no such study", where=Where(str(path)), expected="a YAML file")
    parsed = parse_yaml(decode(path.read_bytes(), str(path)))
    reader = _Reader(parsed.lines, list(parsed.problems))
    values = reader.mapping(parsed.values, ())
    for key in values.keys() - set(_KEYS):
        reader.problem((key,), f"unknown key; {_meant(key, _KEYS)}")
    axes = {
        str(axis): reader.axis(str(axis), given)
        for axis, given in reader.mapping(values.get("axes"), ("axes",)).items()
    }
    if not axes and not reader.problems:
        reader.problem((), "there are no axes: give at least one, such as seed: [1, 2, 3]")
    study = Study(
        name=str(values.get("name") or path.stem),
        about=str(values.get("about") or ""),
        defaults=reader.settings(values.get("defaults"), ("defaults",)),
        axes=axes,
        adjust=list(reader.adjustments(values.get("adjust"), axes)),
        only=list(reader.rules("only", values.get("only"), axes)),
        skip=list(reader.rules("skip", values.get("skip"), axes)),
        folder=path.parent,
    )
    if reader.problems:
        raise ConfigError(reader.problems, str(path))
    return study


class _Reader:
    """Checks the parts of a study, and collects their problems."""

    def __init__(self, lines: Mapping[Key, int], problems: list[Problem]) -> None:
        self._lines, self.problems = lines, problems

    def problem(self, key: Key, what: str) -> None:
        line = next((self._lines[key[:size]] for size in range(len(key), -1, -1) if key[:size] in self._lines), None)
        self.problems.append(Problem(key, what, f"line {line}" if line else None))

    def mapping(self, value: Any, key: Key) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            self.problem(key, "expected names and their values (name: value)")
            return {}
        return value or {}

    def sequence(self, value: Any, key: Key) -> list[Any]:
        if value is not None and not isinstance(value, list):
            self.problem(key, "expected a list")
            return []
        return value or []

    def settings(self, value: Any, key: Key) -> Settings:
        """Settings by dotted name. Sections are refused: they would replace all of a section."""
        found = self.mapping(value, key)
        for name, one in found.items():
            if isinstance(one, dict):
                self.problem((*key, name), f"expected single settings, such as {name}.{next(iter(one), 'kind')}: …")
            elif name != CONFIG and "." not in name:
                self.problem((*key, name), f"expected {CONFIG}, or a setting such as head.kind")
        return found

    def axis(self, axis: str, value: Any) -> Mapping[str, Settings]:
        key = ("axes", axis)
        if axis in _LISTS:
            found = {_name(one): {_LISTS[axis]: one} for one in self.sequence(value, key)}
        else:
            named = self.mapping(value, key)
            found = {name: dict(self.settings(one, (*key, name))) for name, one in named.items()}
        if not found:
            self.problem(key, "this axis has no values")
        for name in found:
            if not _NAME.match(name):
                self.problem((*key, name), "a name needs letters, digits, dots, + and -: a folder is named after it")
        return found

    def adjustments(self, value: Any, axes: Mapping[str, Mapping[str, Settings]]) -> Iterator[tuple[Rule, Settings]]:
        for number, one in enumerate(self.sequence(value, ("adjust",))):
            key: Key = ("adjust", number)
            given = self.mapping(one, key)
            if given.keys() != {"when", "set"}:
                self.problem(key, "expected `when`, a rule, and `set`, the settings of the runs that match it")
            yield self.rule(given.get("when"), (*key, "when"), axes), self.settings(given.get("set"), (*key, "set"))

    def rules(self, name: str, value: Any, axes: Mapping[str, Mapping[str, Settings]]) -> Iterator[Rule]:
        for number, one in enumerate(self.sequence(value, (name,))):
            yield self.rule(one, (name, number), axes)

    def rule(self, value: Any, key: Key, axes: Mapping[str, Mapping[str, Settings]]) -> Rule:
        """A rule is `axis: name` or `axis: [names]`; all of its axes must match."""
        found = {}
        for axis, given in self.mapping(value, key).items():
            names = [_name(one) for one in (given if isinstance(given, list) else [given])]
            if axis not in axes:
                self.problem((*key, axis), f"there is no such axis; {_meant(axis, tuple(axes))}")
                continue
            for name in names:
                if name not in axes[axis]:
                    self.problem((*key, axis), f"there is no {axis} {name}; {_meant(name, tuple(axes[axis]))}")
            found[axis] = frozenset(names)
        return found


def _name(value: Any) -> str:
    """
    >>> _name(1.0), _name(0.02), _name("bio")
    ('1', '0.02', 'bio')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def _meant(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
