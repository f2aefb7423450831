"""PsyTAR: what patients wrote about four psychiatric drugs (Zolnoori et al. 2019).

    Sentence_Labeling                     drug_id, sentence_index, sentences: the posts, one sentence per row
    ADR_Identified, WD_…, SSI_…, DI_…     drug_id, sentence_index, ADR1, ADR2, …: mentions in a sentence

Mentions are strings without offsets. Each is searched for in its sentence; what is not found there is left out
and counted. A document is a post: its sentences, one per line, because some of them end without punctuation.
The corpus has no official split. Here it follows from the md5 of the post's drug_id: of each hundred values 80 are
train, 10 dev, 10 test.

How `locate` searches, until one way fits:

1. the letters and digits of the mention in one stretch of whole words, whatever the case, spaces and punctuation
   ("weight loss" is found in "Weight-loss"); of several such stretches, one that no other mention needs;
2. its words in order with other words between them, in the shortest stretch that has them all;
3. the same with words that are spelt a little differently ("headache" for "headaches", "anxiety" for "aniexty").

Words between matched ones are a gap; punctuation alone is not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import eq
from pathlib import Path
from typing import NamedTuple

from disconer.core.corpus import Corpus
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity, Fragment
from disconer.corpora.recipe import SPLITS, Recipe, files_of, hashed_split, not_the_source, unique
from disconer.corpora.xlsx import Row, Workbook
from disconer.text import TOKENIZERS

_PAUSES = ".,;:!?"  # ignored at the ends of a mention, even if the annotation includes them
_ONE_EDIT, _TWO_EDITS = 5, 7  # letters of words that may differ by that many edits
_FAR = 10  # maximum words between parts of a mention whose spelling differs: distance adds to the doubt


class Place(NamedTuple):
    """Where a mention stands, and whether its sentence spells it differently."""

    fragments: tuple[Fragment, ...]
    respelt: bool = False


def locate(mentions: Sequence[str], sentence: str) -> list[Place | None]:
    """The place of each mention in the sentence; None for those that it does not have.

    A mention given twice gets two places, if there are two.

    >>> [[sentence[start:end] for start, end in place.fragments]
    ...  for sentence in ["Pain in my knees and hands."]
    ...  for place in locate(["pain in knees", "pain in hands"], sentence)]
    [['Pain in', 'knees'], ['Pain in', 'hands']]
    """
    words = _words(sentence)
    places: list[Place | None] = [None] * len(mentions)
    taken: list[Fragment] = []
    # Long mentions first: a short one that is also part of a long one then gets the place of its own, if it has one.
    for index in sorted(range(len(mentions)), key=lambda index: -len(mentions[index].strip())):
        whole = list(_whole(mentions[index], sentence, words))
        if whole:
            free = [fragment for fragment in whole if not _shares(fragment, taken)]
            taken.append((free or whole)[0])
            places[index] = Place((taken[-1],))
        else:
            places[index] = _in_parts(mentions[index], sentence, words)
    return places


def _words(text: str) -> list[Token]:
    return [token for token in TOKENIZERS["words"](text, 0, len(text)) if text[token.start].isalnum()]


def _letters(text: str, words: Sequence[Token]) -> list[str]:
    return [text[start:end].casefold() for start, end in words]


def _shares(fragment: Fragment, others: Sequence[Fragment]) -> bool:
    return any(fragment.start < other.end and other.start < fragment.end for other in others)


def _whole(mention: str, sentence: str, words: Sequence[Token]) -> Iterator[Fragment]:
    """The stretches of whole words that have the letters and digits of the mention, first to last."""
    wanted = "".join(_letters(mention, _words(mention)))
    letters = _letters(sentence, words)
    for first in range(len(words)):
        last, got = first, letters[first]
        while len(got) < len(wanted) and last + 1 < len(words):
            last += 1
            got += letters[last]
        if got == wanted:
            yield _with_marks(Fragment(words[first].start, words[last].end), mention, sentence)


def _with_marks(fragment: Fragment, mention: str, sentence: str) -> Fragment:
    """The fragment with the brackets and quotes that the mention, too, has at its ends."""
    start, end = fragment
    words = _words(mention)
    for mark in reversed(mention[: words[0].start].strip()):
        if mark in _PAUSES or not sentence[:start].endswith(mark):
            break
        start -= 1
    for mark in mention[words[-1].end :].strip():
        if mark in _PAUSES or not sentence[end:].startswith(mark):
            break
        end += 1
    return Fragment(start, end)


def _in_parts(mention: str, sentence: str, words: Sequence[Token]) -> Place | None:
    wanted, letters = _letters(mention, _words(mention)), _letters(sentence, words)
    for same, respelt in ((eq, False), (_alike, True)):
        path = _shortest(wanted, letters, same) if wanted else None
        if path and not (respelt and path[-1] - path[0] + 1 - len(path) > _FAR):
            parts: list[Fragment] = []
            for index, before in zip(path, (None, *path), strict=False):
                start = parts.pop().start if before is not None and index == before + 1 else words[index].start
                parts.append(Fragment(start, words[index].end))
            return Place(tuple(parts), respelt)
    return None


def _shortest(
    wanted: Sequence[str], letters: Sequence[str], same: Callable[[str, str], bool]
) -> tuple[int, ...] | None:
    """Positions of the wanted words, in order: in the shortest stretch, then with the fewest gaps, then the first.

    >>> _shortest(["a", "b"], ["a", "c", "a", "d", "b", "b"], eq)
    (2, 4)
    """
    # By the position of the last word so far: the number of gaps, and the path. Of two paths to a position, the one
    # that starts later is shorter.
    paths: dict[int, tuple[int, tuple[int, ...]]] = {
        position: (0, (position,)) for position, word in enumerate(letters) if same(wanted[0], word)
    }
    for want in wanted[1:]:
        longer: dict[int, tuple[int, tuple[int, ...]]] = {}
        for position, word in enumerate(letters):
            if same(want, word):
                reaching = [
                    (gaps + (before + 1 < position), (*path, position))
                    for before, (gaps, path) in paths.items()
                    if before < position
                ]
                if reaching:
                    longer[position] = min(reaching, key=lambda found: (-found[1][0], found[0]))
        paths = longer
    if not paths:
        return None
    return min(paths.values(), key=lambda found: (found[1][-1] - found[1][0], found[0], found[1][0]))[1]


def _alike(one: str, other: str) -> bool:
    """Whether two words are the same except for a plural s or a typo.

    >>> _alike("lb", "lbs"), _alike("anxiety", "aniexty"), _alike("loss", "lost"), _alike("increased", "decreased")
    (True, True, False, False)
    """
    if one == other or one + "s" == other or other + "s" == one:
        return True
    longer = max(len(one), len(other))
    allowed = (longer >= _ONE_EDIT) + (longer >= _TWO_EDITS)
    return one[0] == other[0] and abs(len(one) - len(other)) <= allowed and _edits(one, other) <= allowed


def _edits(one: str, other: str) -> int:
    """The edit distance of two words: insertions, deletions, replacements and swaps of neighbours."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter2 in enumerate(other, 1):
            row.append(min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != letter2)))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter2:
                row[j] = min(row[j], before[j - 2] + 1)
        before, last = last, row
    return last[-1]


