"""Parts: the predictions of a shard as native JSONL, block after block; merging parts in the order of the input."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import merge
from pathlib import Path
from typing import BinaryIO

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Amount, Ledger
from disconer.core.types import Document
from disconer.formats import Format, write
from disconer.formats.native import from_record, to_line
from disconer.formats.seen_ids import SeenIds
from disconer.formats.target import new_file, refuse_existing
from disconer.predict.inputs import Reread, Share, Unit, by_block, placed_documents
from disconer.predict.settings import Annotator
from disconer.predict.walk import Walk, joined_content

_ID_AT = len('{"id":')
_scan = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Part:
    """The file of a shard's predictions.

    blocks: the shard's blocks and their numbers of documents; blocks without documents are left out.
    n_records, digest: of the whole input, as read for this shard. content: of the files that only this shard reads.
    checksum: of the file.
    """

    path: Path
    share: Share
    blocks: tuple[tuple[int, int], ...]
    n_records: int
    digest: str
    content: str
    checksum: str

    @property
    def n_documents(self) -> int:
        return sum(count for _, count in self.blocks)


def write_part(
    path: Path,
    share: Share,
    inputs: Sequence[Unit],
    annotator: Annotator,
    ledger: Ledger,
    report: Callable[[int], None] = lambda n_documents: None,
) -> Part:
    """Predict a shard into a file. `report` is called with the number of documents of each block."""
    walk, checksum = Walk(), blake2b()
    read: deque[tuple[int, int]] = deque()  # blocks, and how many documents each has
    blocks: list[tuple[int, int]] = []

    def texts() -> Iterator[list[Document]]:
        for block, own in by_block(placed_documents(inputs, ledger, share, walk)):
            documents = list(own)
            read.append((block, len(documents)))
            yield documents

    with new_file(path) as stream:
        count = 0
        for document in annotator.annotate_blocks(texts()):
            line = to_line(document)
            stream.write(line)
            checksum.update(line)
            count += 1
            if count == read[0][1]:
                blocks.append(read.popleft())
                report(count)
                count = 0
    return Part(path, share, tuple(blocks), walk.n_records, walk.digest, walk.content, checksum.hexdigest())


def is_current(part: Part, inputs: Sequence[Unit], *, skip_bad: bool) -> bool:
    """Whether a part was made from what the inputs hold now. They are read, as far as its shard does."""
    walk, share = Walk(), Reread(part.share.number, part.share.of)
    for _ in placed_documents(inputs, Ledger(skip_bad=skip_bad), share, walk):
        pass
    return (part.n_records, part.digest, part.content) == (walk.n_records, walk.digest, walk.content)


def join_parts(parts: Sequence[Part], path: Path, share: Share, ledger: Ledger) -> Part:
    """Join the parts of a shard."""
    checksum = blake2b()
    blocks: dict[int, int] = {}
    with new_file(path) as stream:
        for block, line in joined_lines(parts, ledger):
            stream.write(line)
            checksum.update(line)
            blocks[block] = blocks.get(block, 0) + 1
    content = joined_content(part.content for part in parts)
    return replace(
        parts[0], path=path, share=share, blocks=tuple(blocks.items()), content=content, checksum=checksum.hexdigest()
    )


def write_joined(parts: Sequence[Part], out: Path, target: Format, ledger: Ledger, *, force: bool = False) -> Amount:
    """Write parts in any format, in the order of the input, streaming."""
    written = Amount()
    if target.name == "jsonl":
        refuse_existing(out, force)
        with new_file(out) as stream:
            for _, line in joined_lines(parts, ledger):
                stream.write(line)
                written.add(_n_entities(line))
    else:
        write(written.counted(_documents(parts, ledger)), out, target.name, ledger, force=force)
    return written


def _n_entities(line: bytes) -> int:
    """The number in a line that `to_line` made. It escapes quotes within texts and labels, so keys are unambiguous.

    >>> _n_entities(b'{"id":"a","text":"\\\\"fragments\\\\":","entities":[{"label":"x","fragments":[[0,1]]}]}')
    1
    """
    return line.partition(b',"extras":')[0].count(b'"fragments":')


def joined_lines(parts: Sequence[Part], ledger: Ledger) -> Iterator[tuple[int, bytes]]:
    """The lines of all parts in the order of the input, each with its block. No two may have the same id."""
    seen = SeenIds()
    with ExitStack() as files:
        streams = [_lines(part, files.enter_context(open(part.path, "rb"))) for part in parts]
        for block, line in merge(*streams, key=lambda placed: placed[0]):
            id, _ = _scan(line.decode("utf-8"), _ID_AT)
            if seen.add(id):
                yield block, line
            else:
                ledger.error(
                    BadInput(
                        "duplicate-id",
                        "Two documents have the same id",
                        where=Where(document=id),
                        fix="Rename one of them, or add --skip-bad to keep the first.",
                    )
                )


def _lines(part: Part, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines of a part with their blocks; it must be what was written."""
    checksum = blake2b()
    for block, count in part.blocks:
        for _ in range(count):
            line = stream.readline()
            checksum.update(line)
            if not line.endswith(b"\n"):
                raise _damaged(part)
            yield block, line
    if stream.read(1) or checksum.hexdigest() != part.checksum:
        raise _damaged(part)


def _damaged(part: Part) -> DisconerError:
    return DisconerError(
        "This part was changed or not copied completely",
        where=Where(str(part.path)),
        expected=f"{part.n_documents} documents with the checksum in its manifest",
        fix=f"Copy it again, or predict it again: --shard {part.share} --force.",
    )


def _documents(parts: Sequence[Part], ledger: Ledger) -> Iterator[Document]:
    for _, line in joined_lines(parts, ledger):
        yield from_record(json.loads(line), ledger=ledger, path="")
