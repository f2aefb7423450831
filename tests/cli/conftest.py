from once import graphs_are_shared, trainings_make_no_graphs

__all__ = ["graphs_are_shared", "trainings_make_no_graphs"]
