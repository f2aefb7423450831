"""The state of a run on disk, used to resume it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import torch


class Stateful(Protocol):
    """The stateful parts of a run: optimizer, schedule, gradient scaler."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def save_state(state: dict[str, Any], path: Path) -> None:
    """Like `replace_file`, without a copy in memory."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as stream:
        torch.save(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
