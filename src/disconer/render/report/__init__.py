"""The evaluation report: a self-contained HTML page with metrics, plots, and every wrong sentence drawn."""

from disconer.render.report.figures import learning_curve
from disconer.render.report.page import Report

__all__ = ["Report", "learning_curve"]
