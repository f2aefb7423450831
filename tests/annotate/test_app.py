"""The page's server over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate.running import KNEES, annotating, folder_of, word_finder
from disconer import DisconerError
from disconer.annotate.documents import BratFolder
from disconer.annotate.project import Project, Settings
from disconer.cli.agree import agree
from serve.fakes import Running

STIFF = {"id": "T1", "label": "ADR", "fragments": [[9, 18]]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"a.txt": KNEES, "b.txt": "No fever, no pain.", "c.txt": "Well."}
    return folder_of(tmp_path / "notes", texts | {"c.ann": "T1"})


@pytest.fixture
def server(folder: Path) -> Iterator[Running]:
    with annotating(folder, labels="ADR", model="words") as started:
        yield started


def get(server: Running, path: str) -> Any:
    status, _, answer = server.ask("GET", path)
    assert status == 200, answer
    return answer


def change(server: Running, version: str, **values: Any) -> tuple[int, Any]:
    status, _, answer = server.ask("POST", "/v1/change", {"id": "a", "version": version, **values})
    return status, answer


def test_a_change_is_saved_or_a_conflict(server: Running, folder: Path) -> None:
    version = get(server, "/v1/document?id=a")["version"]
    status, answer = change(server, version, add=[STIFF])
    assert (status, answer["entities"]) == (200, [STIFF | {"note": ""}])
    status, answer = change(server, version, add=[STIFF | {"id": "T2", "fragments": [[0, 4]]}])
    assert (status, answer["error"]) == (409, "conflict")
    assert answer["document"]["text"] == KNEES
    assert (folder / "a.ann").read_text() == "T1\tADR 9 18\tstiffness\n"


def test_what_makes_no_sense_is_refused_and_nothing_is_written(server: Running, folder: Path) -> None:
    version = get(server, "/v1/document?id=a")["version"]
    for wrong in ({"fragments": [[0, 99]]}, {"fragments": [[4, 5]]}, {"fragments": []}, {"label": ""}):
        status, answer = change(server, version, add=[STIFF | wrong])
        assert status == 422, answer
    assert server.ask("POST", "/v1/undo", {"id": "a", "version": version})[0] == 422
    assert server.ask("GET", "/v1/document?id=../a")[0] == 422
    assert not (folder / "a.ann").exists()


def test_a_document_that_cannot_be_read_is_listed_and_said(server: Running, folder: Path) -> None:
    status, _, answer = server.ask("GET", "/v1/document?id=c")
    assert status == 422
    assert "This T line cannot be read" in answer["message"]
    (folder / "c.txt").write_bytes(b"caf\xe9")
    status, _, answer = server.ask("GET", "/v1/document?id=c")
    assert (status, answer["message"].count("iconv")) == (422, 1)
    assert "--skip-bad" not in answer["message"]
    assert [id for id, _, _ in get(server, "/v1/documents")["documents"]] == ["a", "b", "c"]


def test_suggestions_have_the_labels_that_were_asked_for(folder: Path) -> None:
    with annotating(folder, labels="Condition", model="words") as server:
        found = get(server, "/v1/suggestions?id=b")["suggestions"]
        assert [(one["label"], one["fragments"], one["score"]) for one in found] == [
            ("Condition", [[3, 8]], 0.6),
            ("Condition", [[13, 17]], 0.6),
        ]
    with annotating(folder, labels="Drug", model="words") as server:
        assert get(server, "/v1/suggestions?id=b")["suggestions"] == []


def test_a_path_that_is_none_names_no_documentation(server: Running) -> None:
    status, _, answer = server.ask("GET", "/docs")
    assert (status, answer["message"]) == (404, "There is nothing at this path.")


def test_labels_that_the_model_does_not_have_are_known(folder: Path) -> None:
    def project(**settings: Any) -> Project:
        return Project(Settings(path=folder, annotators=["anna"], **settings), word_finder)

    assert project(labels="Condition,Dose,ADR", model="words").never_suggested == ["ADR", "Dose"]
    assert project(model="words").never_suggested == []
    assert project(labels="Dose").never_suggested == []


def test_versions_of_others_are_suggestions_with_their_names(folder: Path, tmp_path: Path) -> None:
    both = {"a.txt": KNEES, "a.ann": "T1\tADR 0 4\tPain\n"}
    anna, ben = folder_of(tmp_path / "anna", both), folder_of(tmp_path / "ben", both)
    (ben / "a.ann").write_text("T1\tADR 0 4\tPain\nT2\tDrug 37 44\taspirin\n")
    with annotating(folder, compare={"anna": anna, "ben": ben}) as server:
        found = get(server, "/v1/suggestions?id=a")["suggestions"]
        assert [(one["label"], one["by"]) for one in found] == [("ADR", ["anna", "ben"]), ("Drug", ["ben"])]


def test_what_an_adjudication_left_in_dispute_is_suggested(tmp_path: Path) -> None:
    both = {"sub/a.txt": KNEES, "sub/a.ann": "T1\tADR 0 4\tPain\n"}
    anna, ben = folder_of(tmp_path / "anna", both), folder_of(tmp_path / "ben", both)
    (ben / "sub" / "a.ann").write_text("T1\tADR 0 4\tPain\nT2\tDrug 37 44\taspirin\n")
    agree({"anna": anna, "ben": ben}, adjudicate=tmp_path / "out")
    with annotating(tmp_path / "out") as server:
        found = get(server, "/v1/suggestions?id=sub/a")["suggestions"]
        assert [(one["label"], one["by"]) for one in found] == [("Drug", ["ben"])]
        assert len(get(server, "/v1/document?id=sub/a")["entities"]) == 1


def test_disputes_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(KNEES)
    (tmp_path / "a.disputed.json").write_text('{"disputes": [{"versions": []}]}')
    with pytest.raises(DisconerError, match="The disputes here are damaged"), annotating(tmp_path):
        pass


def test_most_useful_first(tmp_path: Path) -> None:
    texts = {f"{n}.txt": "Well and good." for n in range(5)} | {"9.txt": "fever, pain, renal or hepatic impairment"}
    with annotating(folder_of(tmp_path, texts), model="words") as server:
        while (answer := get(server, "/v1/documents?order=useful"))["progress"] is not None:
            pass
        assert answer["documents"][0][0] == "9"
        assert len(answer["documents"]) == 6


@pytest.mark.parametrize("known", [True, False])
def test_a_document_that_cannot_be_read_is_the_least_useful(
    tmp_path: Path, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.txt": "Well.", "a.ann": "T1\tADR 0 400\tWell\n", "b.txt": "Fine.", "c.txt": "fever, renal impairment"}
    if not known:  # it was damaged after it was counted
        monkeypatch.setattr(BratFolder, "n_entities", lambda self, id: 0)
    with annotating(folder_of(tmp_path, files), model="words") as server:
        while (answer := get(server, "/v1/documents?order=useful"))["progress"] is not None:
            pass
        assert [row[0] for row in answer["documents"]] == ["c", "b", "a"]
        assert answer["documents"][-1][1] == (None if known else 0)


def test_pages_of_other_sites_are_refused(server: Running, folder: Path) -> None:
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        status, _, answer = server.ask("POST", "/v1/done", {"id": "b", "done": True}, headers)
        assert (status, answer["error"]) == (403, "forbidden")
    assert not (folder / "b.ann").exists()
    own = {"origin": f"http://localhost:{server.port}", "host": f"localhost:{server.port}"}
    assert server.ask("POST", "/v1/done", {"id": "b", "done": True}, own)[0] == 200


def test_the_page_may_load_nothing_from_elsewhere(server: Running) -> None:
    status, headers, page = server.ask("GET", "/")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert b"http://" not in page
    assert b"https://" not in page


def test_a_token_is_needed_where_one_is_set(folder: Path) -> None:
    with annotating(folder, token="sesame") as server:
        assert server.ask("GET", "/v1/project")[0] == 401
        assert server.ask("GET", "/v1/project", headers={"authorization": "Bearer sesame"})[0] == 200


def test_an_annotator_who_is_not_one(server: Running) -> None:
    status, _, answer = server.ask("GET", "/v1/documents", headers={"x-annotator": "zoe"})
    assert (status, "There is no annotator 'zoe'" in answer["message"]) == (422, True)
