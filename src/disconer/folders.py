"""Where this user's files belong, as the system has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "DISCONER_CACHE"


def cache_folder() -> Path:
    """Where things are kept that can be made anew: $DISCONER_CACHE, or disconer's part of the user's cache."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "disconer" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "disconer"
