from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from disconer import BadInput, Document, Ledger, read, write
from disconer.formats import sniff
from disconer.formats.source import Source
from strategies import tokenised_documents
from token_formats import n_missing, round_trip, seen

GOLDEN = Path(__file__).parent / "golden" / "dygie"
CANNOT_TELL = "entities that fragments cannot tell apart"
INVENTED = "entities invented when fragments are joined"


@given(document=tokenised_documents())
def test_round_trip_keeps_all_but_what_is_counted(document: Document) -> None:
    (read_back,), ledger = round_trip([document], "dygie", ".jsonl")
    before, after = seen([document]), seen([read_back])
    assert n_missing(before, after) == ledger.losses[CANNOT_TELL]
    assert n_missing(after, before) == ledger.losses[INVENTED]
    assert (read_back.id, read_back.text, read_back.sentences) == (document.id, document.text, document.sentences)


@pytest.mark.parametrize("name", ["sodner.jsonl", "scierc.jsonl"])
def test_golden_files_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    ledger = Ledger()
    write(read(GOLDEN / name, ledger=ledger), tmp_path / name, "dygie", ledger)
    assert json.loads((tmp_path / name).read_text()) == json.loads((GOLDEN / name).read_text())
    assert not ledger.losses
    assert not ledger.repairs


def test_sodner_fragments_become_entities() -> None:
    (document,) = read(GOLDEN / "sodner.jsonl")
    assert document.text == "Severe joint and neck pain .\nNo fever ."
    assert [entity.text for entity in document.entities] == ["Severe joint pain", "neck pain", "fever"]
    assert document.sentences is not None
    assert [sentence.heads for sentence in document.sentences] == [(4, 4, 1, 1, -1, 4), (1, -1, 1)]


def test_plain_dygie_keeps_relations_clusters_and_graphs_that_are_no_trees() -> None:
    (document,) = read(GOLDEN / "scierc.jsonl")
    assert [(entity.label, entity.text) for entity in document.entities] == [("Drug", "Aspirin"), ("Protein", "COX-1")]
    assert document.sentences is not None
    assert document.sentences[0].heads is None
    assert document.extras["dygie"] == {
        "clusters": [[[0, 0], [4, 4]]],
        "dataset": "demo",
        "relations": [[[0, 0, 2, 2, "INHIBITS"]], []],
        "dep": [{"nodes": [[1], [0, 2, 3], [1, 3], [1, 2]]}, {}],
        "n_tokens": [4, 4],
    }


def test_positions_kept_aside_are_not_written_for_other_tokens(tmp_path: Path) -> None:
    (document,) = read(GOLDEN / "scierc.jsonl")
    ledger = Ledger()
    write([document.replace(sentences=None)], tmp_path / "a.jsonl", "dygie", ledger)  # "COX-1" is three words now
    assert "clusters" not in json.loads((tmp_path / "a.jsonl").read_text())
    assert ledger.losses["documents' dygie extras"] == 1


def test_damaged_extras_are_said(tmp_path: Path) -> None:
    (document,) = read(GOLDEN / "scierc.jsonl")
    broken = document.replace(extras={"dygie": {**document.extras["dygie"], "relations": 3}})
    with pytest.raises(BadInput, match="dygie extras"):
        write([broken], tmp_path / "a.jsonl", "dygie")


def record(**changes: object) -> dict[str, object]:
    return {
        "doc_key": "d",
        "sentences": [["a", "b"], ["c", "d", "e"]],
        "ner": [[], [[2, 2, "X"], [4, 4, "X"]]],
    } | changes


