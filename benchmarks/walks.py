"""How far a reader walks through the source to follow a command: the files whose functions it runs, in their order.

    python benchmarks/walks.py              `predict --text` and `train`, each in a process of its own
    python benchmarks/walks.py COMMAND …    another command of disconer, such as check data.jsonl

A file counts once one of its functions is executed after the command line is parsed. What runs only while a module is
imported (its body, its classes, a name that is put on a list) is not part of the walk, nor is what Python generates
(the `__init__` of a dataclass). A change of folder is a file in another folder than the new file before it.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from itertools import islice, pairwise
from pathlib import Path
from types import FrameType

import disconer

ROOT = str(Path(disconer.__file__).parent) + os.sep
TEXT = "History of severe renal or hepatic impairment."
N_DOCUMENTS = 12
CONFIG = """
data: {{train: {data}, dev: {data}}}
training: {{epochs: 1, steps_at_least: 0}}
"""


class Walk:
    """The files whose functions are executed while it is entered, in the order in which that happens first."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}

    def __enter__(self) -> Walk:
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    @property
    def changes(self) -> int:
        """How often the next file is in another folder."""
        return sum(one != other for one, other in pairwise(map(os.path.dirname, self.files)))

    def _hear(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT):
            return
        name = code.co_filename.removeprefix(ROOT)
        if name not in self.files and code.co_flags & CO_OPTIMIZED and not _is_imported(frame):
            self.files[name] = None


def _is_imported(frame: FrameType | None) -> bool:
    """Whether a call comes from the body of a module of ours, and so from an import."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(ROOT):
            return True
        frame = frame.f_back
    return False


def follow(arguments: list[str]) -> Walk:
    """The walk of a command."""
    from disconer.cli import main

    sys.argv = ["disconer", *arguments]
    walk = Walk()
    try:
        with walk:
            main()
    except SystemExit as end:
        if end.code:
            raise
    return walk


def show(arguments: list[str]) -> None:
    walk = follow(arguments)
    print(f"\ndisconer {' '.join(arguments)}")
    for number, name in enumerate(walk.files, 1):
        print(f"{number:4}  {name}")
    print(f"{len(walk.files)} files, {walk.changes} changes of folder", flush=True)


def show_usual() -> None:
    """`predict --text` and `train` on a dozen documents of the demo."""
    this = [sys.executable, __file__]
    subprocess.run([*this, "predict", "--text", TEXT], check=True)
    with tempfile.TemporaryDirectory() as folder:
        data, config = Path(folder, "demo.jsonl"), Path(folder, "config.yaml")
        with gzip.open(Path(ROOT, "demo", "criteria", "train.jsonl.gz"), "rt", encoding="utf-8") as documents:
            data.write_text("".join(islice(documents, N_DOCUMENTS)), encoding="utf-8")
        config.write_text(CONFIG.format(data=data), encoding="utf-8")
        subprocess.run([*this, "train", str(config), "--out", str(Path(folder, "run"))], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        show(sys.argv[1:])
    else:
        show_usual()
