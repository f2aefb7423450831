"""From text to sentences and tokens, and between characters and tokens."""
