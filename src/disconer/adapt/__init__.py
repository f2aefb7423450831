"""Adaptation: continued pretraining of an encoder on the user's own unlabelled text.

May import `runs`, `store`, `nn` and everything below them, not `training`. Settings and results need no torch.
"""

from typing import TYPE_CHECKING, Any

from disconer.adapt.settings import AdaptResult, AdaptSettings

if TYPE_CHECKING:
    from disconer.adapt.adaptation import adapt

__all__ = ["AdaptResult", "AdaptSettings", "adapt"]


def __getattr__(name: str) -> Any:
    """`adapt` imports torch, so it is loaded on first access."""
    if name == "adapt":
        from disconer.adapt.adaptation import adapt

        return adapt
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
