"""How documents are stored in a part. Actors encode them, the writer only puts them together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.native import to_line
from disconer.formats.parquet import COMPRESSION, schema, to_table


@dataclass(frozen=True, slots=True)
class Encoded:
    """Encoded documents of a block; those at the positions `dropped` are not to be written."""

    content: bytes
    dropped: Collection[int] = ()


class Encoding(Protocol):
    """A format whose documents can be encoded apart and put together later."""

    @property
    def suffix(self) -> str: ...

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes: ...

    def write(self, blocks: Iterable[Encoded], stream: BinaryIO) -> None: ...


class Jsonl:
    """Native JSONL: lines, one after another."""

    suffix = ".jsonl"

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes:
        return b"".join(map(to_line, documents))

    def write(self, blocks: Iterable[Encoded], stream: BinaryIO) -> None:
        for block in blocks:
            if not block.dropped:
                stream.write(block.content)
                continue
            lines = block.content.split(b"\n")[:-1]
            stream.writelines(line + b"\n" for at, line in enumerate(lines) if at not in block.dropped)


class Parquet:
    """Parquet: on the way tables of Arrow, in a part a group of rows for each block."""

    suffix = ".parquet"

    def encode(self, documents: Sequence[Document], ledger: Ledger) -> bytes:
        import pyarrow as pa

        table = to_table(documents, ledger)
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
                if block.dropped:
                    table = table.filter(pa.array([at not in block.dropped for at in range(table.num_rows)]))
                writer.write_table(table)


ENCODINGS: dict[str, Encoding] = {"jsonl": Jsonl(), "parquet": Parquet()}
