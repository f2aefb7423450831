"""What holds for all exchange formats: odd names, recognition by content, brat → format → brat on real corpora."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import BadInput, Document, Entity, read, write
from disconer.cli.convert import convert
from disconer.formats import all_formats
from disconer.formats.uima.tsv import LEADING, TRIMMED
from disconer.formats.xml import REPLACED
from round_trips import through

GOLDEN = Path(__file__).parent / "golden"
FORMATS = [("a.xml", "bioc-xml"), ("a.json", "bioc-json"), ("a.json", "pubannotation"), ("a.jsonl", "bigbio")]
every_format = pytest.mark.parametrize(("name", "format"), FORMATS)


@every_format
def test_odd_names_and_none_come_back(name: str, format: str) -> None:
    entities = (
        Entity(" A\n<b>&'\"\r\n", ((0, 1),), "x\ry\t<&>\"' \u2028é😀"),
        Entity("B/C:1", ((0, 1), (2, 3)), "0"),
        Entity("D", ((2, 3),)),
        Entity("D", ((2, 3),)),
    )
    documents = [Document(" d\r\n/é 😀 ", "a\rb", entities), Document("e", ""), Document("f", "\n \r\n")]
    back, ledger = through(documents, name, format)
    assert back == documents
    assert not ledger.losses


@pytest.mark.parametrize(("name", "format"), [*FORMATS, ("a.jsonl", "jsonl")])
def test_half_a_surrogate_pair_comes_back_or_is_counted(name: str, format: str) -> None:
    document = Document("d", "a\ud83db", (Entity("A", ((0, 2),)),))
    back, ledger = through([document], name, format)
    if format == "bioc-xml":
        assert back == [document.replace(text="a\ufffdb")]
        assert ledger.losses == {REPLACED: 1}
    else:
        assert back == [document]


@every_format
def test_no_documents_at_all(tmp_path: Path, name: str, format: str) -> None:
    write([], tmp_path / name, format)
    assert list(read(tmp_path / name, format)) == []


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("bioc.xml", "bioc-xml"),
        ("bioc.written.xml", "bioc-xml"),
        ("bioc.json", "bioc-json"),
        ("pubannotation.json", "pubannotation"),
        ("pubannotation.written.jsonl", "pubannotation"),
        ("bigbio.json", "bigbio"),
    ],
)
def test_a_file_is_recognised_by_its_own_format_only(tmp_path: Path, name: str, format: str) -> None:
    def recognised(path: Path) -> list[str]:
        telling = [other for other in all_formats() if other.name != "text"]
        return [other.name for other in telling if other.sniff(path.name, path.read_bytes())]

    assert recognised(GOLDEN / name) == [format]
    write(read(GOLDEN / name), tmp_path / "a.jsonl")  # which carries what looks like the other format
    assert recognised(tmp_path / "a.jsonl") == ["jsonl"]


@every_format
def test_bad_input_leaves_no_output(tmp_path: Path, name: str, format: str) -> None:
    source, target = tmp_path / name, tmp_path / "out.jsonl"
    write([Document("a", "x"), Document("b", "pain", (Entity("A", ((0, 4),)),))], source, format)
    whole = source.read_text()
    source.write_text(whole[: len(whole) * 2 // 3])
    with pytest.raises(BadInput, match="ends too early"):
        convert(source, target, from_format=format)
    assert not target.exists()
    ledger = convert(source, target, from_format=format, skip_bad=True)
    assert ledger.errors == {"truncated": 1}
    assert target.exists()


CORPORA = {"chia": 5, "phee": 10}  # every so many documents of it; all of Chia: test_brat_round_trip.py


@pytest.fixture(scope="module", params=CORPORA)
def corpus(data: Path, request: pytest.FixtureRequest) -> list[Document]:
    (archive,) = (data / request.param).glob("*.zip")
    return list(read(archive, "brat"))[:: CORPORA[request.param]]


def said(documents: list[Document]) -> dict[str, tuple[str, list[object]]]:
    return {
        document.id: (document.text, [(entity.id, entity.key) for entity in document.entities])
        for document in documents
    }


@every_format
def test_every_text_label_and_fragment_comes_back(corpus: list[Document], name: str, format: str) -> None:
    exchanged, ledger = through(corpus, name, format)
    assert said(exchanged) == said(corpus)
    beside = ("brat ", "roles of relations", "texts of normalisations", "attributes whose name is taken")
    assert all(what.startswith(beside) for what in ledger.losses)
    some = exchanged[::10]  # brat files are many and slow to write, and all documents are alike by now
    back, _ = through(some, "folder", "brat")
    assert said(back) == said(some)


TOOLS = [
    ("a.json", "label-studio"),
    ("a.jsonl", "doccano"),
    ("a.jsonl", "prodigy"),
    ("folder", "cas-xmi"),
    ("folder", "cas-json"),
    ("folder", "webanno-tsv"),
]


@pytest.mark.parametrize(("name", "format"), TOOLS)
def test_annotation_tools_give_back_every_text_label_and_fragment(
    corpus: list[Document], name: str, format: str
) -> None:
    def keys(documents: list[Document]) -> dict[str, tuple[str, list[object]]]:
        return {one.id: (one.text, sorted(entity.key for entity in one.entities)) for one in documents}

    exchanged, ledger = through(corpus, name, format)
    before, after = keys(corpus), keys(exchanged)
    changed = [id for id in before if after.get(id) != before[id]]
    assert not ledger.errors
    if format == "webanno-tsv":  # some annotations begin or end in whitespace
        assert len(changed) <= ledger.losses[TRIMMED] + ledger.losses[LEADING]
    else:
        assert not changed
