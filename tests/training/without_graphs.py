"""The command `disconer`, for processes whose models need no graphs: to trace them takes longer than to train a toy."""

from contextlib import nullcontext

from disconer.cli import main
from disconer.store.checkpoint import Model
from disconer.store.graphs import NoGraphs
from disconer.training import training_run


class NoGraphsAhead:
    """See `GraphsAhead`."""

    def of(self, model: Model) -> NoGraphs:
        return NoGraphs("this test needs none")


if __name__ == "__main__":
    training_run.graphs_ahead = lambda folder, now: nullcontext(NoGraphsAhead())
    main()
