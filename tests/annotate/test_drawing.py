"""The page draws lines in the browser; they must look as those of `disconer render`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from annotate.running import annotating, folder_of
from disconer.core.types import Document, Entity
from disconer.render.html import LONGEST_LINE, document_html
from disconer.render.lines import wrapped_lines
from disconer.render.marks import plain_marks
from disconer.render.stylesheet import Palette
from serve.browser import open_browser, open_page

pytestmark = pytest.mark.slow

# Both drawings of each document as text: elements with their classes that place them, captions, and words.
COMPARE = """async (documents) => {
    const { drawLine } = await import("/assets/lanes.js");
    const { Text } = await import("/assets/text.js");
    const shown = (node) => {
        if (node.nodeType === Node.TEXT_NODE) return node.data;
        if (node.tagName === "BR") return "";
        const kept = [...node.classList].filter((name) => /^([efghzt]|[abr][0-9]+)$/.test(name)).sort();
        const caption = node.dataset.l ? `“${node.dataset.l}”` : "";
        return `<${kept.join(" ")}${caption}>${[...node.childNodes].map(shown).join("")}</>`;
    };
    return documents.map(({ text, lines, marks, html }) => {
        const own = new Text(text, lines);
        const here = lines.map((range) => drawLine(own, range, marks).map(shown).join(""));
        const page = new DOMParser().parseFromString(html, "text/html");
        const there = [...page.querySelectorAll(".line")].map((line) => [...line.childNodes].map(shown).join(""));
        return [here, there];
    });
}"""


def random_document(chance: random.Random) -> Document:
    words = ["Pain", "in", "my", "knees", "😀", "日本", "shalom שלום", "W", "ill-fitting", "\n", "\n\n"]
    text = " ".join(chance.choices(words, k=chance.randint(3, 25)))
    entities = []
    for _ in range(chance.randint(1, 8)):
        places = sorted(chance.sample(range(len(text)), k=min(len(text), 2 * chance.randint(1, 3)) // 2 * 2))
        fragments = tuple(zip(places[::2], places[1::2], strict=True))
        label = chance.choice(["ADR", "Drug", "Concentration of something long"])
        if not any(text[start:end].isspace() for start, end in fragments):
            entities.append(Entity(label, fragments))
    return Document("a", text, tuple(entities))


def test_lines_are_drawn_as_everywhere(tmp_path: Path) -> None:
    chance = random.Random(18)
    cases = []
    for document in (random_document(chance) for _ in range(200)):
        marks = [
            {"id": str(n), "fragments": mark.entity.fragments, "caption": mark.caption, "classes": "", "order": n}
            for n, mark in enumerate(plain_marks(document))
        ]
        lines = list(wrapped_lines(document.text, LONGEST_LINE))
        html = document_html(document, plain_marks(document), Palette())
        cases.append({"text": document.text, "lines": lines, "marks": marks, "html": html})
    folder = folder_of(tmp_path, {"a.txt": "Well."})
    with open_browser() as browser, annotating(folder) as server, open_page(browser, server.url) as page:
        for case, (here, there) in zip(cases, page.evaluate(COMPARE, cases), strict=True):
            assert here == there, case["text"]
