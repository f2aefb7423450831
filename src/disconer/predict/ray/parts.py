"""The output: a folder of parts anywhere that fsspec reaches, how documents are stored in them, and manifests.

A part is complete when it has its manifest. Other programs that read the folder see only the parts: disconer,
Spark, Ray and Arrow skip names that start with a dot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from posixpath import basename
from typing import Any, BinaryIO, Protocol

from disconer.core.errors import DisconerError, Where
from disconer.core.files import full_disk_reported
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import replace_halves
from disconer.formats.native import to_line
from disconer.formats.parquet import COMPRESSION, schema, to_table
from disconer.formats.remote import file_system, reaching
from disconer.predict.local.manifest import Identity, difference


@dataclass(frozen=True, slots=True)
class Encoded:
    """Encoded documents of a block, and the ids under which they are stored; without one, a document is not written."""

    content: bytes
    ids: Sequence[str | None]


class Encoding(Protocol):
    """A format whose documents can be encoded separately and joined later."""

    @property
    def suffix(self) -> str: ...

    def stored(self, id: str) -> str:
        """What is left of an id: two may become alike, which are told apart later."""

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes: ...

    def write(self, blocks: Iterable[Encoded], stream: BinaryIO) -> None: ...


class Jsonl:
    """Native JSONL: lines."""

    suffix = ".jsonl"

    def stored(self, id: str) -> str:
        return id

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes:
        return b"".join(map(to_line, documents))

    def write(self, blocks: Iterable[Encoded], stream: BinaryIO) -> None:
        for block in blocks:
            if None not in block.ids:
                stream.write(block.content)
                continue
            lines = block.content.split(b"\n")[:-1]
            stream.writelines(line + b"\n" for line, id in zip(lines, block.ids, strict=True) if id is not None)


class Parquet:
    """Parquet: Arrow tables in transit; in a part, one row group per block."""

    suffix = ".parquet"

    def stored(self, id: str) -> str:
        return replace_halves(id)

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes:
        import pyarrow as pa

        table = to_table(documents, ledger, alike=True)
        with pa.BufferOutputStream() as sink:
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            return bytes(sink.getvalue())

    def write(self, blocks: Iterable[Encoded], stream: BinaryIO) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        with ParquetWriter(stream, schema(), compression=COMPRESSION) as writer:
            for block in blocks:
                table = pa.ipc.open_stream(block.content).read_all()
                ids = pa.array(block.ids, pa.string())
                table = table.set_column(table.schema.get_field_index("id"), "id", ids)
                writer.write_table(table.filter(ids.is_valid()))


ENCODINGS: dict[str, Encoding] = {"jsonl": Jsonl(), "parquet": Parquet()}


FORMAT_VERSION = 2
HIDDEN = ".disconer"
COMPLETE = "complete.json"
_FILE = re.compile(r"part-\d{6}\.(?:jsonl|parquet)")
_MANIFEST = re.compile(r"part-(\d{6})\.json")


@dataclass(frozen=True, slots=True)
class Finished:
    """A complete part.

    number: counted from 0. size: of its file, in bytes.
    ids: of its documents, each with the one under which it is stored.
    content: a digest of its input; see `PartsWalk`.
    """

    number: int
    size: int
    ids: Mapping[str, str]
    content: str


class Parts:
    """The parts of one prediction. `open` it first.

    is_complete: whether nothing is left to do.
    """

    def __init__(self, url: str, to: str, identity: Identity) -> None:
        self.url = url.rstrip("/")
        self._encoding = ENCODINGS[to]
        self._identity = asdict(identity) | {"format": FORMAT_VERSION, "to": to}
        self._fs, root = file_system(self.url)
        self._root = root.rstrip("/")
        self.is_complete = False

    def open(self, *, force: bool = False) -> list[Finished]:
        """Prepare the folder, and return the completed parts. With `force`, there are none."""
        with reaching(self.url):
            self._fs.invalidate_cache()
            self._refuse_others()
            finished = [] if force else [self._load(path) for path in self._manifests()]
            self.is_complete = bool(finished) and self._is_whole(len(finished))
            self._remove_unfinished({one.number for one in finished})
            self._fs.makedirs(f"{self._root}/{HIDDEN}", exist_ok=True)
        return finished

    def write(
        self, number: int, blocks: Iterable[Encoded], ids: Mapping[str, str], contents: Mapping[int, str]
    ) -> None:
        """Write a part.

        ids: of its documents, as in `Finished`. contents: digests of the input of parts, by their numbers. Both may
        grow while `blocks` are taken.
        """
        name = f"part-{number:06}"
        file = f"{self._root}/{name}{self._encoding.suffix}"
        with self._new_file(file) as stream:
            self._encoding.write(blocks, stream)
        with reaching(self.url):
            size = self._fs.size(file)
        stored = {id: other for id, other in ids.items() if id != other}
        part = {"size": size, "documents": len(ids), "ids": list(ids), "stored": stored, "content": contents[number]}
        self._save(f"{name}.json", {"identity": self._identity, "part": part})

    def complete(self, n_parts: int, n_documents: int) -> None:
        """Write a marker that nothing is missing."""
        self._save(COMPLETE, {"identity": self._identity, "parts": n_parts, "documents": n_documents})

    def _is_whole(self, n_finished: int) -> bool:
        sign = f"{self._root}/{HIDDEN}/{COMPLETE}"
        return bool(self._fs.exists(sign) and json.loads(self._fs.cat_file(sign))["parts"] == n_finished)

    def _manifests(self) -> list[str]:
        found = map(str, self._fs.find(f"{self._root}/{HIDDEN}"))
        return sorted(path for path in found if _MANIFEST.fullmatch(basename(path)))

    def _load(self, path: str) -> Finished:
        number = int(basename(path)[len("part-") :].removesuffix(".json"))
        manifest = json.loads(self._fs.cat_file(path))
        if manifest["identity"] != self._identity:
            raise DisconerError(
                "This folder already holds parts of another input, model or settings",
                where=Where(self.url),
                got=difference(_flat(manifest["identity"]), _flat(self._identity)),
                fix="Choose another folder for --out, or add --force to start again.",
            )
        file = f"{self._root}/part-{number:06}{self._encoding.suffix}"
        if not self._fs.exists(file) or self._fs.size(file) != manifest["part"]["size"]:
            raise DisconerError(
                "This part was changed or removed",
                where=Where(f"{self.url}/{basename(file)}"),
                expected=f"a file of {manifest['part']['size']} bytes",
                fix=f"Copy it again, or remove {self.url}/{HIDDEN}/{basename(path)} to predict it again.",
            )
        part = manifest["part"]
        ids = {id: part["stored"].get(id, id) for id in part["ids"]}
        return Finished(number, part["size"], ids, part["content"])

    def _names(self) -> list[str]:
        """All files of the folder, relative to it."""
        return [str(path).removeprefix(self._root).strip("/") for path in self._fs.find(self._root)]

    def _refuse_others(self) -> None:
        """Readers of the folder read all of it, so it must hold nothing else; other files are never overwritten."""
        if self._fs.isfile(self._root):
            raise DisconerError("The output folder is an existing file", where=Where(self.url))
        names = self._names()
        is_ours = any(name.startswith(f"{HIDDEN}/") for name in names)
        for name in names:
            if "/." not in f"/{name}" and not (is_ours and _FILE.fullmatch(name)):
                raise DisconerError(
                    "This folder holds other files, which would be read as parts",
                    where=Where(self.url),
                    got=name,
                    fix="Choose another folder for --out.",
                )

    def _remove_unfinished(self, finished: set[int]) -> None:
        kept = {f"part-{number:06}{suffix}" for number in finished for suffix in (self._encoding.suffix, ".json")}
        if self.is_complete:
            kept.add(COMPLETE)
        for name in self._names():
            is_ours = name.startswith(f"{HIDDEN}/") or _FILE.fullmatch(name)
            if is_ours and basename(name) not in kept:
                self._fs.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _new_file(self, path: str) -> Iterator[BinaryIO]:
        """A file that gets its name only if the block succeeds."""
        unfinished = f"{self._root}/{HIDDEN}/{basename(path)}.unfinished"
        with reaching(self.url):
            stream = self._fs.open(unfinished, "wb")
        try:
            with full_disk_reported(f"{self.url}/{basename(path)}"), stream:
                yield stream
        except BaseException:
            self._fs.rm_file(unfinished)
            raise
        with reaching(self.url):
            self._fs.mv(unfinished, path)

    def _save(self, name: str, content: dict[str, Any]) -> None:
        with self._new_file(f"{self._root}/{HIDDEN}/{name}") as stream:
            stream.write(json.dumps(content).encode())


def _flat(identity: dict[str, Any]) -> dict[str, Any]:
    return {**identity, **identity["settings"], "settings": None}
