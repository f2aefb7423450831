"""Adaptation: an encoder goes on learning its language from somebody's own text, without annotations."""

from disconer.adapt.result import AdaptResult
from disconer.adapt.run import adapt
from disconer.adapt.settings import AdaptSettings

__all__ = ["AdaptResult", "AdaptSettings", "adapt"]
