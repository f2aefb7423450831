"""What a page says, read without a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "input"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""  # of all that it contains
    children: list[Element] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def all(self, tag: str | None = None, name: str | None = None) -> list[Element]:
        """The elements within it that have a tag and a class, in order."""
        found = []
        for child in self.children:
            if (tag is None or child.tag == tag) and (name is None or name in child.classes):
                found.append(child)
            found += child.all(tag, name)
        return found


class _Parser(HTMLParser):
    """Insists that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(element.attributes) == len(attrs), f"<{tag}> has an attribute twice"
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def parsed(page: str) -> Element:
    parser = _Parser()
    parser.feed(page)
    parser.close()
    (root,) = parser.open
    return root
