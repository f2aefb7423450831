"""Self-contained HTML pages: of an evaluation, with plots and every wrong sentence; of an agreement of annotators.

May import what `render` may.
"""

from disconer.render.report.agreement import AgreementReport
from disconer.render.report.evaluation import Report
from disconer.render.report.figures import learning_curve

__all__ = ["AgreementReport", "Report", "learning_curve"]
