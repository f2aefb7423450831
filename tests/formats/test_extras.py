from __future__ import annotations

import pytest

from disconer import Document
from round_trips import through

EXTRAS = {
    "brat": {"lines": ["T1", "T2\tA 0 4\tpain", "R1\tof Arg1:T1 Arg2:T2", "*\tOR T1 T2", "A1\tNo T1", "M2\tNo T1", ""]},
    "bioc": {"relations": [{}, {}], "infons": {"a": "b"}},
    "mine": "anything",
}


@pytest.mark.parametrize("format", ["bioc-xml", "bioc-json", "pubannotation", "bigbio"])
def test_what_other_formats_left_is_counted_by_what_it_is(format: str) -> None:
    back, ledger = through(
        [Document("d", "pain", extras=EXTRAS)], "a" + (".xml" if "xml" in format else ".json"), format
    )
    lost = {"brat relations": 1, "brat equivalences": 1, "brat attributes": 2, "mine extras": 1}
    foreign = {"bioc relations": 2, "bioc infons": 1} if "bioc" not in format else {}
    assert ledger.losses == lost | foreign
    assert back[0].extras.keys() == ({"bioc"} if "bioc" in format else set())
