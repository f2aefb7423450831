"""The network: from words to scores. The only part of disconer that imports torch."""
