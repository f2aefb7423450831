from __future__ import annotations

from pathlib import Path

import pytest

from disconer.core.errors import BadInput, DisconerError
from disconer.core.types import Document
from disconer.text.syntax.attach import Account, Syntax
from disconer.text.syntax.conllu import ConlluParser
from disconer.text.syntax.spec import cache_of
from text.syntax.fakes import document


def conllu(*sentences: str) -> str:
    """Rows of FORM HEAD RELATION, three columns as people can read them, as CoNLL-U."""
    blocks = []
    for sentence in sentences:
        rows = [row.split() for row in sentence.strip().splitlines()]
        blocks.append(
            "".join(
                f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n"
                for number, (form, head, relation) in enumerate(rows, 1)
            )
        )
    return "\n".join(blocks) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "parses.conllu"
    path.write_text(
        conllu("IL-2 2 nsubj\nrises 0 root", "No 2 det\nfever 0 root", "no _ _\ntree _ _", "no 2 x\ncircle 1 x"),
        "utf-8",
    )
    return path


def completed(path: Path, *sentences: str) -> tuple[list[tuple[int, ...] | None], Account]:
    account = Account()
    (found,) = Syntax(ConlluParser(str(path)))([document(*sentences)], account)
    return [sentence.heads for sentence in found.sentences or ()], account


def test_sentences_are_found_by_their_characters(path: Path) -> None:
    heads, account = completed(path, "No  fever", "IL - 2 rises")
    assert heads == [(1, -1), (2, 2, 3, -1)]
    assert account.realigned == 1


def test_what_is_not_found_or_has_no_tree_is_counted(path: Path) -> None:
    heads, account = completed(path, "No fever", "No chills", "no tree", "no circle")
    assert heads == [(1, -1), None, None, None]
    assert account.without == {f"not among the sentences of {path}": 1, f"no tree in {path}": 2}


def test_a_head_out_of_range_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(conllu("No 7 det\nfever 0 root"), "utf-8")
    with pytest.raises(BadInput, match=r"bad.conllu, line 1.*head '7'"):
        ConlluParser(str(path))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no such file"):
        ConlluParser(str(tmp_path / "none.conllu"))


def test_it_needs_no_cache(path: Path) -> None:
    assert cache_of(ConlluParser(str(path))) is None


def test_raw_text_is_no_trouble(path: Path) -> None:
    assert Syntax(ConlluParser(str(path)))([Document("d", "", sentences=())], Account())
