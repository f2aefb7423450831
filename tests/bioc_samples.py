"""Small BioC files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def bioc(**changes: Any) -> dict[str, Any]:
    """A document in BioC JSON; `annotation` and `passage` change its only ones, anything else the document."""
    annotation = {"id": "1", "infons": {"type": "A"}, "text": "pain", "locations": [{"offset": 3, "length": 4}]}
    passage = {
        "offset": 0,
        "text": "No pain in arm or leg",
        "annotations": [annotation | changes.pop("annotation", {})],
    }
    return {"id": "d", "passages": [passage | changes.pop("passage", {})]} | changes


def as_xml(record: dict[str, Any]) -> str:
    """A BioC XML collection written by hand, so that it may be wrong."""

    def leaf(tag: str, value: Any) -> str:
        return f"<{tag}>{value}</{tag}>"

    def annotation(item: dict[str, Any]) -> str:
        infons = "".join(f'<infon key="{key}">{value}</infon>' for key, value in item["infons"].items())
        places = "".join(f'<location offset="{at["offset"]}" length="{at["length"]}"/>' for at in item["locations"])
        return f'<annotation id="{item["id"]}">{infons}{places}{leaf("text", item["text"])}</annotation>'

    passages = "".join(
        leaf(
            "passage",
            leaf("offset", passage["offset"])
            + leaf("text", passage["text"])
            + "".join(annotation(item) for item in passage["annotations"]),
        )
        for passage in record["passages"]
    )
    return leaf("document", leaf("id", record["id"]) + passages)


def put(path: Path, *records: Any) -> Path:
    """A collection of records, in the format of the path's suffix."""
    if path.suffix == ".xml":
        path.write_text("<collection>\n<source/>\n" + "\n".join(as_xml(record) for record in records) + "</collection>")
    else:
        path.write_text(json.dumps({"source": "", "documents": records}))
    return path
