"""The sizes and styles of SVG pictures. No variables, so that Inkscape and LaTeX's converters draw them, too."""

from __future__ import annotations

from disconer.render.palette import DARK, LIGHT, THEMES, Theme

TEXT_SIZE, CAPTION_SIZE = 15, 11
COLUMN, CAPTION_COLUMN = 0.6 * TEXT_SIZE, 0.6 * CAPTION_SIZE  # most fixed-width fonts are as wide as this

_SHAPES = f"""\
.disconer-svg {{ font: {TEXT_SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Noto Sans Mono", monospace; }}
.disconer-svg text {{ white-space: pre; }}
.disconer-svg .h, .disconer-svg .l, .disconer-svg .n {{ font-size: {CAPTION_SIZE}px; }}
.disconer-svg .l {{ font-weight: 600; }}
.disconer-svg .g, .disconer-svg .b, .disconer-svg .a {{ fill: none; }}
.disconer-svg .b {{ stroke-width: 3px; }}
.disconer-svg .wrong .b {{ stroke-dasharray: 5 3; }}
.disconer-svg .missed .b {{ stroke-width: 5px; }}
.disconer-svg .missed .i {{ stroke-width: 3px; }}
.disconer-svg .t {{ opacity: 0; }}
.disconer-svg .e {{ outline: none; }}
.disconer-svg .e:hover .t, .disconer-svg .e:focus .t {{ opacity: .22; }}
.disconer-svg .e:hover .b, .disconer-svg .e:focus .b {{ stroke-width: 5px; }}
.disconer-svg .e:hover .g, .disconer-svg .e:focus .g {{ stroke-width: 2px; }}
.disconer-svg .r {{ stroke-width: 3px; text-anchor: middle; }}
"""


def svg_style(theme: str = "auto") -> str:
    """All rules of a picture. "auto": dark where the reader prefers that, but light on paper."""
    if theme != "auto":
        return _SHAPES + _colours(THEMES[theme])
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{_colours(DARK)}}}\n"
    return _SHAPES + _colours(LIGHT) + dark


def _colours(theme: Theme) -> str:
    rules = [
        f".disconer-svg .p {{ fill: {theme.paper}; }}",
        f".disconer-svg text {{ fill: {theme.ink}; }}",
        f".disconer-svg .h, .disconer-svg .n, .disconer-svg .r {{ fill: {theme.faint}; }}",
        f".disconer-svg .a {{ stroke: {theme.faint}; }} .disconer-svg .v {{ fill: {theme.faint}; }}",
        f".disconer-svg .r {{ stroke: {theme.paper}; }}",
        f".disconer-svg .missed .i {{ stroke: {theme.paper}; }}",
    ]
    named = {f"c{number}": colour for number, colour in enumerate(theme.marks)}
    named |= {"right": theme.right, "missed": theme.missed, "wrong": theme.wrong}
    for name, colour in named.items():
        own = f".disconer-svg .{name}"
        rules.append(f"{own} .b, {own} .g {{ stroke: {colour}; }} {own} .t, {own} .l {{ fill: {colour}; }}")
    return "\n".join(rules) + "\n"
