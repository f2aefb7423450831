"""Predictions in a CAS that INCEpTION sent: what its external recommenders answer.

A prediction is an annotation of the asked layer with the label in the asked feature, its score in `FEATURE_score`, and
the mark `inception_internal_predicted`. INCEpTION suggests spans, which have no gaps: each fragment of a discontinuous
entity is a suggestion of its own, and `FEATURE_score_explanation` says what it is a part of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.types import Entity, joined_text
from disconer.formats.code_units import CodeUnits
from disconer.formats.uima.structures import VIEW, Structure
from disconer.formats.uima.xmi import CAS, ID, serialised, to_element
from disconer.formats.xml import parse_xml

PREDICTED = "inception_internal_predicted"
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
_FEATURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHERE = Where("document.xmi")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recommender is to predict.

    explains: whether the layer has a feature for explanations.
    """

    layer: str
    feature: str
    explains: bool

    def __post_init__(self) -> None:
        if not _TYPE.fullmatch(self.layer) or not _FEATURE.fullmatch(self.feature):
            raise BadInput(
                "bad-syntax",
                "This is no layer and feature",
                where=Where("metadata"),
                got=excerpt(f"{self.layer} {self.feature}"),
                expected="names such as webanno.custom.Finding and value",
            )


class SentCas:
    """A CAS as XMI, to which predictions are added; everything else stays in it."""

    def __init__(self, xmi: str) -> None:
        self._root = parse_xml(xmi.encode("utf-8", "replace"), str(_WHERE))
        sofas = [one for one in self._root if one.tag == f"{CAS}Sofa" and one.get("sofaString") is not None]
        sofa = next((one for one in sofas if one.get("sofaID") == VIEW), None)
        if sofa is None:
            raise BadInput("bad-syntax", "This CAS has no text", where=_WHERE, expected="a cas:Sofa with a sofaString")
        self.text: str = sofa.get("sofaString") or ""
        self._sofa = sofa.get(ID, "")

    def with_predictions(self, entities: Iterable[Entity], asked: Asked) -> str:
        """The XMI with a prediction for each fragment."""
        numbers = [int(number) for one in self._root if (number := one.get(ID, "")).isascii() and number.isdigit()]
        first = max(numbers, default=0) + 1
        added = [
            self._element(structure, number)
            for number, structure in enumerate(_suggestions(entities, self.text, asked), first)
        ]
        members = " ".join(str(one.get(ID)) for one in added)
        for view in self._root:
            if view.tag == f"{CAS}View" and view.get("sofa") == self._sofa and members:
                view.set("members", f"{view.get('members', '')} {members}".strip())
        return serialised([*added, *self._root]).decode()

    def _element(self, structure: Structure, number: int) -> Element:
        element = to_element(structure)
        element.set(ID, str(number))
        element.set("sofa", self._sofa)
        return element


def _suggestions(entities: Iterable[Entity], text: str, asked: Asked) -> list[Structure]:
    """One per place and label, with the highest score."""
    units = CodeUnits(text)
    found: dict[tuple[int, int, str], Structure] = {}
    for entity in sorted(entities, key=lambda one: -(one.score or 0)):
        for number, (start, end) in enumerate(entity.fragments, 1):
            features = {"begin": units.unit(start), "end": units.unit(end), asked.feature: entity.label}
            structure = Structure(0, asked.layer, {**features, PREDICTED: "true"})
            if entity.score is not None:
                structure.features[f"{asked.feature}_score"] = round(entity.score, 4)
            if asked.explains and len(entity.fragments) > 1:
                whole = joined_text(text, entity.fragments)
                explanation = f"fragment {number} of {len(entity.fragments)}: {whole}"
                structure.features[f"{asked.feature}_score_explanation"] = explanation
            found.setdefault((start, end, entity.label), structure)
    return sorted(found.values(), key=lambda one: (one.features["begin"], one.features["end"]))
