"""Many files into a folder, with a stand-in for the model that finds every word `pain`."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Document, Entity, Ledger, read, write
from disconer.formats import all_formats, format_named
from disconer.formats.source import Source
from disconer.predict.files import Filled, Folder, all_documents
from disconer.predict.inputs import units
from disconer.predict.origins import Origins


class PainFinder:
    """Takes `ahead` documents before it gives the first one back, as the recogniser does; stops at the text `stop`."""

    def __init__(self, ahead: int = 3) -> None:
        self.ahead = ahead
        self.seen: list[str] = []

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        waiting: list[Document] = []
        for document in documents:
            if document.text == "stop":
                raise KeyboardInterrupt
            assert (document.entities, document.extras) == ((), {})
            self.seen.append(document.id)
            waiting.append(document)
            if len(waiting) == self.ahead:
                yield from map(self._found, waiting)
                waiting = []
        yield from map(self._found, waiting)

    def _found(self, document: Document) -> Document:
        found = [Entity("ADR", (match.span(),), score=0.9) for match in re.finditer("pain", document.text)]
        return document.replace(entities=tuple(found))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for number in range(7):
        path = folder / ("ward" if number > 4 else "") / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"pain {number}")
    return folder


def folder_at(out: Path, format: str, ledger: Ledger, *, force: bool = False) -> Folder:
    return Folder(Origins.load(out, "model and settings"), format_named(format), ledger, force=force)


def fill(
    source: Path, out: Path, format: str = "jsonl", *, finder: PainFinder | None = None, force: bool = False
) -> Filled:
    folder = folder_at(out, format, Ledger(), force=force)
    list(folder.fill(list(units(Source(source))), finder or PainFinder()))
    return folder.filled


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("[!.]*") if path.is_file())


def test_a_file_for_each_file(notes: Path, tmp_path: Path) -> None:
    folder = fill(notes, tmp_path / "out")
    assert tree(tmp_path / "out") == [*(f"{n}.jsonl" for n in range(5)), "ward/5.jsonl", "ward/6.jsonl"]
    assert (folder.written, folder.done) == (7, 0)
    (document,) = read(tmp_path / "out" / "ward" / "5.jsonl")
    assert (document.id, document.text, [entity.text for entity in document.entities]) == ("ward/5", "pain 5", ["pain"])


def test_brat_has_a_pair_of_files_for_each_document(notes: Path, tmp_path: Path) -> None:
    assert fill(notes, tmp_path / "out", "brat").written == 7
    names = [*map(str, range(5)), "ward/5", "ward/6"]
    assert tree(tmp_path / "out") == [f"{name}{suffix}" for name in names for suffix in (".ann", ".txt")]
    assert (tmp_path / "out" / "3.ann").read_text() == "T1\tADR 0 4\tpain\n"
    assert (tmp_path / "out" / "3.txt").read_text() == "pain 3"


@pytest.mark.parametrize("format", ["jsonl", "brat"])
def test_what_is_done_is_not_done_again(notes: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    fill(notes, out, format)
    for path in (*out.glob("3.*"), *out.glob("ward/6.*")):
        path.unlink()
    finder = PainFinder()
    folder = fill(notes, out, format, finder=finder)
    assert finder.seen == ["3", "ward/6"]
    assert (folder.written, folder.done) == (2, 5)
    assert fill(notes, out, format, force=True).written == 7


@pytest.mark.parametrize("format", ["jsonl", "brat"])
def test_broken_off_and_taken_up_again(notes: Path, tmp_path: Path, format: str) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    fill(notes, whole, format)
    (notes / "4.txt").write_text("stop")
    with pytest.raises(KeyboardInterrupt):
        fill(notes, out, format)
    assert {"0", "1"} <= {path.split(".")[0] for path in tree(out)} <= {"0", "1", "2"}
    (notes / "4.txt").write_text("pain 4")
    fill(notes, out, format)
    assert [(path, (out / path).read_bytes()) for path in tree(out)] == [
        (path, (whole / path).read_bytes()) for path in tree(whole)
    ]


def test_files_of_many_documents_stay_together(tmp_path: Path) -> None:
    for name, size in (("a", 4), ("b", 0), ("c", 1), ("d", 5)):
        write([Document(f"{name}{n}", "pain") for n in range(size)], tmp_path / "in" / f"{name}.jsonl")
    fill(tmp_path / "in", tmp_path / "out")
    assert tree(tmp_path / "out") == ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"]
    assert [document.id for document in read(tmp_path / "out" / "d.jsonl")] == [f"d{n}" for n in range(5)]


@pytest.mark.parametrize("format", [one.name for one in all_formats() if one.write and not one.writes_folder])
def test_a_file_without_documents_has_an_output_without_any(tmp_path: Path, format: str) -> None:
    for name, size in (("a", 0), ("b", 1), ("c", 0)):
        write([Document(f"{name}{n}", "pain") for n in range(size)], tmp_path / "in" / f"{name}.jsonl")
    first = fill(tmp_path / "in", tmp_path / "out", format)
    assert (first.written, first.done) == (3, 0)
    again = fill(tmp_path / "in", tmp_path / "out", format)
    assert (again.written, again.done) == (0, 3)
    for path in (tmp_path / "out").glob("[ac].*"):
        if format_named(format).is_readable:
            assert list(read(path, format)) == []
        else:
            assert len(path.read_text().splitlines()) == 1  # the names of columns


def test_a_file_of_which_nothing_could_be_read_has_no_output(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("{\n")
    (tmp_path / "in" / "b.jsonl").write_text('{"id": "b", "text": "pain"}\n')
    folder = folder_at(tmp_path / "out", "jsonl", Ledger(skip_bad=True))
    list(folder.fill(list(units(Source(tmp_path / "in"))), PainFinder()))
    assert tree(tmp_path / "out") == ["b.jsonl"]


def test_annotated_input_is_taken_as_bare_text(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("no pain at all")
    (folder / "a.ann").write_text("T1\tDrug 0 2\tno\nA1\tNegated T1\n")  # b has none, and a's are not asked
    fill(folder, tmp_path / "out", "brat")
    assert (tmp_path / "out" / "a.ann").read_text() == "T1\tADR 3 7\tpain\n"
    assert (tmp_path / "out" / "b.ann").read_text() == "T1\tADR 3 7\tpain\n"


def test_an_archive(notes: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        for path in sorted(notes.rglob("*.txt")):
            archive.write(path, path.relative_to(notes))
    fill(tmp_path / "notes.zip", tmp_path / "out")
    assert tree(tmp_path / "out")[-2:] == ["ward/5.jsonl", "ward/6.jsonl"]


def test_two_inputs_with_one_output(notes: Path, tmp_path: Path) -> None:
    inputs = [unit for path in (notes / "1.txt", notes) for unit in units(Source(path))]
    folder = folder_at(tmp_path / "out", "jsonl", Ledger())
    with pytest.raises(DisconerError, match=r"same output, 1\.jsonl"):
        list(folder.fill(inputs, PainFinder()))


def test_two_documents_with_one_id(notes: Path) -> None:
    inputs = [unit for path in (notes / "1.txt", notes) for unit in units(Source(path))]
    with pytest.raises(BadInput, match="Two documents have the same id"):
        list(all_documents(inputs, Ledger()))
    ledger = Ledger(skip_bad=True)
    assert len(list(all_documents(inputs, ledger))) == 7
    assert ledger.errors == {"duplicate-id": 1}


def test_an_id_that_is_no_file_name(tmp_path: Path) -> None:
    write([Document("../out", "pain"), Document("good", "pain")], tmp_path / "in.jsonl")
    folder = folder_at(tmp_path / "out", "brat", Ledger(skip_bad=True))
    list(folder.fill(list(units(Source(tmp_path / "in.jsonl"))), PainFinder()))
    assert tree(tmp_path / "out") == ["good.ann", "good.txt"]
    assert folder.ledger.errors == {"unsafe-path": 1}
