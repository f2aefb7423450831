from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import DisconerError, Document, write
from disconer.start.splits import Division, find_splits, plan_splits, splits_in_ids, take_splits


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["train.jsonl", "dev.jsonl", "test.jsonl"], ["train.jsonl", "dev.jsonl", "test.jsonl"]),
        (["Training/a.ann", "validation/a.ann"], ["Training", "validation"]),
        (["cadec-train.json.gz", "cadec_devel.json.gz"], ["cadec-train.json.gz", "cadec_devel.json.gz"]),
        (["corpus/train/a.ann", "corpus/dev/a.ann"], ["corpus/train", "corpus/dev"]),
        (["train.txt", "train.ann", "dev.txt", "dev.ann"], []),
        (["training-accident.ann", "stress-test.ann"], []),
        (["dev.jsonl", "test.jsonl"], []),
        (["trains.jsonl", "devices.jsonl"], []),
    ],
)
def test_splits_are_found_by_their_names(tmp_path: Path, names: list[str], found: list[str]) -> None:
    assert sorted(find_splits(touch(tmp_path, *names)).values()) == sorted(tmp_path / name for name in found)


def test_two_candidates_for_a_split_are_not_guessed_between(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"train\.conll and train\.jsonl"):
        find_splits(touch(tmp_path, "train.jsonl", "train.conll", "dev.jsonl"))


def test_folders_in_ids_tell_the_split_only_if_all_have_one() -> None:
    assert splits_in_ids(["x/train/1", "x/dev/1", "train/2"]) == {
        "x/train/1": "train",
        "x/dev/1": "dev",
        "train/2": "train",
    }
    assert splits_in_ids(["train/1", "dev/1", "2"]) == {}
    assert splits_in_ids(["train", "dev"]) == {}


@given(ids=st.lists(st.text(max_size=5), min_size=2, max_size=80, unique=True), random=st.randoms())
def test_taking_splits_needs_no_order_and_leaves_none_empty(ids: list[str], random: Random) -> None:
    taken = take_splits(ids, ["dev", "test"])
    shuffled = list(ids)
    random.shuffle(shuffled)
    assert take_splits(shuffled, ["dev", "test"]) == taken
    counts = Counter(taken.values())
    tenth = max(1, round(len(ids) / 10))
    expected = {"dev": tenth, "test": tenth, "train": len(ids) - 2 * tenth} if len(ids) > 2 else {"dev": 1, "train": 1}
    assert counts == expected


def test_a_single_document_cannot_be_split() -> None:
    with pytest.raises(DisconerError, match="Too few documents"):
        take_splits(["a"], ["dev", "test"])
    with pytest.raises(DisconerError, match="all with the same text"):
        take_splits(["a", "b"], ["dev"], texts={"a": "pain", "b": "pain"})


def test_dev_is_taken_from_train_and_test_stays(tmp_path: Path) -> None:
    write([Document(f"d{number}", f"text {number}") for number in range(20)], tmp_path / "train.jsonl")
    write([Document("d0", "text")], tmp_path / "test.jsonl")
    splits = plan_splits(tmp_path, None, tmp_path / "out")
    assert Counter(splits.assigned.values()) == {"train": 18, "dev": 2}
    assert splits.paths["test"] == tmp_path / "test.jsonl"
    assert splits.paths["dev"] == tmp_path / "out" / "dev.jsonl"
    assert [document.id for document in splits.documents("test")] == ["d0"]


def test_groups_by_a_pattern_of_the_id_stay_together() -> None:
    ids = [f"{patient}_{visit}" for patient in range(40) for visit in range(1 + patient % 4)]
    taken = take_splits(ids, ["dev", "test"], Division.parse(None, 0, r"^(\d+)"))
    by_patient: dict[str, set[str]] = {}
    for id, split in taken.items():
        by_patient.setdefault(id.split("_")[0], set()).add(split)
    assert all(len(splits) == 1 for splits in by_patient.values())
    sizes = Counter(taken.values())
    assert 10 <= sizes["dev"] <= 13
    assert 10 <= sizes["test"] <= 13


