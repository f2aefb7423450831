"""From text to sentences and tokens, and between characters and tokens.

May import `core`. No torch.
"""

from disconer.text.sentences import SPLITTERS, Splitter, segment
from disconer.text.tokens import TOKENIZERS, Tokenizer

__all__ = ["SPLITTERS", "TOKENIZERS", "Splitter", "Tokenizer", "segment"]
