"""The annotation.conf of a folder, which brat needs to show and edit its entities."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from disconer.core.files import replace_file
from disconer.formats.brat.lines import brat_label
from disconer.formats.source import Source, decode

ANNOTATION_CONF = "annotation.conf"
_CONFIGURATION = ".conf"
_SECTION = re.compile(r"\[[^\[\]]+\]")


def annotation_conf(labels: Iterable[str]) -> str:
    """Entities of these labels, which may overlap.

    >>> print(annotation_conf(["ADR", "Body part"]))
    [entities]
    ADR
    Body_part
    <BLANKLINE>
    [relations]
    <OVERLAP> Arg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>
    <BLANKLINE>
    [events]
    <BLANKLINE>
    [attributes]
    <BLANKLINE>
    """
    entities = "\n".join(dict.fromkeys(map(brat_label, labels)))
    overlap = "<OVERLAP> Arg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"
    return f"[entities]\n{entities}\n\n[relations]\n{overlap}\n\n[events]\n\n[attributes]\n"


def extended_conf(content: str, labels: Iterable[str]) -> str:
    """An annotation.conf with the labels that its [entities] lack at their end; all else stays as it is.

    >>> extended_conf("[entities]\\nDrug\\n\\n[relations]\\n", ["Drug", "ADR"])
    '[entities]\\nDrug\\nADR\\n\\n[relations]\\n'
    """
    lines = content.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in content else "\n"
    headers = [number for number, line in enumerate(lines) if _SECTION.fullmatch(line.strip())]
    start = next((number for number in headers if lines[number].strip() == "[entities]"), None)
    if start is None:
        added = [f"[entities]{newline}", *(f"{label}{newline}" for label in dict.fromkeys(map(brat_label, labels)))]
        return "".join([*added, newline, *lines])
    stop = next((number for number in headers if number > start), len(lines))
    known = {line.split()[0].lstrip("!") for line in lines[start + 1 : stop] if line.strip()}
    missing = [label for label in dict.fromkeys(map(brat_label, labels)) if label not in known]
    last = max(number for number in range(start, stop) if lines[number].strip())
    if missing and not lines[last].endswith("\n"):
        lines[last] += newline
    lines[last + 1 : last + 1] = [f"{label}{newline}" for label in missing]
    return "".join(lines)


def copy_configurations(source: Source, folder: Path, labels: Collection[str] = ()) -> None:
    """Copy the .conf files of a brat folder. labels: to be added to each annotation.conf that lacks them."""
    for member in source:
        if member.suffix == _CONFIGURATION:
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = member.read()
            if path.name == ANNOTATION_CONF and labels:
                content = extended_conf(decode(content, member.origin), labels).encode("utf-8", "replace")
            replace_file(path, content)


def ensure_annotation_conf(folder: Path, labels: Iterable[str]) -> None:
    """Give a brat folder an annotation.conf, unless it has one."""
    path = folder / ANNOTATION_CONF
    if not path.exists():
        replace_file(path, annotation_conf(labels).encode("utf-8", "replace"))


def conf_labels(text: str) -> Iterator[str]:
    """The labels that annotators can choose in an annotation.conf: without macros, separators and headings.

    >>> list(conf_labels("[entities]\\n!Finding\\n\\tADR # unwanted\\n----\\n<X>=A|B\\nDrug\\n[relations]\\nCauses"))
    ['ADR', 'Drug']
    """
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line
        elif section == "[entities]" and line and not line.startswith(("#", "!", "<", "-")):
            yield line.split()[0]
