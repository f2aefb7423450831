"""What the tokenizer.json of a model may contain. No torch here.

The tokenizers library does whatever that file says: it replaces letters by longer text until memory is full, which
ends the process, and no `except` catches that. So the file is checked before it is loaded. Its parts must be of known
types; together they may make a text only so much longer; subwords must be in the encoder's table.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.nn.encoders.transformer.regexes import is_simple_regex, may_match_nothing

MOST_BYTES = 64 * 2**20  # the largest vocabularies, of 250,000 subwords, take 17 MB
MOST_PARTS = 32  # of each section
MOST_GROWTH = 40  # times as long as the text: SentencePiece's own rules turn one character into 18, and mark words
MOST_SPECIAL = 16  # subwords around each text; most tokenizers add two
MOST_WORD = 1000  # characters: a word takes WordPiece the square of its length
MOST_SETTING = 1000  # characters of any setting
_CHARSMAP = "precompiled_charsmap"
_SEQUENCE = "Sequence"

# The types of each section, and the key of the parts of a sequence.
_NORMALIZERS = "BertNormalizer ByteLevel Lowercase NFC NFD NFKC NFKD Nmt Precompiled Prepend Replace Strip StripAccents"
_PRE_TOKENIZERS = (
    "BertPreTokenizer ByteLevel CharDelimiterSplit Digits FixedLength Metaspace Punctuation Split UnicodeScripts "
    "Whitespace WhitespaceSplit"
)
_POST_PROCESSORS = "BertProcessing ByteLevel RobertaProcessing TemplateProcessing"
_DECODERS = "BPEDecoder ByteFallback ByteLevel CTC Fuse Metaspace Replace Strip WordPiece"
SECTIONS = {
    "normalizer": (_NORMALIZERS.split(), "normalizers"),
    "pre_tokenizer": (_PRE_TOKENIZERS.split(), "pretokenizers"),
    "post_processor": (_POST_PROCESSORS.split(), "processors"),
    "decoder": (_DECODERS.split(), "decoders"),
    "model": (["BPE", "Unigram", "WordLevel", "WordPiece"], ""),
}
_LISTS = ("vocab", "merges", _CHARSMAP)  # the long values

Part = Mapping[str, Any]


def checked_tokenizer(path: Path, n_ids: int | None) -> str:
    """The text of a tokenizer.json, if it may be loaded. n_ids: subwords that the encoder knows; None if unknown.

    Raises OSError or ValueError if the file is missing or damaged.
    """
    where = Where(str(path))
    if (size := path.stat().st_size) > MOST_BYTES:
        raise _refused(f"a file of {size:,} bytes", f"at most {MOST_BYTES:,}", where)
    text = path.read_text("utf-8")
    try:
        check_tokenizer(json.loads(text, object_pairs_hook=_distinct), n_ids, where)
    except (AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError("it is not a tokenizer's description") from error
    return text


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON: of two values of one name, another parser may choose the other one."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return content


def check_tokenizer(content: Mapping[str, Any], n_ids: int | None, where: Where) -> None:
    """Stop if a tokenizer could take memory or time without end. content: of its tokenizer.json."""
    for got, expected in _objections(content, n_ids):
        raise _refused(got, expected, where)


def check_ids(ids: Collection[int], n_ids: int | None, where: Where) -> None:
    """Stop if a subword is not in the encoder's table."""
    if n_ids is not None and ids and max(ids) >= n_ids:
        raise _refused(*_outside_table(max(ids), n_ids), where)


def _objections(content: Mapping[str, Any], n_ids: int | None) -> Iterator[tuple[str, str]]:
    """What was found and what is allowed, for everything that is not."""
    sections = {name: list(_parts(content.get(name), inner)) for name, (_, inner) in SECTIONS.items()}
    for name, parts in sections.items():
        if len(parts) > MOST_PARTS:
            yield f"a {name} of {len(parts):,} parts", f"at most {MOST_PARTS}"
        for part in parts:
            yield from _objections_to_part(part, name)
    growth = prod(map(_growth, sections["normalizer"] + sections["pre_tokenizer"]))
    if growth > MOST_GROWTH:
        yield f"rules that can make a text {min(growth, 1e12):,.0f} times as long", f"at most {MOST_GROWTH} times"
    n_special = sum(map(_n_special, sections["post_processor"]))
    if n_special > MOST_SPECIAL:
        yield f"a post_processor that adds {n_special:,} subwords to every text", f"at most {MOST_SPECIAL}"
    for token in content.get("added_tokens") or ():
        if len(token["content"]) > MOST_SETTING:
            yield f"an added token of {len(token['content']):,} characters", f"at most {MOST_SETTING:,}"
    yield from _objections_to_vocabulary(content["model"], n_ids)


