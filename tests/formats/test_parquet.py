"""Parquet: what disconer writes comes back whole, and tables of others are understood."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'disconer[ray]'")

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given

from disconer import BadInput, DisconerError, Document, Entity, Ledger, Sentence, read, write
from disconer.formats import parquet
from round_trips import through
from strategies import documents, tokenised_documents

PARSED = Sentence(0, 9, ((0, 3), (4, 9)), (1, -1), ("det", "root"))


@given(document=documents() | tokenised_documents())
def test_everything_comes_back(document: Document) -> None:
    extras = {"brat": {"lines": ["R1\tcauses Arg1:T1 Arg2:T2"]}}
    given = [document, document.replace(id="another", extras=extras)]
    found, ledger = through(given, "a.parquet", "parquet")
    assert found == given
    assert not ledger.losses
    assert not ledger.repairs


def test_sentences_trees_and_their_absence_come_back() -> None:
    given = [
        Document("trees", "the rash.", (Entity("ADR", ((4, 8),), score=0.25),), (PARSED,)),
        Document("words", "the rash.", (), (Sentence(0, 9, ((0, 3), (4, 9))),)),
        Document("no sentences", "the rash.", (), ()),
        Document("none", ""),
    ]
    found, _ = through(given, "a.parquet", "parquet")
    assert found == given


def test_many_rows_are_written_and_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 3)
    given = [Document(f"d{number}", "pain " * number) for number in range(8)]
    write(given, tmp_path / "a.parquet")
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    assert list(read(tmp_path / "a.parquet")) == given
    write([], tmp_path / "none.parquet")
    assert list(read(tmp_path / "none.parquet")) == []


def test_half_a_surrogate_pair_is_replaced_and_counted() -> None:
    found, ledger = through([Document("d", "a \ud83d b", (Entity("A", ((4, 5),)),))], "a.parquet", "parquet")
    assert found == [Document("d", "a \ufffd b", (Entity("A", ((4, 5),)),))]
    assert ledger.losses == {parquet.REPLACED: 1}


def test_tables_of_others_need_only_ids_and_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"year": [1999], "id": [10592235], "text": ["Some rash."]}), tmp_path / "pubmed.parquet")
    assert list(read(tmp_path / "pubmed.parquet")) == [Document("10592235", "Some rash.")]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"pmid": [1], "text": ["a"]}, r"a.parquet: This table has no column 'id'. Got pmid, text, expected"),
        ({"id": ["1", "2"], "text": ["a", None]}, r"a.parquet, row 2: The field 'text' is missing"),
        ({"id": [True], "text": ["a"]}, r"a.parquet, row 1: The field 'id' is of the wrong type. Got true"),
        ({"id": ["1"], "text": ["a"], "extras": ["{"]}, r"a.parquet, row 1: This row is not a disconer document"),
        ({"id": ["1"], "text": ["a"], "entities": [["ADR"]]}, r"a.parquet, row 1: This row is not a disconer document"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(tmp_path: Path, table: dict[str, list[object]], said: str) -> None:
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=said):
        list(read(tmp_path / "a.parquet"))
    ledger = Ledger(skip_bad=True)
    assert len(list(read(tmp_path / "a.parquet", None, ledger))) == len(table["text"]) - 1
    assert ledger.errors == {"bad-syntax": 1}


@pytest.mark.parametrize("column", ["id", "text", "entities", "extras"])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([b"x"]), "binary"),
        (pa.array([b"x"], pa.binary(1)), r"fixed_size_binary\[1\]"),
        (pa.array([1], pa.timestamp("ns")), r"timestamp\[ns\]"),
        (pa.array([1], pa.time64("us")), r"time64\[us\]"),
        (pa.array([Decimal("1.5")]), r"decimal128\(2, 1\)"),
        (pa.array([[{"label": b"ADR"}]]), "binary"),
    ],
)
def test_columns_of_bytes_times_and_decimals_are_refused(
    tmp_path: Path, column: str, values: pa.Array, kind: str
) -> None:
    pq.write_table(pa.table({"id": ["1"], "text": ["a"]} | {column: values}), tmp_path / "a.parquet")
    with pytest.raises(BadInput, match=rf"a.parquet: The column '{column}' .* Got {kind}, expected"):
        list(read(tmp_path / "a.parquet"))


def test_types_that_hold_strings_are_read(tmp_path: Path) -> None:
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        strings = pa.array(["a"], kind)
        pq.write_table(pa.table({"id": strings, "text": strings}), tmp_path / "a.parquet")
        assert list(read(tmp_path / "a.parquet")) == [Document("a", "a")]


def test_extras_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(BadInput, match=r"data set, row 1: This row is not a disconer document. Got .*bytes"):
        parquet.document_of_row({"id": "a", "text": "x", "extras": {"x": b"y"}}, Ledger(), "data set, row 1")
    with pytest.raises(BadInput, match=r"The field 'text' is of the wrong type. Got \"b'x'\""):
        parquet.document_of_row({"id": "a", "text": b"x"}, Ledger(), "data set, row 1")


def test_a_file_that_was_cut_off_says_so(tmp_path: Path) -> None:
    write([Document("d", "pain")], tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"a.parquet: This Parquet file is damaged or incomplete"):
        list(read(tmp_path / "a.parquet"))


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    with pytest.raises(DisconerError, match="pip install pyarrow"):
        write([Document("d", "pain")], tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
