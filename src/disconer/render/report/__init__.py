"""An evaluation as one self-contained HTML page: figures, plots, and every wrong sentence drawn."""

from disconer.render.report.figures import learning_curve
from disconer.render.report.page import Report

__all__ = ["Report", "learning_curve"]
