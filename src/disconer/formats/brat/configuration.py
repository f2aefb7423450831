"""The annotation.conf of a folder, which brat needs to show and edit its entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from disconer.formats.brat.lines import brat_label

ANNOTATION_CONF = "annotation.conf"


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


def conf_labels(text: str) -> Iterator[str]:
    """The labels that people can give, as an annotation.conf has them: without macros, separators and headings.

    >>> list(conf_labels("[entities]\\n!Finding\\n\\tADR # unwanted\\n----\\n<X>=A|B\\nDrug\\n[relations]\\nCauses"))
    ['ADR', 'Drug']
    """
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line
        elif section == "[entities]" and line and not line.startswith(("#", "!", "<", "-")):
            yield line.split()[0]