def save(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_doubtful_entities_and_idle_relations_are_counted(tmp_path: Path) -> None:
    ner = [[], [[2, 2, "X"], [4, 4, "X"], [2, 2, "X"], [4, 4, "X"], [3, 3, "Y"]]]
    relations = [[], [[2, 2, 4, 4, "Combined"], [4, 4, 2, 2, "Combined"], [3, 3, 4, 4, "Combined"]]]
    ledger = Ledger()
    (document,) = read(save(tmp_path / "a.jsonl", record(ner=ner, relations=relations)), ledger=ledger)
    assert [entity.text for entity in document.entities] == ["c e", "d"]
    assert ledger.repairs == {"entities rebuilt from ambiguous fragments": 1, "Combined relations that join nothing": 1}


def test_predicted_scores_after_the_label_are_passed_over(tmp_path: Path) -> None:
    (document,) = read(save(tmp_path / "a.jsonl", record(ner=[[[0, 1, "X", 9.1, 0.99]], []])))
    assert [entity.text for entity in document.entities] == ["a b"]


BAD = [
    ("bad-offset", {"ner": [[[0, 2, "X"]], []]}),
    ("bad-offset", {"ner": [[[1, 0, "X"]], []]}),
    ("bad-offset", {"ner": [[], [[0, 0, "X"]]]}),
    ("bad-syntax", {"ner": [[["0", "0", "X"]], []]}),
    ("bad-syntax", {"ner": [[[0, 0]], []]}),
    ("bad-syntax", {"ner": [[]]}),
    ("bad-syntax", {"ner": [None, []]}),
    ("bad-syntax", {"relations": [[[0, 0, 1]], []]}),
    ("bad-syntax", {"dep": [{}]}),
    ("bad-syntax", {"dep": [{"nodes": [1, 0]}, {}]}),
    ("bad-syntax", {"dep": [{"nodes": 2}, {}]}),
    ("bad-syntax", {"dep": [[[1], [0]], {}]}),
    ("bad-syntax", {"sentences": [["a", ""], []]}),
    ("bad-syntax", {"sentences": ["a b", "c d e"]}),
    ("bad-syntax", {"sentences": None}),
    ("bad-syntax", {"doc_key": 3}),
]


@pytest.mark.parametrize(("problem", "changes"), BAD)
def test_bad_records_stop_with_place_or_are_skipped_and_counted(
    tmp_path: Path, problem: str, changes: dict[str, object]
) -> None:
    path = save(tmp_path / "a.jsonl", record(doc_key="c"), record(**changes), record(doc_key="e"))
    with pytest.raises(BadInput, match=r"a\.jsonl, line 2") as caught:
        list(read(path, "dygie"))
    assert caught.value.problem == problem
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "dygie", ledger)][-1] == "e"
    assert ledger.errors == {problem: 1}


def test_a_line_cut_off_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record()) + "\n" + json.dumps(record())[:-20])
    with pytest.raises(BadInput, match="line 2") as caught:
        list(read(path, "dygie"))
    assert caught.value.problem == "truncated"


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_it_is_told_from_native_json(tmp_path: Path, suffix: str) -> None:
    path = save(tmp_path / f"a{suffix}", record(sentences=[["the", "text"], ["id", "of", "it"]]), record(doc_key="e"))
    assert sniff(Source(path)).name == "dygie"
    assert len(list(read(path))) == 2
    native = tmp_path / "b.jsonl"
    write(read(path), native)
    assert sniff(Source(native)).name == "jsonl"


def test_craft_comes_back_but_for_what_is_counted(data: Path) -> None:
    documents = list(read(data / "craft" / "dev.jsonl.gz"))
    read_back, ledger = round_trip(documents, "dygie", ".jsonl")
    before, after = seen(documents), seen(read_back)
    assert n_missing(before, after) == ledger.losses[CANNOT_TELL]
    assert n_missing(after, before) == ledger.losses[INVENTED]
    n_entities = sum(len(document.entities) for document in documents)
    n_unaligned = sum(count for what, count in ledger.losses.items() if what.startswith("entities ("))
    assert sum(found.total() for _, found in before) + n_unaligned == n_entities
    assert ledger.losses[CANNOT_TELL] < n_entities / 1000


@pytest.mark.parametrize("neighbour", [True, 1.0, "1", None, [1]])
def test_neighbours_are_whole_numbers(tmp_path: Path, neighbour: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"sentences": [["a", "b"]], "dep": [{"nodes": [[neighbour], [0]]}]}))
    with pytest.raises(BadInput, match="not a dependency graph"):
        list(read(path, "dygie"))


@pytest.mark.parametrize("ner", [[True, 1, "A"], [0, False, "A"], [0, 1.0, "A"], [0, 1, ""], [0, 1, 3]])
def test_mentions_of_the_wrong_type(tmp_path: Path, ner: list[object]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"sentences": [["a", "b"]], "ner": [[ner]]}))
    with pytest.raises(BadInput, match="not a mention"):
        list(read(path, "dygie"))
