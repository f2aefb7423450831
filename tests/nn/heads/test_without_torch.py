"""`check` and `init` need what heads know of a corpus, and no torch."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "accelerate", "onnx", "onnxscript")))
from disconer.config.section import HEADS
from disconer.core.types import Entity
from disconer.text.alignment import TokenEntity
gold = Entity("ADR", ((0, 1),))
entities = [TokenEntity("ADR", ((0, 1), (3, 4)), gold), TokenEntity("ADR", ((1, 2),), gold)]
for name in HEADS.names():
    kind = HEADS.get(name)
    print(name, len(kind.reach(entities, 4, kind.settings()).found))
"""


def test_the_oracle_of_every_head() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stderr == ""
    found = dict(line.split() for line in done.stdout.splitlines())
    assert found == {
        **dict.fromkeys(("grid", "hypergraph", "span", "tagger", "transition", "combined"), "2"),
        "sequence": "1",  # no discontinuous ones
    }
