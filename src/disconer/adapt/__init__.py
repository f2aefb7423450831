"""Adaptation: an encoder goes on learning its language from somebody's own text, without annotations.

May import `runs`, `store`, `nn` and all below, not `training`. Its settings and results need no torch.
"""

from typing import TYPE_CHECKING, Any

from disconer.adapt.settings import AdaptResult, AdaptSettings

if TYPE_CHECKING:
    from disconer.adapt.adaptation import adapt

__all__ = ["AdaptResult", "AdaptSettings", "adapt"]


def __getattr__(name: str) -> Any:
    """`adapt` brings torch, so it is loaded when somebody asks for it."""
    if name == "adapt":
        from disconer.adapt.adaptation import adapt

        return adapt
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
