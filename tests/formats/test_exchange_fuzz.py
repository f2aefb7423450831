"""Whatever a file holds, reading it gives documents that can be written again, or clear errors, never a traceback."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disconer import DisconerError, Ledger, read, write

GOLDEN = Path(__file__).parent / "golden"
ODD = ["null", "true", "0", "-1", "1e3", "9" * 30, '""', '"x"', '"T1"', "[]", "{}", "[[0, 4]]", '["x"]', '{"begin": 0}']


def read_both_ways(name: str, format: str, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        with suppress(DisconerError):
            list(read(path, format))
        documents = list(read(path, format, Ledger(skip_bad=True)))
        write(documents, path, format, force=True)
        back = list(read(path, format))
    assert [(document.text, Counter(document.entities)) for document in back] == [
        (document.text, Counter(document.entities)) for document in documents
    ]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [(value, key) for key, _ in items] + [place for _, child in items for place in places(child)]


@pytest.mark.parametrize(
    ("name", "format"), [("bioc.json", "bioc-json"), ("pubannotation.json", "pubannotation"), ("bigbio.json", "bigbio")]
)
@given(data=st.data())
def test_json_with_anything_anywhere(data: st.DataObject, name: str, format: str) -> None:
    content = json.loads((GOLDEN / name).read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(content)))
        container[key] = json.loads(data.draw(st.sampled_from(ODD)))
    read_both_ways("a.json", format, json.dumps(content).encode())


@settings(max_examples=200)
@given(data=st.data())
def test_xml_with_anything_anywhere(data: st.DataObject) -> None:
    content = (GOLDEN / "bioc.xml").read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.sampled_from([0, 1, 5, 40]))
        piece = data.draw(
            st.sampled_from([b"", b"x", b"-", b"\xff", b"\0", b"<text>", b"</passage>", b"&amp;", b"<!--"])
        )
        content = content[:start] + piece + content[end:]
    read_both_ways("a.xml", "bioc-xml", content)
