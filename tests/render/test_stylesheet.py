"""The colours do what the palette says of them."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from disconer.render.stylesheet import DARK, LIGHT, N_COLOURS, Palette, Theme

Colour = tuple[float, float, float]  # linear RGB, or Lab

# Machado, Oliveira and Fernandes (2009), severity 1, applied to linear RGB.
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def linear(code: str) -> Colour:
    parts = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def times(matrix: tuple[tuple[float, ...], ...], colour: Colour) -> Colour:
    red, green, blue = (sum(a * b for a, b in zip(row, colour, strict=True)) for row in matrix)
    return red, green, blue


def lab(colour: Colour) -> Colour:
    xyz = times(TO_XYZ, colour)
    x, y, z = (
        math.cbrt(v / w) if v / w > 0.008856 else 7.787 * v / w + 16 / 116 for v, w in zip(xyz, WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def luminance(code: str) -> float:
    return times(TO_XYZ, linear(code))[1]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on_its_paper(theme: Theme) -> None:
    assert min(contrast(colour, theme.paper) for colour in (*theme.marks, theme.ink, theme.faint)) >= 4.5


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stay_apart(theme: Theme, vision: str) -> None:
    def seen(code: str) -> Colour:
        red, green, blue = (min(max(part, 0), 1) for part in times(VISIONS[vision], linear(code)))
        return lab((red, green, blue))

    assert min(math.dist(seen(one), seen(other)) for one, other in combinations(theme.marks, 2)) >= 14


def test_labels_keep_their_colours() -> None:
    palette = Palette(["Drug", "ADR"])
    assert [palette.number(label) for label in ("ADR", "Dose", "Drug", "ADR")] == [1, 2, 0, 1]
    assert [Palette().number(f"L{number}") for number in range(3)] == [0, 0, 0]
    assert Palette(map(str, range(N_COLOURS))).number("one more") == 0
