"""An agreement of annotators as tables of strings, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from disconer.core.counting import counted
from disconer.core.types import Kind
from disconer.evaluate.annotators.agreement import ALL, Agreement, Matches, PairAgreement, Tally
from disconer.evaluate.annotators.disputes import Disagreement
from disconer.evaluate.bootstrap import Estimate
from disconer.evaluate.measures import LEVEL
from disconer.evaluate.table import NONE, Row, Table, percent, shown_interval

F1 = ("F1 exact", "interval", "F1 overlap", "interval")
_MATCHING = (
    "Exact: the same label and fragments. Overlap: the same label and a shared word. κ and α: over words, a word's "
    f"category is the set of its labels. Intervals: {100 * LEVEL:.0f} %, bootstrap over documents."
)


def tables(agreement: Agreement) -> Iterator[Table]:
    """Pairs of annotators, kinds and labels, disagreements; with more than two annotators, of all pairs together."""
    together = agreement.together()
    yield _annotators(agreement)
    yield _pairs(agreement)
    only = next(iter(agreement.pairs.values())) if len(agreement.pairs) == 1 else None
    yield _groups("By kind", together, list(Kind), lambda matches: matches.kinds)
    yield _groups("By label", together, sorted(together.exact.labels), lambda matches: matches.labels, only)
    yield _disagreements(agreement)


def _annotators(agreement: Agreement) -> Table:
    rows: list[Row] = [
        (name, f"{agreement.documents[name]:,}", f"{agreement.entities[name]:,}") for name in agreement.annotators
    ]
    return Table("Annotators", ("", "documents", "entities"), [rows], documents_line(agreement))


def documents_line(agreement: Agreement) -> str:
    """How many documents have been annotated by all, and by some."""
    verb = "is" if agreement.by_all == 1 else "are"
    line = f"{counted(agreement.by_all, 'documents')} {verb} annotated by all annotators"
    if not agreement.by_some:
        return f"{line}."
    alone = agreement.by_annotators[1]
    return f"{line}, {agreement.by_some:,} by only some of them, of which {alone:,} by one alone and not compared."


def _pairs(agreement: Agreement) -> Table:
    rows: list[Row] = [
        (
            " – ".join(names),
            f"{pair.documents:,}",
            *_f1(pair, ALL, lambda matches: matches.all),
            *_coefficient(pair.kappa.estimate()),
        )
        for names, pair in agreement.pairs.items()
    ]
    value, interval = _coefficient(agreement.alpha.estimate())
    return Table(
        "Agreement",
        ("", "documents", *F1, "κ", "interval"),
        [rows],
        f"Krippendorff's α of all annotators: {value}, interval {interval}. {_MATCHING}",
    )


def _groups(
    title: str,
    pair: PairAgreement,
    groups: list[Any],
    tally: Callable[[Matches], Tally[Any]],
    with_kappa: PairAgreement | None = None,
) -> Table:
    rows: list[Row] = []
    for group in groups:
        total = tally(pair.exact).total(group)
        kappa = _coefficient(with_kappa.label_kappa(str(group))) if with_kappa else ()
        counts = (f"{total.gold:,}", f"{total.predicted:,}", f"{total.found:,}")
        rows.append((str(group), *_f1(pair, group, tally), *kappa, *counts))
    kappas = ("κ", "interval") if with_kappa else ()
    return Table(title, ("", *F1, *kappas, "first", "second", "of the first, agreed"), [rows])


def _f1(pair: PairAgreement, group: Any, tally: Callable[[Matches], Tally[Any]]) -> Row:
    estimates = [tally(matches).f1(group) for matches in (pair.exact, pair.overlap)]
    return tuple(
        cell
        for one in estimates
        for cell in (NONE if one.value is None else percent(one.value), shown_interval(one.interval))
    )


def _coefficient(one: Estimate) -> Row:
    interval = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else NONE
    return NONE if one.value is None else f"{one.value:.3f}", interval


def _disagreements(agreement: Agreement) -> Table:
    names = [" – ".join(pair) for pair in agreement.pairs]
    rows: list[Row] = [
        (one.value, *(f"{pair.disagreements[one]:,}" for pair in agreement.pairs.values())) for one in Disagreement
    ]
    missed: list[Row] = [
        (f"missed by {name}", *(_of(pair, names, name) for names, pair in agreement.pairs.items()))
        for name in agreement.annotators
    ]
    return Table("Disagreements", ("", *names), [rows, missed])


def _of(pair: PairAgreement, names: tuple[str, str], name: str) -> str:
    return f"{pair.missed_by[name]:,}" if name in names else ""
