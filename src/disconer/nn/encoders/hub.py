"""The Hugging Face libraries, kept quiet and quick."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 10  # seconds to wait for the Hub's first answer


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no warnings of transformers within the block; its settings are put back after it."""
    from transformers.utils import logging as theirs

    verbosity, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        theirs.set_verbosity(verbosity)
        if bars:
            theirs.enable_progress_bar()  # type: ignore[no-untyped-call]


def why_not_on_hub(name: str) -> str | None:
    """Why the Hub cannot give a model of this name, or None if it can.

    Asked once and before any download: the download itself would try again and again for half a minute.
    """
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=PATIENCE)
    except Exception as error:  # whatever the HTTP library of the day raises: no answer is no answer
        return first_line(error)
    return None


def first_line(error: Exception) -> str:
    """What an error of another library says, short enough for a message of ours."""
    said = (str(error) or type(error).__name__).strip().split("\n")[0]
    return said.rstrip(".")