LABELS = ("ADR", "WD", "SSI", "DI")
_SOURCE = "PsyTAR_dataset.xlsx, or a folder or archive with it"
_POST, _INDEX, _TEXT = _KEYS = ("drug_id", "sentence_index", "sentences")
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")

Mentions = dict[str, list[str]]  # of a sentence, by label


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    found = files_of(source, lambda name: name.lower().endswith(".xlsx"))
    if len(found) != 1:
        raise not_the_source(source, f"There are {len(found)} .xlsx files, expected one", _SOURCE)
    posts = _posts(Workbook(found[0]), ledger)
    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for name, sentences in posts.items():
        document = _document(name, sentences, ledger)
        if document.text:
            splits[hashed_split(name)].append(document)
        else:
            ledger.lost("posts without text")
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


def _posts(workbook: Workbook, ledger: Ledger) -> dict[str, list[tuple[str, Mentions]]]:
    """The sentences of each post with their mentions."""
    posts: dict[str, list[tuple[str, Mentions]]] = defaultdict(list)
    by_index: dict[tuple[str, str], list[tuple[str, Mentions]]] = defaultdict(list)
    for row in workbook.rows("Sentence_Labeling", _KEYS):
        if _POST in row.cells:  # the last row has none: it holds sums
            sentence: tuple[str, Mentions] = (_one_line(row), {})
            posts[row.cells[_POST]].append(sentence)
            by_index[_key(row)].append(sentence)
    for label in LABELS:
        sheet = f"{label}_Identified"
        for row in workbook.rows(sheet, (*_KEYS, f"{label}1")):
            mentions = [
                text for name, text in row.cells.items() if re.fullmatch(f"{label}[0-9]+", name) and text.strip()
            ]
            # An index may occur twice in a post: then the text decides.
            sentences = sorted(by_index.get(_key(row), ()), key=lambda sentence: sentence[0] != _one_line(row))
            if sentences:
                sentences[0][1].setdefault(label, []).extend(mentions)
            elif mentions:
                ledger.error(_stray(row, sheet, workbook.origin))
    return posts


