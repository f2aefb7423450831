"""From text to sentences and tokens, and between characters and tokens.

May import `core`. No torch.
"""

from disconer.text.sentences import (
    SPLITTERS,
    TOKENIZERS,
    Splitter,
    SplitterName,
    Tokenizer,
    segment,
    segmenter,
    splitter_named,
)

__all__ = ["SPLITTERS", "TOKENIZERS", "Splitter", "SplitterName", "Tokenizer", "segment", "segmenter", "splitter_named"]
