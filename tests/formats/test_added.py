"""A format that another package adds: read, written, recognised and named like disconer's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import pytest
from typer.testing import CliRunner

from disconer import BadInput, DisconerError, Document, Entity, Fragment, Ledger, read, write
from disconer.cli import app
from disconer.core.errors import DisconerWarning
from disconer.formats import FORMATS, Format, format_for, format_named
from disconer.formats.format import member_reader, stream_writer
from disconer.formats.source import Member
from plugging import plug_in

SUFFIXES = (".toy",)


def _sniff(name: str, head: bytes) -> bool:
    return head.startswith(b"toy\t")


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for _, line in member.lines():
        _, id, text, *mentions = line.split("\t")
        fragments = [mention.split(" ") for mention in mentions]
        yield Document(id, text, tuple(Entity(label, (Fragment(int(a), int(b)),)) for label, a, b in fragments))


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    for document in documents:
        kept = [entity for entity in document.entities if len(entity.fragments) == 1]
        ledger.lost("discontinuous entities", len(document.entities) - len(kept))
        mentions = [f"{entity.label} {entity.start} {entity.end}" for entity in kept]
        stream.write(("\t".join(["toy", document.id, document.text, *mentions]) + "\n").encode())


TOY = Format(
    name="toy",
    about="a line a document",
    holds="continuous entities",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
MISNAMED = Format("other", "of another name", (), _sniff, read=TOY.read)
DOCUMENT = Document("d1", "pain in legs", (Entity("ADR", (Fragment(0, 4),)),))


@pytest.fixture
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, FORMATS, "toy", f"{__name__}:TOY")


pytestmark = pytest.mark.usefixtures("_added")


def test_it_is_written_by_its_name_and_by_its_suffix(tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "by-name", "toy")
    write([DOCUMENT], tmp_path / "suffix.toy")
    assert (
        (tmp_path / "by-name").read_text()
        == (tmp_path / "suffix.toy").read_text()
        == "toy\td1\tpain in legs\tADR 0 4\n"
    )


def test_it_is_recognised_by_its_content(tmp_path: Path) -> None:
    for name in ("a.toy", "a.nix"):
        write([DOCUMENT], tmp_path / name, "toy")
        assert [one.entities for one in read(tmp_path / name)] == [DOCUMENT.entities]


def test_it_is_converted_to_and_from(tmp_path: Path) -> None:
    apart = DOCUMENT.replace(id="d2", entities=(Entity("ADR", (Fragment(0, 4), Fragment(8, 12))),))
    write([DOCUMENT, apart], tmp_path / "a.jsonl")
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "a"), "--to", "toy"])
    assert "lost: 1 discontinuous entity" in result.stderr
    back = ["convert", str(tmp_path / "a"), str(tmp_path / "b.jsonl"), "--from", "toy"]
    assert CliRunner().invoke(app, back).exit_code == 0
    assert list(read(tmp_path / "b.jsonl")) == [DOCUMENT, apart.replace(entities=())]


def test_it_is_named_with_the_others(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"one of jsonl, .*, toy"):
        format_named("tony")
    with pytest.raises(DisconerError, match=r"--to: .*, toy\."):
        format_for(Path("a.nix"))
    (tmp_path / "a.nix").write_bytes(b"\x00")
    with pytest.raises(DisconerError, match=r"--from: .*, toy\."):
        read(tmp_path / "a.nix")
    assert "a line a document. Holds: continuous entities." in CliRunner().invoke(app, ["formats"]).stdout


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere:FORMAT", "cannot be loaded.*ModuleNotFoundError"),
        (f"{__name__}:DOCUMENT", "not a format of that name.*a Document"),
        (f"{__name__}:MISNAMED", "not a format of that name.*the format 'other'"),
    ],
)
def test_one_that_is_broken_stops_only_those_who_ask_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, message: str
) -> None:
    plug_in(monkeypatch, FORMATS, "broken", place)
    with pytest.raises(DisconerError, match=message):
        format_named("broken")
    write([DOCUMENT], tmp_path / "a.jsonl")
    with pytest.warns(DisconerWarning, match=message):
        assert list(read(tmp_path / "a.jsonl")) == [DOCUMENT]


@pytest.fixture
def _shown(_added: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The format that docs/how-to/formats-of-your-own.md shows."""
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "formats-of-your-own.md"
    code = re.search(r"```python\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    assert code
    shown = ModuleType("shown_format")
    exec(code[1], shown.__dict__)
    monkeypatch.setitem(sys.modules, "shown_format", shown)
    plug_in(monkeypatch, FORMATS, "mentions", "shown_format:FORMAT")


@pytest.mark.usefixtures("_shown")
def test_the_one_of_the_guide_keeps_every_text(tmp_path: Path) -> None:
    document = Document("d1", "pain\tin\n\nlegs", (Entity("side effect", (Fragment(0, 4),)),))
    write([document], tmp_path / "a.mentions")
    assert list(read(tmp_path / "a.mentions")) == [document]


@pytest.mark.usefixtures("_shown")
@pytest.mark.parametrize("line", ["#mentions", "#mentions\td1\tpain", '#mentions\td1\t"pain"\tADR 0'])
def test_the_one_of_the_guide_names_a_line_that_is_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.mentions").write_text(line + "\n")
    with pytest.raises(BadInput, match=r"a\.mentions, line 1: This is no line of mentions"):
        list(read(tmp_path / "a.mentions", "mentions"))