def _key(row: Row) -> tuple[str, str]:
    return row.cells.get(_POST, ""), row.cells.get(_INDEX, "")


def _one_line(row: Row) -> str:
    return _LINE_BREAK.sub(" ", row.cells.get(_TEXT, "")).strip()


def _stray(row: Row, sheet: str, origin: str) -> BadInput:
    return BadInput(
        "missing-sentence",
        f"The sentence of row {row.number} in the sheet {sheet!r} is not in 'Sentence_Labeling'",
        where=Where(origin, document=row.cells.get(_POST)),
        got=f"{_INDEX} {excerpt(row.cells.get(_INDEX, ''))}",
        fix="Check that it is the original workbook, or skip such mentions with --skip-bad.",
    )


def _document(name: str, sentences: Sequence[tuple[str, Mentions]], ledger: Ledger) -> Document:
    kept = [(text, mentions) for text, mentions in sentences if text]
    ledger.lost("sentences without text", len(sentences) - len(kept))
    text = "\n".join(text for text, _ in kept)
    placed: list[Sentence] = []
    entities: list[Entity] = []
    start = 0
    for line, mentions in kept:
        end = start + len(line)
        placed.append(Sentence(start, end, TOKENIZERS["words"](text, start, end)))
        for label, strings in mentions.items():
            entities += _entities(label, strings, line, start, ledger)
        start = end + 1
    entities.sort(key=lambda entity: entity.fragments)
    return Document(name, text, unique(entities, ledger), tuple(placed))


def _entities(label: str, mentions: list[str], sentence: str, offset: int, ledger: Ledger) -> list[Entity]:
    places = [place for place in locate(mentions, sentence) if place is not None]
    ledger.lost("mentions that are not found in their sentence", len(mentions) - len(places))
    ledger.repaired("mentions spelt differently in their sentence", sum(place.respelt for place in places))
    return [
        Entity(label, tuple(Fragment(start + offset, end + offset) for start, end in place.fragments))
        for place in places
    ]


RECIPE = Recipe(
    name="psytar",
    about="patients' posts on four psychiatric drugs, 4 types (CC BY 4.0; Zolnoori et al. 2019)",
    source=_SOURCE,
    build=_build,
)
