"""The version of disconer."""

__version__ = "0.1.0"
