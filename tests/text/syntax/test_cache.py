from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from disconer.core.errors import DisconerWarning
from disconer.text.syntax.cache import ParseCache, parses_folder
from disconer.text.syntax.parser import Identity, Tree, Unparsed
from text.syntax.fakes import plain_words

IDENTITY = Identity("spacy", "/models/en_core_web_sm", "3.8.0", "content")
FEVER, PAIN = plain_words("No", "fever"), plain_words("Pain")
ANSWERS = {FEVER: Tree((1, -1), ("det", "root")), PAIN: Unparsed("too short")}


@pytest.fixture
def cache(tmp_path: Path) -> ParseCache:
    return ParseCache(tmp_path, IDENTITY)


def test_what_was_put_is_got_by_another_run(cache: ParseCache, tmp_path: Path) -> None:
    assert cache.get(ANSWERS) == {}
    cache.put(ANSWERS)
    again = ParseCache(tmp_path, IDENTITY)
    assert again.get(ANSWERS) == ANSWERS
    assert again.get([plain_words("No", "pain")]) == {}


def test_other_spaces_other_versions_other_contents_are_others(cache: ParseCache, tmp_path: Path) -> None:
    cache.put(ANSWERS)
    touching = type(FEVER)(FEVER.texts, (False, False))
    assert cache.get([touching]) == {}
    for changed in (IDENTITY._replace(version="3.9.0"), IDENTITY._replace(content="trained anew")):
        assert ParseCache(tmp_path, changed).get(ANSWERS) == {}


def test_the_file_says_whose_it_is_and_holds_no_text(cache: ParseCache) -> None:
    cache.put({plain_words("Mr", "Smith", "coughs"): Tree((1, 2, -1), ("compound", "nsubj", "root"))})
    assert cache.path.name.startswith("spacy-en_core_web_sm-3-8-0-")
    assert b"Smith" not in cache.path.read_bytes()


def test_many_at_once(cache: ParseCache) -> None:
    answers = {plain_words(f"w{number}"): Tree((-1,), ("root",)) for number in range(2_000)}
    cache.put(answers)
    assert cache.get(answers) == answers


def damage_an_entry(cache: ParseCache, how: str) -> None:
    with sqlite3.connect(cache.path) as database:
        database.execute(f"UPDATE parses SET answer = {how}")
    database.close()


@pytest.mark.parametrize("how", ["substr(answer, 1, 12)", "'text'", "x''", "answer || x'00'"])
def test_a_damaged_entry_is_not_there(cache: ParseCache, how: str) -> None:
    cache.put(ANSWERS)
    damage_an_entry(cache, how)
    assert cache.get(ANSWERS) == {}
    cache.put(ANSWERS)
    assert cache.get(ANSWERS) == ANSWERS


def test_an_answer_about_another_number_of_words_is_not_taken(cache: ParseCache) -> None:
    cache.put({PAIN: ANSWERS[FEVER]})
    assert cache.get([PAIN]) == {}


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be looked at" * 9, b"SQLite format 3\0"]
)
def test_a_damaged_file_is_begun_again(cache: ParseCache, content: bytes) -> None:
    cache.path.write_bytes(content)
    assert cache.get(ANSWERS) == {}
    cache.put(ANSWERS)
    assert cache.get(ANSWERS) == ANSWERS


def test_a_file_cut_off_in_the_middle_is_begun_again(cache: ParseCache) -> None:
    cache.put({plain_words(f"w{number}"): Tree((-1,), ("root",)) for number in range(2_000)})
    cache.path.write_bytes(cache.path.read_bytes()[:20_000])
    cache.get([plain_words("w7")])
    cache.put(ANSWERS)
    cache.put(ANSWERS)
    assert cache.get(ANSWERS) == ANSWERS


def test_a_folder_that_cannot_be_is_said_once_and_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ParseCache(tmp_path / "file" / "parses", IDENTITY)
    with pytest.warns(DisconerWarning, match="DISCONER_PARSE_CACHE") as caught:
        cache.put(ANSWERS)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.put(ANSWERS)
        assert cache.get(ANSWERS) == {}


WRITER = """
import sys
from pathlib import Path
from disconer.text.syntax.parser import Identity
from disconer.text.syntax.cache import ParseCache
from disconer.text.syntax.parser import Tree
from disconer.text.syntax.parser import Words
cache = ParseCache(Path(sys.argv[1]), Identity("fake", "parser", "1"))
for number in range(100):
    cache.put({Words((f"{sys.argv[2]}{number}",), (False,)): Tree((-1,), ("root",))})
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    cache = ParseCache(tmp_path, Identity("fake", "parser", "1"))
    assert len(cache.get(plain_words(f"{name}{number}") for name in "abc" for number in range(100))) == 300


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISCONER_CACHE", raising=False)
    monkeypatch.delenv("DISCONER_PARSE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform != "win32":
        assert parses_folder() == tmp_path / "disconer" / "parses"
    monkeypatch.setenv("DISCONER_PARSE_CACHE", str(tmp_path / "mine"))
    assert parses_folder() == tmp_path / "mine"
    monkeypatch.setenv("DISCONER_PARSE_CACHE", "off")
    assert parses_folder() is None
