"""Label schemes: the entities of a sentence as one label per token, and back.

bio    B- starts an entity, I- continues it, O is outside (IOB2).
bioes  as bio, with E- for the last token and S- for a lone one.
biohd  as bio for continuous entities; parts of discontinuous ones are HB-/HI- where entities share them
       ("head") and DB-/DI- where they do not (Tang et al. 2013).

A token has one label, so each scheme loses something. In bio and bioes a continuous entity that overlaps a
longer one is dropped; a discontinuous one becomes the shortest stretch that covers it (as Dai et al. 2020 do
for taggers) where nothing else stands, else it is dropped. In biohd, of two entities of different labels that
share a token the shorter is dropped; entities of one label that share tokens, one of them discontinuous, are
marked by H and D; the rest compete as in bio.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from disconer.text.alignment import Range, merge_adjacent

OUTSIDE = "O"
UNTYPED = "Entity"  # the label of entities in files that write B and I without a type
_UNTYPED_PREFIXES = ("B", "I", "E", "S")
HEAD, BODY = "H", "D"  # BIOHD's parts: shared by entities, and not

# The prefix of a label -> its position in an entity (B, I, E, S), and the part that it marks. The letters of BILOU and
# BMEWO stand for those of BIOES, and some files have BH and ID for HB and DI.
_PREFIXES = {letter: (letter, "") for letter in "BIES"}
_PREFIXES |= {"L": ("E", ""), "U": ("S", ""), "W": ("S", ""), "M": ("I", "")}
_PREFIXES |= {part + letter: (letter, part) for part in (HEAD, BODY) for letter in "BI"}
_PREFIXES |= {letter + part: (letter, part) for part in (HEAD, BODY) for letter in "BI"}

MOST_JOINED = 10_000  # entities of one label in a sentence, from every H part with every D part


class TooMany(ValueError):
    """A sentence whose parts join to entities without end."""


Key = tuple[str, tuple[Range, ...]]  # an entity: label and token ranges
Scheme = Callable[[Sequence[Key], int], list[str]]


def bio(entities: Sequence[Key], n_tokens: int) -> list[str]:
    """The labels of a sentence's tokens."""
    labels = [OUTSIDE] * n_tokens
    for label, (first, end) in _flat(entities):
        labels[first:end] = _run(label, end - first)
    return labels


def bioes(entities: Sequence[Key], n_tokens: int) -> list[str]:
    """The labels of a sentence's tokens, ends marked."""
    labels = bio(entities, n_tokens)
    for label, (first, end) in _flat(entities):
        labels[end - 1] = f"{'S' if end - first == 1 else 'E'}-{label}"
    return labels


def biohd(entities: Sequence[Key], n_tokens: int) -> list[str]:
    """The labels of a sentence's tokens, parts of discontinuous entities marked."""
    continuous: list[Key] = []
    parts: list[tuple[str, Range, str]] = []
    for group in _sharing(_one_label_a_token(entities)):
        if any(len(ranges) > 1 for _, ranges in group):
            parts += _parts(group)
        else:
            continuous += group
    labels = bio(continuous, n_tokens)
    for part, (first, end), label in parts:
        labels[first:end] = _run(label, end - first, part)
    return labels


SCHEMES: Mapping[str, Scheme] = {"bio": bio, "bioes": bioes, "biohd": biohd}


def _run(label: str, length: int, part: str = "") -> list[str]:
    return [f"{part}B-{label}"] + [f"{part}I-{label}"] * (length - 1)


def _flat(entities: Iterable[Key]) -> list[tuple[str, Range]]:
    """Stretches without overlap: the longest continuous entities, then discontinuous ones where there is room."""
    stretches = [(len(ranges) > 1, ranges[0][0], ranges[-1][1], label) for label, ranges in entities]
    stretches.sort(key=lambda stretch: (stretch[0], stretch[1] - stretch[2], stretch[1], stretch[3]))
    used: set[int] = set()
    kept = []
    for _, first, end, label in stretches:
        if used.isdisjoint(range(first, end)):
            used.update(range(first, end))
            kept.append((label, (first, end)))
    return kept


def _tokens(ranges: Iterable[Range]) -> list[int]:
    return [token for first, end in ranges for token in range(first, end)]


