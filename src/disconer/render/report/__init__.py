"""Self-contained HTML pages: of an evaluation, with plots and every wrong sentence; of an agreement of annotators."""

from disconer.render.report.agreement import AgreementReport
from disconer.render.report.figures import learning_curve
from disconer.render.report.page import Report

__all__ = ["AgreementReport", "Report", "learning_curve"]
