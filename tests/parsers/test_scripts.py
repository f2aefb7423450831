"""From CRAFT's JSONL to trees, scores and files of heads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

TEXT = "Mice ran, fast."
SENTENCE = {
    "start": 0,
    "end": 15,
    "tokens": [[0, 4], [5, 8], [8, 9], [10, 14], [14, 15]],
    "heads": [1, -1, 1, 1, 1],
    "relations": ["nsubj", "root", "punct", "advmod", "punct"],
}


@pytest.fixture
def vocab() -> Vocab:
    return Vocab()


def craft(path: Path, articles: int) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for number in range(articles):
            lines.write(json.dumps({"id": f"a{number}", "text": TEXT, "sentences": [SENTENCE]}) + "\n")
    return path


def test_a_sentence_keeps_tokens_spaces_and_tree(convert: ModuleType, vocab: Vocab) -> None:
    doc = convert.parsed_doc(vocab, TEXT, SENTENCE)

    assert doc.text == TEXT
    assert [token.head.i for token in doc] == [1, 1, 1, 1, 1]
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "punct", "advmod", "punct"]


@pytest.mark.parametrize(("without", "of", "left"), [(-1, 1, 5), (0, 2, 2), (1, 2, 3)])
def test_a_fold_of_articles_is_left_out(convert: ModuleType, tmp_path: Path, without: int, of: int, left: int) -> None:
    convert.convert(craft(tmp_path / "train.jsonl.gz", 5), tmp_path / "train.spacy", without=without, of=of)

    assert len(DocBin().from_disk(tmp_path / "train.spacy")) == left


def test_scores_leave_punctuation_out(convert: ModuleType, scores: ModuleType, vocab: Vocab) -> None:
    gold = convert.parsed_doc(vocab, TEXT, SENTENCE)
    guess = Doc(
        vocab,
        words=[token.text for token in gold],
        heads=[1, 1, 0, 0, 0],  # "fast" hangs on the wrong word, and so does all punctuation
        deps=["dobj", "ROOT", "punct", "advmod", "punct"],
    )

    result = scores.score(SimpleNamespace(pipe=lambda docs: [guess for _ in docs]), [gold])

    assert (result.words, result.heads, result.heads_and_relations) == (3, 2, 1)


def test_a_parser_sees_words_but_no_tree(convert: ModuleType, scores: ModuleType, vocab: Vocab) -> None:
    doc = scores.unparsed(convert.parsed_doc(vocab, TEXT, SENTENCE))

    assert doc.text == TEXT
    assert not doc.has_annotation("DEP")
    assert [token.is_sent_start for token in doc] == [True, False, False, False, False]


def test_conllu_is_read(scores: ModuleType, vocab: Vocab, tmp_path: Path) -> None:
    path = tmp_path / "one.conllu"
    path.write_text(
        "# text = Mice ran.\n"
        "1\tMice\t_\t_\t_\t_\t2\tnsubj\t_\t_\n"
        "2\tran\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "3\t.\t_\t_\t_\t_\t2\tpunct\t_\t_\n\n"
    )

    [doc] = scores.read_trees(vocab, path)

    assert doc.text.rstrip() == "Mice ran."
    assert [token.head.i for token in doc] == [1, 1, 1]
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "punct"]


def test_every_fold_is_parsed_by_the_parser_that_did_not_see_it(
    heads: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_name(name: str, article: dict[str, Any]) -> list[str]:
        return [name, article["id"]]

    monkeypatch.setattr(heads, "parsed_heads", by_name)
    articles = heads.heads_of_articles(craft(tmp_path / "train.jsonl.gz", 4), ["without 0", "without 1"])

    assert [*articles] == [["without 0", "a0"], ["without 1", "a1"], ["without 0", "a2"], ["without 1", "a3"]]


def test_without_a_parser_the_heads_are_the_treebanks(heads: ModuleType, tmp_path: Path) -> None:
    assert [*heads.heads_of_articles(craft(tmp_path / "dev.jsonl.gz", 1), [])] == [[SENTENCE["heads"]]]


def test_a_corpus_gets_other_heads(attach: ModuleType, tmp_path: Path) -> None:
    source, heads, target = craft(tmp_path / "dev.jsonl.gz", 2), tmp_path / "heads.json.gz", tmp_path / "base.jsonl.gz"
    others = [[[-1, 0, 0, 0, 0]], [[1, -1, 1, 1, 3]]]
    heads.write_bytes(gzip.compress(json.dumps(others).encode()))

    attach.attach(source, heads, target)

    articles = [json.loads(line) for line in gzip.decompress(target.read_bytes()).splitlines()]
    assert [[sentence["heads"] for sentence in article["sentences"]] for article in articles] == others
    assert all("relations" not in sentence for article in articles for sentence in article["sentences"])
    assert [article["id"] for article in articles] == ["a0", "a1"]


def test_heads_of_another_corpus_are_refused(attach: ModuleType, tmp_path: Path) -> None:
    source, heads = craft(tmp_path / "dev.jsonl.gz", 2), tmp_path / "heads.json.gz"
    heads.write_bytes(gzip.compress(json.dumps([[[-1, 0, 0, 0, 0]]]).encode()))

    with pytest.raises(ValueError, match="shorter"):
        attach.attach(source, heads, tmp_path / "out.jsonl.gz")
