"""Layers that any network may use. They take plain numbers, and import nothing of disconer."""