def _one_label_a_token(entities: Iterable[Key]) -> list[Key]:
    """The entities that share no token with a longer one of another label."""
    owner: dict[int, str] = {}
    kept = []
    for label, ranges in sorted(entities, key=lambda entity: (-len(_tokens(entity[1])), entity)):
        tokens = _tokens(ranges)
        if all(owner.get(token, label) == label for token in tokens):
            owner |= dict.fromkeys(tokens, label)
            kept.append((label, ranges))
    return kept


def _sharing(entities: Iterable[Key]) -> list[list[Key]]:
    """Groups of entities of one label that share tokens, directly or through others."""
    groups: list[tuple[str, set[int], list[Key]]] = []
    for label, ranges in entities:
        tokens, members, apart = set(_tokens(ranges)), [(label, ranges)], []
        for group in groups:
            if group[0] == label and not tokens.isdisjoint(group[1]):
                tokens |= group[1]
                members += group[2]
            else:
                apart.append(group)
        groups = [*apart, (label, tokens, members)]
    return [members for _, _, members in groups]


def _parts(group: Sequence[Key]) -> Iterator[tuple[str, Range, str]]:
    """The parts of a group of entities: stretches of tokens that belong to the same of them."""
    owners: dict[int, list[int]] = defaultdict(list)
    for number, (_, ranges) in enumerate(group):
        for token in _tokens(ranges):
            owners[token].append(number)
    in_order = enumerate(sorted(owners))
    for _, run in groupby(in_order, key=lambda item: (item[1] - item[0], owners[item[1]])):
        tokens = [token for _, token in run]
        yield HEAD if len(owners[tokens[0]]) > 1 else BODY, (tokens[0], tokens[-1] + 1), group[0][0]


def parse(label: str) -> tuple[str, str, str] | None:
    """The position that a label marks (B, I, E, S; O for outside), its part and type; None if it is not a label.

    >>> parse("HI-Disorder"), parse("U-LOC"), parse("I"), parse("NN")
    (('I', 'H', 'Disorder'), ('S', '', 'LOC'), ('I', '', 'Entity'), None)
    """
    if label == OUTSIDE:
        return OUTSIDE, "", ""
    prefix, dash, type = label.partition("-")
    if prefix not in _PREFIXES or (dash and not type) or (not dash and prefix not in _UNTYPED_PREFIXES):
        return None
    return *_PREFIXES[prefix], type or UNTYPED


def decode(labels: Sequence[str]) -> list[Key]:
    """The entities of labels in any of the schemes, or in IOB1, BILOU or BMEWO.

    In each label, every H part is joined with every D part. D parts without an H are one entity, H parts
    without a D one each.
    """
    entities: list[Key] = []
    parts: dict[str, dict[str, list[Range]]] = defaultdict(lambda: {HEAD: [], BODY: []})
    for part, type, stretch in _stretches(labels):
        if part:
            parts[type][part].append(stretch)
        else:
            entities.append((type, (stretch,)))
    for type, found in parts.items():
        heads, bodies = found[HEAD], found[BODY]
        if len(heads) * len(bodies) > MOST_JOINED:
            raise TooMany(f"{len(heads):,} H parts and {len(bodies):,} D parts of {type}")
        if heads and bodies:
            entities += [(type, merge_adjacent((head, body))) for head in heads for body in bodies]
        elif bodies:
            entities.append((type, merge_adjacent(bodies)))
        else:
            entities += [(type, (head,)) for head in heads]
    return entities


def _stretches(labels: Sequence[str]) -> Iterator[tuple[str, str, Range]]:
    """Runs of labels that continue one another: part, type, tokens."""
    first, current = 0, ("", "")
    for token, label in enumerate([*labels, OUTSIDE]):
        parsed = parse(label)
        if parsed is None:
            raise ValueError(f"{label!r} is not a label of BIO, BIOES or BIOHD")
        mark, *kind = parsed
        if mark in (OUTSIDE, "B", "S") or tuple(kind) != current:
            if current[1]:
                yield *current, (first, token)
            first, current = token, (kind[0], kind[1])
        if mark in ("E", "S"):
            yield *current, (first, token + 1)
            current = ("", "")
