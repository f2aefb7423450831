"""Annotated text as pictures: every entity in a lane of its own under the text, whatever its shape."""
