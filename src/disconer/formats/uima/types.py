"""The types of the CAS that is written, as XML and as JSON."""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from disconer.formats.uima.layers import DISCONTINUOUS, FRAGMENT, FRAGMENTS, LINK, NAMED_ENTITY, SENTENCE, TOKEN

ANNOTATION, TOP, STRING, ARRAY = "uima.tcas.Annotation", "uima.cas.TOP", "uima.cas.String", "uima.cas.FSArray"


class Feature(NamedTuple):
    name: str
    range: str
    element: str | None = None  # of an array


TYPES: dict[str, tuple[str, tuple[Feature, ...]]] = {  # name → supertype and features
    SENTENCE: (ANNOTATION, ()),
    TOKEN: (ANNOTATION, ()),
    NAMED_ENTITY: (ANNOTATION, (Feature("value", STRING), Feature("identifier", STRING))),
    FRAGMENT: (ANNOTATION, ()),
    LINK: (TOP, (Feature("role", STRING), Feature("target", FRAGMENT))),
    DISCONTINUOUS: (ANNOTATION, (Feature("value", STRING), Feature(FRAGMENTS, ARRAY, LINK))),
}


def type_system_xml() -> bytes:
    """The TypeSystem.xml beside XMI files, which they cannot be read without."""
    types = "\n".join(_type_xml(name, supertype, features) for name, (supertype, features) in TYPES.items())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">\n'
        f"<types>\n{types}\n</types>\n</typeSystemDescription>\n"
    ).encode()


def _type_xml(name: str, supertype: str, features: tuple[Feature, ...]) -> str:
    listed = "".join(_feature_xml(feature) for feature in features)
    inner = f"<features>{listed}</features>" if listed else ""
    return (
        f"<typeDescription><name>{escape(name)}</name><description/>"
        f"<supertypeName>{escape(supertype)}</supertypeName>{inner}</typeDescription>"
    )


def _feature_xml(feature: Feature) -> str:
    element = f"<elementType>{feature.element}</elementType>" if feature.element else ""
    return (
        f"<featureDescription><name>{feature.name}</name><description/>"
        f"<rangeTypeName>{feature.range}</rangeTypeName>{element}</featureDescription>"
    )


def type_system_json() -> dict[str, Any]:
    """The types of a JSON CAS."""
    return {
        name: {"%NAME": name, "%SUPER_TYPE": supertype, **{one.name: _feature_json(one) for one in features}}
        for name, (supertype, features) in TYPES.items()
    }


def _feature_json(feature: Feature) -> dict[str, str]:
    range = f"{feature.element}[]" if feature.element else feature.range
    return {"%NAME": feature.name, "%RANGE": range}
