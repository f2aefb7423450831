"""Draw the packages of disconer and their layers, from the contract in pyproject.toml.

    python docs/pictures/rooms.py

writes docs/pictures/rooms.svg. A package may import those in layers below it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ABOUT = {
    "cli": "one file per command",
    "annotate": "documents under annotation, suggestions, training, page",
    "bench": "speed",
    "demo": "bundled data",
    "experiments": "studies, reports",
    "serve": "HTTP service, page",
    "spacy": "pipeline component",
    "start": "init",
    "adapt": "continued pretraining",
    "training": "training runs",
    "runs": "what training and adapt share: processes, device, saved state",
    "export": "ONNX, int8, compact models",
    "predict": "Recognizer; files, processes, Ray; ONNX Runtime",
    "store": "model folders, names, cards",
    "nn": "encoders, layers, heads, batches",
    "render": "HTML, SVG, terminal, report",
    "evaluate": "metrics, errors, calibration, check",
    "config": "schema, presets",
    "corpora": "benchmark recipes",
    "formats": "read() and write()",
    "text": "sentences, tokens, alignment, syntax",
    "core": "documents, errors, ledger, files, plug-ins",
}
WITH_TORCH = {"adapt", "training", "runs", "export", "nn", "bench"}
WIDTH, ROW, GAP = 760, 46, 6


def layers() -> list[list[str]]:
    """The layers of the contract, top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in found]


def drawing() -> str:
    """The SVG: one row per layer, one box per package."""
    rows = layers()
    height = len(rows) * (ROW + GAP) + 24
    shapes = []
    for number, names in enumerate(rows):
        box = (WIDTH - GAP * (len(names) - 1)) / len(names)
        for place, name in enumerate(names):
            x, y = place * (box + GAP), number * (ROW + GAP)
            kind = "torch" if name in WITH_TORCH else "plain"
            shapes.append(f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{box:.1f}" height="{ROW}" rx="5"/>')
            shapes.append(f'<text class="name" x="{x + box / 2:.1f}" y="{y + 20}">{name}</text>')
            shapes.append(f'<text class="about" x="{x + box / 2:.1f}" y="{y + 36}">{ABOUT.get(name, "")}</text>')
    note = "A package may import those in rows below it. Blue: imports torch."
    shapes.append(f'<text class="about" x="{WIDTH / 2}" y="{height - 6}">{note}</text>')
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">
<style>
.plain {{ fill: #eef1f4; stroke: #8a949e; }} .torch {{ fill: #dce9f9; stroke: #4a7ab8; }}
text {{ fill: #1c2530; text-anchor: middle; }} .name {{ font-size: 15px; font-weight: 600; }}
.about {{ font-size: 11px; fill: #4a5560; }}
@media (prefers-color-scheme: dark) {{
.plain {{ fill: #2a2f36; stroke: #6b7580; }} .torch {{ fill: #1f3450; stroke: #5b8fd0; }}
text {{ fill: #e8ecf0; }} .about {{ fill: #b4bec8; }}
}}
</style>
{chr(10).join(shapes)}
</svg>
"""


if __name__ == "__main__":
    Path(__file__).with_name("rooms.svg").write_text(drawing(), "utf-8")
