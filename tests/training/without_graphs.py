"""The command `disconer`, for processes whose models need no graphs: to trace them takes longer than to train a toy."""

from disconer.cli import main
from disconer.store.graphs import NoGraphs
from disconer.training import graphs

if __name__ == "__main__":
    graphs.make_graphs = lambda model: NoGraphs("this test needs none")
    main()
