"""How PubAnnotation names documents and tracks, and what of that we name them after."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NAME = "pubannotation"
SOURCE = ("sourcedb", "sourceid", "divid")
SCORE = "score"  # the attribute that holds one
_TARGET = re.compile(r"/sourcedb/(?P<sourcedb>[^/]+)/sourceid/(?P<sourceid>[^/]+)(?:/divs/(?P<divid>[^/]+))?")


def source_name(record: Mapping[str, Any]) -> str:
    """sourcedb-sourceid-divid, as PubAnnotation calls its files; empty if the record does not say its source."""
    if record.get("sourceid") is None:
        target = _TARGET.search(str(record.get("target", "")))
        record = target.groupdict() if target else {}
    return "-".join(str(record[part]) for part in SOURCE if record.get(part) is not None)


def prefix_of(track: Any, number: int) -> str:
    project = track.get("project") if isinstance(track, dict) else None
    return f"{project or f'track{number + 1}'}_"