def _parts(part: Any, inner: str) -> Iterator[Part]:
    """The parts of a section, however deep in sequences."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if inner and part is not None and part["type"] == _SEQUENCE:
            waiting += part[inner]
        elif part is not None:
            yield part


def _objections_to_part(part: Part, section: str) -> Iterator[tuple[str, str]]:
    known = SECTIONS[section][0]
    if part.get("type") not in known:
        yield f"the {section} {excerpt(part.get('type'))}", f"one of {', '.join(known)}"
    for value in _settings({name: value for name, value in part.items() if name not in _LISTS}):
        if len(value) > MOST_SETTING:
            yield f"a setting of {len(value):,} characters in its {section}", f"at most {MOST_SETTING:,}"
    pattern = _regex(part)
    if pattern is not None and not is_simple_regex(pattern):
        yield (
            f"the regex {excerpt(pattern)} in its {section}",
            "one without repeated groups, which can take time without end",
        )


def _settings(value: Any) -> Iterator[str]:
    """All strings of a value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def _regex(part: Part) -> str | None:
    pattern = part.get("pattern")
    return pattern.get("Regex") if isinstance(pattern, Mapping) else None


def _growth(part: Part) -> float:
    """How many characters a part makes of one at most, where the file or repeating the part decides it."""
    kind = part.get("type")
    if kind == "Replace":
        return _growth_of_replacing(part["pattern"], part["content"])
    if kind == "Prepend":
        return 1 + len(part["prepend"])
    if kind == "Precompiled":
        return _longest_in(part[_CHARSMAP])
    return {"BertNormalizer": 3, "ByteLevel": 2, "Metaspace": 2}.get(str(kind), 1)


def _growth_of_replacing(pattern: Mapping[str, str], content: str) -> float:
    if "Regex" in pattern:
        return len(content) + 1 if may_match_nothing(pattern["Regex"]) else max(1, len(content))
    return max(1, len(content) / max(1, len(pattern["String"])))


def _longest_in(charsmap: str) -> int:
    """The longest replacement in a map of SentencePiece: the size of its trie, the trie, strings that end with 0."""
    data = b64decode(charsmap, validate=True)
    strings = data[4 + int.from_bytes(data[:4], "little") :].split(b"\0")
    return max(1, *(len(string.decode("utf-8", "replace")) for string in strings))


def _n_special(part: Part) -> int:
    """The number of subwords that a post-processor adds to a text."""
    if part.get("type") == "TemplateProcessing":
        pieces = part["single"]
        named = [piece["SpecialToken"]["id"] for piece in pieces if "SpecialToken" in piece]
        copies = len(pieces) - len(named) - 1  # of the text itself
        return sum(len(part["special_tokens"][name]["ids"]) for name in named) + max(0, copies) * (MOST_SPECIAL + 1)
    return 0 if part.get("type") == "ByteLevel" else 2


def _objections_to_vocabulary(model: Part, n_ids: int | None) -> Iterator[tuple[str, str]]:
    longest = model.get("max_input_chars_per_word", 0)
    if longest > MOST_WORD:
        yield f"words of up to {longest:,} characters", f"at most {MOST_WORD:,}"
    vocabulary = model["vocab"]
    highest = len(vocabulary) - 1 if isinstance(vocabulary, list) else max(vocabulary.values(), default=0)
    if n_ids is not None and highest >= n_ids:
        yield _outside_table(highest, n_ids)


def _outside_table(highest: int, n_ids: int) -> tuple[str, str]:
    return f"a subword of id {highest:,}", f"ids below {n_ids:,}, the size of the encoder's vocabulary"


def _refused(got: str, expected: str, where: Where) -> DisconerError:
    return DisconerError(
        "This tokenizer is not safe to use",
        where=where,
        got=got,
        expected=expected,
        fix="Copy the complete model again, or do not trust it.",
    )
