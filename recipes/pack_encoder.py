"""Store an encoder compactly, as those that come with disconer are.

    python recipes/pack_encoder.py ENCODER OUT

ENCODER is a folder that `disconer adapt` wrote, or any encoder's name. Of OUT the folder's name is what configurations
call it, if it lies in src/disconer/bundled/encoders. The layer that guesses masked pieces is left out: no model
needs it.
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
