"""A cache of parses on disk, by the words of a sentence and the parser.

One SQLite file per parser. It holds digests of sentences and trees, never any text. Several processes may use it at
once. It is optional: damaged entries are ignored, and where it cannot be written, parsing continues without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from disconer.core.errors import DisconerWarning
from disconer.core.places import cache_folder
from disconer.text.syntax.parser import Identity, Tree, Unparsed, Words, problem_in

T = TypeVar("T")

CACHE_VARIABLE = "DISCONER_PARSE_CACHE"  # a folder, or "off"
OFF = "off"
LAYOUT = 1  # increased when the content or the keys of the cache change
PATIENCE = 30.0  # seconds to wait for another process that writes
KEYS_A_QUERY = 500
KEY_SIZE, CHECK_SIZE = 16, 8  # bytes of digests

_TABLE = "CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"


def parses_folder() -> Path | None:
    """The folder of the cache: $DISCONER_PARSE_CACHE, or in the user's cache folder; None if it is disabled."""
    named = os.environ.get(CACHE_VARIABLE)
    if named == OFF:
        return None
    return Path(named) if named else cache_folder() / "parses"


class ParseCache:
    """The cached parses of one parser."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._whose = hashlib.blake2b(json.dumps([LAYOUT, *identity]).encode(), digest_size=KEY_SIZE)
        readable = re.sub(r"\W+", "-", f"{identity.kind} {Path(identity.name).name} {identity.version}").strip("-")
        self.path = folder / f"{readable}-{self._whose.hexdigest()[:12]}.sqlite3"
        self._usable = True

    def get(self, sentences: Iterable[Words]) -> dict[Words, Tree | Unparsed]:
        """The cached answers for sentences; missing and damaged ones are left out."""
        by_key = {self._key(words): words for words in sentences}
        found: dict[Words, Tree | Unparsed] = {}
        for key, data in self._do(lambda database: list(_rows(database, list(by_key)))) or ():
            words = by_key[key]
            answer = _unpack(data, len(words))
            if answer is not None:
                found[words] = answer
        return found

    def put(self, answers: Mapping[Words, Tree | Unparsed]) -> None:
        """Store answers, replacing those of the same sentences."""
        rows = [(self._key(words), _pack(answer)) for words, answer in answers.items()]
        if rows:
            self._do(lambda database: database.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?)", rows))

    def _key(self, words: Words) -> bytes:
        digest = self._whose.copy()
        digest.update(json.dumps([words.texts, words.spaces]).encode())
        return digest.digest()

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run an action on the database, in one transaction; None if that fails.

        The database is opened each time: an open connection would not survive a fork.
        """
        if not self._usable:
            return None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as database:
                database.text_factory = bytes
                database.execute("PRAGMA synchronous = OFF")  # a crash of the machine may cost the cache
                database.execute(_TABLE)
                with database:
                    return action(database)
        except (sqlite3.OperationalError, OSError) as error:
            self._usable = False
            warnings.warn(
                f"Parses are not cached, as {self.path} cannot be used: {error}. "
                f"${CACHE_VARIABLE} names another folder, or is 'off'.",
                DisconerWarning,
                stacklevel=3,
            )
        except sqlite3.DatabaseError:  # no longer a database: start again
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        return None


def _rows(database: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, object]]:
    for first in range(0, len(keys), KEYS_A_QUERY):
        some = keys[first : first + KEYS_A_QUERY]
        yield from database.execute(f"SELECT key, answer FROM parses WHERE key IN ({','.join('?' * len(some))})", some)


def _pack(answer: Tree | Unparsed) -> bytes:
    content = json.dumps(answer if isinstance(answer, Tree) else answer.reason, separators=(",", ":")).encode()
    return _check(content) + content


def _unpack(data: object, n_words: int) -> Tree | Unparsed | None:
    """The answer, or None if it is damaged or not about `n_words` words."""
    if not isinstance(data, bytes) or data[:CHECK_SIZE] != _check(data[CHECK_SIZE:]):
        return None
    content = json.loads(data[CHECK_SIZE:])
    if isinstance(content, str):
        return Unparsed(content)
    heads, relations, realigned = content
    if problem_in(heads, n_words) or len(relations) != n_words:
        return None
    return Tree(tuple(heads), tuple(map(sys.intern, relations)), realigned)


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK_SIZE).digest()
