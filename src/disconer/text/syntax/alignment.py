"""From a parser's words to ours, by characters.

Text is cut into the smallest blocks that begin and end where words of both sides do; most blocks are one word of each.
Of a block, the parser's topmost word decides: its head's block is the block's head. Where a block has several of our
words, the last stands for all, as English words have their heads at the end, and the others hang on it as `dep`. What
comes out is a tree whenever the parser's is one: up from a block's topmost word, depth only gets less.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from disconer.text.syntax.parser import Parse, Unparsed
from disconer.text.syntax.tree import ROOT, Tree, Words, depths_of, fault_in

PART = "dep"  # the relation of a word to the one that stands for its block
OTHER_TEXT = "the parser's words are not those of the text"
NO_RELATIONS = "another number of relations than of words"


def on_words(words: Words, parse: Parse) -> Tree | Unparsed:
    """The tree over our words that a parse amounts to, if it is sound."""
    if fault := fault_in(parse.heads, len(parse.forms)):
        return Unparsed(fault)
    if len(parse.relations) != len(parse.forms):
        return Unparsed(NO_RELATIONS)
    if parse.forms == words.texts:
        return Tree(parse.heads, parse.relations)
    forms = ["".join(form.split()) for form in parse.forms]
    if "".join(forms) != "".join(words.texts) or not all(forms):
        return Unparsed(OTHER_TEXT)
    return _through_blocks(words.texts, forms, parse)


def _through_blocks(texts: Sequence[str], forms: Sequence[str], parse: Parse) -> Tree:
    ours, theirs = _ends(texts), _ends(forms)
    borders = sorted({*ours} & {*theirs})
    block_of_ours, block_of_theirs = _blocks(ours, borders), _blocks(theirs, borders)
    depths = depths_of(parse.heads)
    assert depths is not None  # the heads were found sound
    top: dict[int, int] = {}  # of each block, the parser's topmost word
    for place, block in enumerate(block_of_theirs):
        if block not in top or depths[place] < depths[top[block]]:
            top[block] = place
    last = {block: place for place, block in enumerate(block_of_ours)}  # of each block, the last of our words
    heads, relations = [], []
    for place, block in enumerate(block_of_ours):
        head = parse.heads[top[block]]
        if place != last[block]:
            heads.append(last[block])
            relations.append(PART)
        else:
            heads.append(ROOT if head == ROOT else last[block_of_theirs[head]])
            relations.append(parse.relations[top[block]])
    return Tree(tuple(heads), tuple(relations), realigned=True)


def _ends(words: Sequence[str]) -> list[int]:
    """Where each word ends, counted in characters without whitespace."""
    return list(accumulate(map(len, words)))


def _blocks(ends: Sequence[int], borders: Sequence[int]) -> list[int]:
    """The block that each word lies in."""
    blocks = []
    block = 0
    for end in ends:
        blocks.append(block)
        block += end == borders[block]
    return blocks
