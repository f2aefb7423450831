from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotated import LETTERS, small_entities
from disconer.core.types import Entity
from disconer.evaluate.mistakes import Nearby

places = st.integers(0, len(LETTERS))


@given(entities=st.lists(small_entities(), max_size=6), start=places, end=places)
def test_finds_all_that_reach_into_a_stretch(entities: list[Entity], start: int, end: int) -> None:
    expected = [entity for entity in entities if entity.start < end and start < entity.end]
    assert Nearby(entities)(start, end) == sorted(expected, key=lambda entity: entity.start)
