from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.adapt.loop import Budget, rate_factor, usual_rate
from disconer.adapt.saving import curve_page


def test_whichever_comes_first() -> None:
    assert Budget(100, None).done(25, 1e9) == 0.25
    assert Budget(None, 60.0).done(10**9, 15.0) == 0.25
    assert Budget(100, 60.0).done(50, 45.0) == 0.75


@given(st.floats(0, 1), st.floats(0, 0.99))
def test_the_rate_rises_then_falls_to_zero(done: float, warmup: float) -> None:
    assert 0 <= rate_factor(done, warmup) <= 1
    assert rate_factor(1.0, warmup) == 0
    assert rate_factor(warmup, warmup) == pytest.approx(1)
    assert rate_factor(1.5, warmup) == 0  # time does not stand still


def test_larger_encoders_learn_more_slowly() -> None:
    assert usual_rate(384) > usual_rate(768)


def test_the_curve_is_drawn_with_round_ticks() -> None:
    history = [{"step": step, "loss": 8 - step / 40, "rate": 5e-4 * (1 - step / 200)} for step in range(20, 201, 20)]
    page = curve_page(history, {"encoder": "a & b"})
    assert "encoder a &amp; b" in page
    assert page.count("<svg viewBox") == 2
    for tick in (">3<", ">8<", ">0.0005<", ">200<"):
        assert tick in page
    assert "e-19" not in page
    assert curve_page(history[:1], {}).count("<svg viewBox") == 2  # a single record is no reason to fail
