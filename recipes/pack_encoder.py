"""Store an encoder compactly, like the bundled ones.

    python recipes/pack_encoder.py ENCODER OUT

ENCODER is a folder written by `disconer adapt`, or any encoder's name. In src/disconer/bundled/encoders, the folder's
name is the encoder's name in configurations. The masked-language-model head is left out: no model needs it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from disconer.export.compact import squeeze
from disconer.nn.encoders.transformer.bundled import save_compact_encoder
from disconer.nn.encoders.transformer.pretrained import load_encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    transformer, tokenizer = load_encoder(given.encoder)
    tokenizer.save_pretrained(given.out)
    for path in given.out.glob("tokenizer*.json"):
        squeeze(path)
    save_compact_encoder(transformer, given.out)


if __name__ == "__main__":
    main()