def test_documents_of_one_text_stay_together() -> None:
    ids = [f"note{number}" for number in range(40)]
    texts = {id: id for id in ids} | dict.fromkeys(ids[5:15], "No complaints.")
    for seed in range(20):
        division = Division(seed=seed)
        taken = take_splits(ids, ["dev", "test"], division, texts)
        assert taken == take_splits(ids[::-1], ["dev", "test"], division, texts)
        assert len({taken[id] for id in ids[5:15]}) == 1
        assert len(set(taken.values())) == 3


@pytest.mark.parametrize("copies", [[60], [5] * 20, [50, 50], [2] * 50])
def test_texts_with_copies_go_to_no_split_more_than_to_others(copies: list[int]) -> None:
    """However often a text is repeated, splits have about their sizes, and its place is left to chance."""
    n, found, repeated = 1000, Counter[str](), Counter[str]()
    texts = {str(number): number for number in range(n)}
    first = 0
    for size in copies:
        texts |= {str(number): first for number in range(first, first + size)}
        first += size
    for seed in range(20):
        taken = take_splits(list(texts), ["dev", "test"], Division(seed=seed), texts)
        sizes = Counter(taken.values())
        assert abs(sizes["dev"] - 100) <= 25
        assert abs(sizes["test"] - 100) <= 25
        found += sizes
        repeated += Counter(taken[str(number)] for number in range(first))
    assert found["dev"] == pytest.approx(20 * 100, rel=0.05)
    if len(copies) > 2:
        assert repeated["dev"] / repeated.total() == pytest.approx(0.1, abs=0.06)
        assert repeated["train"] / repeated.total() == pytest.approx(0.8, abs=0.08)


def test_a_text_of_most_documents_is_for_training() -> None:
    ids = [str(number) for number in range(100)]
    taken = Counter(take_splits(ids, ["dev", "test"], texts={id: max(40, int(id)) for id in ids}).values())
    assert taken == {"train": 80, "dev": 10, "test": 10}


def test_a_text_that_all_patients_have_does_not_put_them_together() -> None:
    ids = [f"{patient}-{note}" for patient in range(40) for note in range(3)]
    texts = {id: id for id in ids} | {f"{patient}-0": "No complaints." for patient in range(40)}
    division = Division.parse(None, 0, r"^\d+")
    assert take_splits(ids, ["dev", "test"], division, texts) == take_splits(ids, ["dev", "test"], division)


def test_ratios_and_seed() -> None:
    ids = [f"note{number}" for number in range(200)]
    sizes = Counter(take_splits(ids, ["dev", "test"], Division.parse("60/30/10", 0, None)).values())
    assert sizes == {"train": 120, "dev": 60, "test": 20}
    first, again, other = (take_splits(ids, ["dev"], Division.parse(None, seed, None)) for seed in (1, 1, 2))
    assert first == again != other


def test_two_ratios_make_no_test_split(tmp_path: Path) -> None:
    write([Document(f"d{number}", f"pain {number}") for number in range(10)], tmp_path / "all.jsonl")
    splits = plan_splits(tmp_path / "all.jsonl", None, tmp_path / "out", Division.parse("80/20", 0, None))
    assert Counter(splits.assigned.values()) == {"train": 8, "dev": 2}


@pytest.mark.parametrize("ratios", ["80", "80/0/20", "0/50/50", "a/b", "1/2/3/4", "-8/1/1"])
def test_ratios_that_are_none(ratios: str) -> None:
    with pytest.raises(DisconerError, match="not ratios"):
        Division.parse(ratios, 0, None)


def test_a_pattern_that_is_none_and_one_that_puts_all_together() -> None:
    with pytest.raises(DisconerError, match="not a pattern"):
        Division.parse(None, 0, "(")
    with pytest.raises(DisconerError, match=r"No id of a document matches --group.*'note1'.*PAT"):
        take_splits(["note1", "note2"], ["dev"], Division.parse(None, 0, r"^PAT(\d+)"))
    with pytest.raises(DisconerError, match="all in the group 'note'"):
        take_splits(["note1", "note2"], ["dev"], Division.parse(None, 0, "note"))
