from __future__ import annotations

from disconer.formats.seen_ids import SeenIds


def test_every_id_is_new_once() -> None:
    ids = SeenIds()
    names = [f"doc{number}" for number in range(5000)]
    assert all(ids.add(name) for name in names)
    assert not any(ids.add(name) for name in names)
