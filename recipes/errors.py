"""Draw the ten most instructive errors of a model, and print them as a list for the lab book.

    python recipes/errors.py MODEL DEV docs/pictures/errors-NAME

writes docs/pictures/errors-NAME-light.svg and docs/pictures/errors-NAME-dark.svg. DEV must not be the
test set: looking at errors influences choices.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from disconer import Entity, Recognizer, read
from disconer.evaluate.mistakes import Instructive, instructive
from disconer.render.marks import Mark, compared_marks
from disconer.render.stylesheet import Palette
from disconer.render.svg import Picture


def picture(errors: Sequence[Instructive], theme: str) -> str:
    drawn = Picture(Palette())
    for number, error in enumerate(errors, 1):
        head = f"{number}. {error.mistake.error.words}, {error.kind.value}"
        drawn.add(error.predicted, compared_marks(error.gold, error.predicted), head=head)
    return drawn.svg(theme=theme)


def in_words(error: Instructive) -> str:
    gold, predicted = (_mentions(side) for side in (error.mistake.gold, error.mistake.predicted))
    return (
        f"**{error.mistake.error.words}** ({error.kind.value}): gold {gold}; predicted {predicted} (`{error.gold.id}`)"
    )


def _mentions(entities: Sequence[Entity]) -> str:
    return ", ".join(f"{one.label} “{Mark(one).quoted}”{_score(one)}" for one in entities) or "nothing"


def _score(entity: Entity) -> str:
    return "" if entity.score is None else f" at {entity.score:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("dev", type=Path)
    parser.add_argument("out", type=Path, help="output path, without suffix")
    given = parser.parse_args()
    gold = list(read(given.dev))
    predicted = Recognizer.from_pretrained(given.model).annotate(document.replace(entities=()) for document in gold)
    errors = instructive(zip(gold, predicted, strict=True))
    for theme in ("light", "dark"):
        given.out.with_name(f"{given.out.name}-{theme}.svg").write_text(picture(errors, theme), "utf-8")
    for number, error in enumerate(errors, 1):
        print(f"{number}. {in_words(error)}")


if __name__ == "__main__":
    main()
