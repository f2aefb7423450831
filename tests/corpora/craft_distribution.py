"""Writes documents in the layout of the official CRAFT distribution, as far as the recipe reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from disconer.core.types import Document, Entity
from disconer.corpora.craft import LABELS, ONTOLOGIES


def write_distribution(folder: Path, splits: Mapping[str, Sequence[Document]]) -> Path:
    root = folder / "CRAFT-5.0.2"
    for split, documents in splits.items():
        _write(root / f"articles/ids/craft-ids-{split}.txt", "".join(f"{document.id}\n" for document in documents))
        for document in documents:
            _write(root / f"articles/txt/{document.id}.txt", document.text)
            _write(root / f"structural-annotation/dependency/conllu/{document.id}.conllu", _conllu(document))
            for label in LABELS:
                entities = [entity for entity in document.entities if entity.label == label]
                _write(root / concept_path(label, document.id), _knowtator(document, entities, label))
    return root


def concept_path(label: str, id: str) -> str:
    if label in ONTOLOGIES:
        return f"concept-annotation/{label}/{label}/knowtator/{id}.txt.knowtator.xml"
    return f"concept-annotation/MONDO/MONDO_without_genotype_annotations/knowtator-2/{id}.xml"


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())


def _conllu(document: Document) -> str:
    lines = [f"# newdoc id = {document.id}"]
    for number, sentence in enumerate(document.sentences or ()):
        lines.append(f"# sent_id = {number}")
        rows = zip(sentence.tokens, sentence.heads or (), sentence.relations or (), strict=True)
        for position, ((start, end), head, relation) in enumerate(rows, 1):
            lines.append(f"{position}\t{document.text[start:end]}\t_\tX\tX\t_\t{head + 1}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def _knowtator(document: Document, entities: Sequence[Entity], label: str) -> str:
    if label in ONTOLOGIES:
        annotations = "\n".join(_annotation_1(document, entity) for entity in entities)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<annotations>\n{annotations}\n</annotations>\n'
    annotations = "\n".join(_annotation_2(document, entity) for entity in entities)
    return f'<knowtator-project><document id="{document.id}">\n{annotations}\n</document></knowtator-project>\n'


def _annotation_1(document: Document, entity: Entity) -> str:
    spans = "".join(f'<span start="{start}" end="{end}" />' for start, end in entity.fragments)
    words = " ... ".join(escape(document.text[start:end]) for start, end in entity.fragments)
    return f'<annotation><mention id="a" />{spans}<spannedText>{words}</spannedText></annotation>'


def _annotation_2(document: Document, entity: Entity) -> str:
    spans = "".join(
        f'<span end="{end}" start="{start}">{escape(document.text[start:end])}</span>'
        for start, end in entity.fragments
    )
    return f'<annotation><class id="http://purl.obolibrary.org/obo/MONDO_0000001" />{spans}</annotation>'
